package admission

import (
	"strings"
	"testing"
)

func TestConfigFrom(t *testing.T) {
	tests := []struct {
		name, in string
		check    func(Config) bool
		err      string
	}{
		{"empty", "", func(c Config) bool { return !c.FairSharing && c.Gates == nil }, ""},
		{"v1beta2", "apiVersion: config.kueue.x-k8s.io/v1beta2\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\nfeatureGates: {PartialAdmission: false}",
			func(c Config) bool {
				return c.FairSharing && c.FairSharingStrategies[0] == "LessThanInitialShare" && !c.Gates["PartialAdmission"] && len(c.Gates) == 1
			}, ""},
		{"v1beta1 on", "apiVersion: config.kueue.x-k8s.io/v1beta1\nfairSharing: {enable: true}", func(c Config) bool { return c.FairSharing }, ""},
		{"v1beta1 off", "apiVersion: config.kueue.x-k8s.io/v1beta1\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}", func(c Config) bool { return !c.FairSharing && c.FairSharingStrategies == nil }, ""},
		{"resources", "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a/], transformations: [{input: nvidia.com/mig, outputs: {gpu-mem: 5Gi}}]}",
			func(c Config) bool {
				return c.IgnoreUndeclaredResources && c.ExcludeResourcePrefixes[0] == "a/" && c.Transformations[0].Input == "nvidia.com/mig"
			}, ""},
		{"several", "admissionFairSharing: {usageHalfLifeTime: 1h}\nwaitForPodsReady: {blockAdmission: true}\nresources: {deviceClassMappings: [{name: x}]}",
			func(c Config) bool { return *c.OrderByUse && c.BlockAdmission && len(c.DeviceClasses) == 1 }, ""},
		{"order by use", "admissionFairSharing: {usageHalfLifeTime: 2h, resourceWeights: {cpu: 0.5}}",
			func(c Config) bool {
				s := c.AdmissionFairSharing
				return s.UsageHalfLifeTime.Hours() == 2 && s.UsageSamplingInterval.Minutes() == 5 && s.ResourceWeights["cpu"] == 0.5
			}, ""},
		{"pods first, v1beta1", "apiVersion: config.kueue.x-k8s.io/v1beta1\nwaitForPodsReady: {enable: true}", func(c Config) bool { return c.BlockAdmission }, ""},
		{"pods first, v1beta1, off", "apiVersion: config.kueue.x-k8s.io/v1beta1\nwaitForPodsReady: {blockAdmission: true, requeuingStrategy: {timestamp: Creation}}",
			func(c Config) bool { return !c.BlockAdmission && !c.RequeueByCreation }, ""},
		{"pods first, v1beta2", "apiVersion: config.kueue.x-k8s.io/v1beta2\nwaitForPodsReady: {timeout: 5m}", func(c Config) bool { return !c.BlockAdmission }, ""},
		{"no order by use", "waitForPodsReady: {}", func(c Config) bool { return !*c.OrderByUse }, ""},
		{"order by use, its gate off", "admissionFairSharing: {usageHalfLifeTime: 1h}\nfeatureGates: {AdmissionFairSharing: false}", func(c Config) bool { return !*c.OrderByUse }, ""},
		{"order by use, its gate on", "admissionFairSharing: {usageHalfLifeTime: 1h}\nfeatureGates: {AdmissionFairSharing: true}", func(c Config) bool { return *c.OrderByUse }, ""},
		{"requeuing", "waitForPodsReady: {requeuingStrategy: {timestamp: Creation}}", func(c Config) bool { return c.RequeueByCreation }, ""},
		{"requeuing by eviction", "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: 3}}", func(c Config) bool { return !c.RequeueByCreation }, ""},
		{"something else", "apiVersion: v1\nkind: Pod", nil, "unexpected apiVersion v1"},
		{"not YAML", "a: [", nil, "Kueue configuration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := ConfigFrom([]byte(tt.in))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !tt.check(cfg) {
				t.Errorf("%+v, %v", cfg, err)
			}
		})
	}
}
