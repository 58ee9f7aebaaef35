package admission

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/yaml"
)

// managerConfig is the part of Kueue's Configuration (v1beta1 and v1beta2) that
// changes decisions.
type managerConfig struct {
	APIVersion   string          `json:"apiVersion"`
	FeatureGates map[string]bool `json:"featureGates"`
	FairSharing  *struct {
		Enable               *bool    `json:"enable"` // v1beta1 only
		PreemptionStrategies []string `json:"preemptionStrategies"`
	} `json:"fairSharing"`
	AdmissionFairSharing *config.AdmissionFairSharing `json:"admissionFairSharing"`
	WaitForPodsReady     *struct {
		Enable            *bool `json:"enable"` // v1beta1 only
		BlockAdmission    *bool `json:"blockAdmission"`
		RequeuingStrategy *struct {
			Timestamp config.RequeuingTimestamp `json:"timestamp"`
		} `json:"requeuingStrategy"`
	} `json:"waitForPodsReady"`
	Resources *struct {
		QuotaCheckStrategy      config.QuotaCheckStrategy       `json:"quotaCheckStrategy"`
		ExcludeResourcePrefixes []string                        `json:"excludeResourcePrefixes"`
		Transformations         []config.ResourceTransformation `json:"transformations"`
		DeviceClassMappings     []config.DeviceClassMapping     `json:"deviceClassMappings"`
	} `json:"resources"`
}

// defaultSamplingInterval is Kueue's default of admissionFairSharing.usageSamplingInterval.
const defaultSamplingInterval = 5 * time.Minute

// ConfigFrom reads Kueue's Configuration (the value of controller_manager_config.yaml in the ConfigMap
// kueue-manager-config). It ignores unknown fields. It returns an error if the text is not a configuration. Now stays
// nil.
func ConfigFrom(data []byte) (Config, error) {
	var m managerConfig
	if err := yaml.Unmarshal(data, &m); err != nil {
		return Config{}, fmt.Errorf("Kueue configuration: %w", err)
	}
	if m.APIVersion != "" && !strings.HasPrefix(m.APIVersion, "config.kueue.x-k8s.io/") {
		return Config{}, fmt.Errorf("Kueue configuration: unexpected apiVersion %s", m.APIVersion)
	}
	cfg := Config{Gates: m.FeatureGates}
	v1beta1 := strings.HasSuffix(m.APIVersion, "/v1beta1")
	if fs := m.FairSharing; fs != nil {
		// v1beta1 switches it on with a field, v1beta2 by its presence.
		cfg.FairSharing = !v1beta1
		if fs.Enable != nil {
			cfg.FairSharing = *fs.Enable
		}
		if cfg.FairSharing {
			cfg.FairSharingStrategies = fs.PreemptionStrategies
		}
	}
	gate, set := m.FeatureGates[string(features.AdmissionFairSharing)]
	if m.AdmissionFairSharing != nil && (gate || !set) {
		cfg.AdmissionFairSharing = m.AdmissionFairSharing
		cfg.AdmissionFairSharing.UsageSamplingInterval.Duration = cmp.Or(cfg.AdmissionFairSharing.UsageSamplingInterval.Duration, defaultSamplingInterval)
	}
	cfg.OrderByUse = ptr.To(cfg.AdmissionFairSharing != nil)
	if p := m.WaitForPodsReady; p != nil && (!v1beta1 || ptr.Deref(p.Enable, false)) {
		cfg.BlockAdmission = ptr.Deref(p.BlockAdmission, v1beta1) // v1beta1 blocks by default
		cfg.RequeueByCreation = p.RequeuingStrategy != nil && p.RequeuingStrategy.Timestamp == config.CreationTimestamp
	}
	if r := m.Resources; r != nil {
		cfg.IgnoreUndeclaredResources = r.QuotaCheckStrategy == config.QuotaCheckIgnoreUndeclared
		cfg.ExcludeResourcePrefixes = r.ExcludeResourcePrefixes
		cfg.Transformations = r.Transformations
		cfg.DeviceClasses = r.DeviceClassMappings
	}
	return cfg, nil
}

// SetGates adds the feature gates that the flags of Kueue's controller set to those of its configuration.
func (c *Config) SetGates(flags map[string]bool) {
	if len(flags) == 0 {
		return
	}
	gates := maps.Clone(flags)
	maps.Copy(gates, c.Gates)
	c.Gates = gates
	if on, set := gates[string(features.AdmissionFairSharing)]; set && !on && c.AdmissionFairSharing != nil {
		c.AdmissionFairSharing, c.OrderByUse = nil, ptr.To(false)
	}
}

// ReplacesNodes reports whether Kueue looks for another node for a workload when one under it fails.
func (c *Config) ReplacesNodes() bool {
	on, set := c.Gates[string(features.TASFailedNodeReplacement)]
	return on || !set
}

// QueuedAt returns the time that orders a workload among those of its priority: its creation, or the eviction that moved
// it behind the others (Kueue's Ordering.GetQueueOrderTimestamp).
func (c Config) QueuedAt(w *kueue.Workload) time.Time {
	o := c.ordering()
	return o.GetQueueOrderTimestamp(w).Time
}

func (c Config) ordering() workload.Ordering {
	if c.RequeueByCreation {
		return workload.Ordering{PodsReadyRequeuingTimestamp: config.CreationTimestamp}
	}
	return workload.Ordering{PodsReadyRequeuingTimestamp: config.EvictionTimestamp}
}
