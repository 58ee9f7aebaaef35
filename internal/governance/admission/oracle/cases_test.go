package oracle

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	intake "github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
)

// The types of package casebook.
type (
	settings struct {
		Gates          map[string]bool
		Fair           *config.FairSharing
		ByUse          *config.AdmissionFairSharing
		QuotaCheck     config.QuotaCheckStrategy
		CreationOrders bool
		Now            time.Time
	}
	caseCycle struct {
		settings
		Objects              []json.RawMessage
		After                []json.RawMessage
		Active, Inadmissible map[string][]string
		Events               struct {
			RecordedEvents []struct {
				Key             struct{ Namespace, Name string }
				Reason, Message string
			}
		}
	}
	direct struct {
		settings
		Objects  []json.RawMessage
		Incoming json.RawMessage
		Queue    string
		Flavors  []map[string]string
		Counts   []int32
		Targets  map[string]string
	}
	unitCase struct {
		Name            string
		Transformations []config.ResourceTransformation
		Excluded        []string
		PodsReady       bool
		Devices         []config.DeviceClassMapping `json:"-"`
		Use             map[string]corev1.ResourceList
		Cycles          []*caseCycle
		Direct          []*direct
	}
)

// readCases returns the cases of Kueue's tests by name.
func readCases(t *testing.T) []*unitCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(writeCases(t), "*.json"))
	must(err)
	var out []*unitCase
	for _, f := range files {
		data, err := os.ReadFile(f)
		must(err)
		c := &unitCase{}
		must(json.Unmarshal(data, c))
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *unitCase) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// manager is the ConfigMap with Kueue's configuration.
func (c *unitCase) manager(s settings) json.RawMessage {
	cfg := map[string]any{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "featureGates": s.Gates}
	if s.Fair != nil {
		cfg["fairSharing"] = s.Fair
	}
	if s.ByUse != nil {
		cfg["admissionFairSharing"] = s.ByUse
	}
	if c.PodsReady {
		cfg["waitForPodsReady"] = map[string]any{"timeout": "5m", "blockAdmission": true}
	}
	res := map[string]any{"transformations": c.Transformations, "excludeResourcePrefixes": c.Excluded}
	if len(c.Devices) > 0 {
		res["deviceClassMappings"] = c.Devices
	}
	if s.QuotaCheck != "" {
		res["quotaCheckStrategy"] = s.QuotaCheck
	}
	cfg["resources"] = res
	data, err := yaml.Marshal(cfg)
	must(err)
	return json.RawMessage(asJSON(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "kueue-manager-config", "namespace": "kueue-system"},
		"data": map[string]any{"controller_manager_config.yaml": string(data)}}))
}

// used puts into the status of a LocalQueue what it has used.
func (c *unitCase) used(s settings, o json.RawMessage) json.RawMessage {
	var lq kueue.LocalQueue
	if len(c.Use) == 0 || json.Unmarshal(o, &lq) != nil || lq.Kind != "LocalQueue" {
		return o
	}
	used, ok := c.Use[lq.Namespace+"/"+lq.Name]
	if !ok {
		return o
	}
	lq.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{ConsumedResources: used, LastUpdate: metav1.NewTime(s.Now)}}
	return json.RawMessage(asJSON(lq))
}

// written is the file of plain objects that a user would have of the cluster.
func (c *unitCase) written(t *testing.T, s settings, objects []json.RawMessage) string {
	items := []json.RawMessage{c.manager(s)}
	for _, o := range objects {
		var cq kueue.ClusterQueue
		if json.Unmarshal(o, &cq) == nil && cq.Kind == "ClusterQueue" {
			withoutLimits(&cq)
			o = json.RawMessage(asJSON(cq))
		}
		items = append(items, c.used(s, o))
	}
	path := filepath.Join(t.TempDir(), "cluster.json")
	must(os.WriteFile(path, []byte(asJSON(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})), 0o666))
	return path
}

// open reads the objects as the product reads a file.
func (c *unitCase) open(t *testing.T, s settings, objects []json.RawMessage) *intake.Inputs {
	snap, err := snapshot.Open(c.written(t, s, objects))
	must(err)
	in, err := intake.Load(context.Background(), kube.NewInProcess(snap.Handler(), "case", kube.Options{Retries: -1}), intake.Options{}, s.Now)
	must(err)
	return in
}
