package admission

import (
	"strings"
	"testing"
)

func TestConfigFrom(t *testing.T) {
	tests := []struct {
		name, in string
		check    func(Config) bool
		warnings int
		err      string
	}{
		{"empty", "", func(c Config) bool { return !c.FairSharing && c.Gates == nil }, 0, ""},
		{"v1beta2", "apiVersion: config.kueue.x-k8s.io/v1beta2\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\nfeatureGates: {PartialAdmission: false}",
			func(c Config) bool {
				return c.FairSharing && c.FairSharingStrategies[0] == "LessThanInitialShare" && !c.Gates["PartialAdmission"] && len(c.Gates) == 1
			}, 0, ""},
		{"v1beta1 on", "apiVersion: config.kueue.x-k8s.io/v1beta1\nfairSharing: {enable: true}", func(c Config) bool { return c.FairSharing }, 0, ""},
		{"v1beta1 off", "apiVersion: config.kueue.x-k8s.io/v1beta1\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}", func(c Config) bool { return !c.FairSharing && c.FairSharingStrategies == nil }, 0, ""},
		{"resources", "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a/], transformations: [{input: nvidia.com/mig, outputs: {gpu-mem: 5Gi}}]}",
			func(c Config) bool {
				return c.IgnoreUndeclaredResources && c.ExcludeResourcePrefixes[0] == "a/" && c.Transformations[0].Input == "nvidia.com/mig"
			}, 0, ""},
		{"not modelled", "admissionFairSharing: {usageHalfLifeTime: 1h}\nwaitForPodsReady: {blockAdmission: true}\nresources: {deviceClassMappings: [{name: x}]}",
			func(c Config) bool { return *c.OrderByUse && c.BlockAdmission }, 1, ""},
		{"order by use", "admissionFairSharing: {usageHalfLifeTime: 2h, resourceWeights: {cpu: 0.5}}",
			func(c Config) bool {
				s := c.AdmissionFairSharing
				return s.UsageHalfLifeTime.Hours() == 2 && s.UsageSamplingInterval.Minutes() == 5 && s.ResourceWeights["cpu"] == 0.5
			}, 0, ""},
		{"pods first, v1beta1", "apiVersion: config.kueue.x-k8s.io/v1beta1\nwaitForPodsReady: {enable: true}", func(c Config) bool { return c.BlockAdmission }, 0, ""},
		{"pods first, v1beta1, off", "apiVersion: config.kueue.x-k8s.io/v1beta1\nwaitForPodsReady: {blockAdmission: true, requeuingStrategy: {timestamp: Creation}}",
			func(c Config) bool { return !c.BlockAdmission && !c.RequeueByCreation }, 0, ""},
		{"pods first, v1beta2", "apiVersion: config.kueue.x-k8s.io/v1beta2\nwaitForPodsReady: {timeout: 5m}", func(c Config) bool { return !c.BlockAdmission }, 0, ""},
		{"no order by use", "waitForPodsReady: {}", func(c Config) bool { return !*c.OrderByUse }, 0, ""},
		{"order by use, its gate off", "admissionFairSharing: {usageHalfLifeTime: 1h}\nfeatureGates: {AdmissionFairSharing: false}", func(c Config) bool { return !*c.OrderByUse }, 0, ""},
		{"order by use, its gate on", "admissionFairSharing: {usageHalfLifeTime: 1h}\nfeatureGates: {AdmissionFairSharing: true}", func(c Config) bool { return *c.OrderByUse }, 0, ""},
		{"requeuing", "waitForPodsReady: {requeuingStrategy: {timestamp: Creation}}", func(c Config) bool { return c.RequeueByCreation }, 0, ""},
		{"requeuing by eviction", "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: 3}}", func(c Config) bool { return !c.RequeueByCreation }, 0, ""},
		{"something else", "apiVersion: v1\nkind: Pod", nil, 0, "unexpected apiVersion v1"},
		{"not YAML", "a: [", nil, 0, "Kueue configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, warnings, err := ConfigFrom([]byte(tt.in))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !tt.check(cfg) || len(warnings) != tt.warnings {
				t.Errorf("%+v, %+v, %v", cfg, warnings, err)
			}
		})
	}
}
