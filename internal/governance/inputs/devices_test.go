package inputs_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

const (
	mappings  = `"resources:\n  deviceClassMappings:\n  - name: example.com/gpu\n    deviceClassNames: [gpu.example.com]\n"`
	templates = `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"two","namespace":"n"},"spec":{"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu.example.com","allocationMode":"ExactCount","count":2}}]}}}}`
	claiming  = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"n","uid":"u"},"spec":{"queueName":"q","podSets":[{"name":"main","count":3,"template":{"spec":{"containers":[{"name":"c"}],"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"two"}]}}}]}}`
)

func deviceCluster(config string) *fixture.Server {
	return fixture.New(
		json.RawMessage(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},"data":{"controller_manager_config.yaml":`+config+`}}`),
		json.RawMessage(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["example.com/gpu"],"flavors":[{"name":"f","resources":[{"name":"example.com/gpu","nominalQuota":"8"}]}]}]},
"status":{"effectiveQuotas":{"orchestratorRef":{"kind":"K","name":"o"},"resourceGroups":[{"coveredResources":["example.com/gpu"],"flavors":[{"name":"f","resources":[{"name":"example.com/gpu","nominalQuota":"4"}]}]}]}}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"q","namespace":"n"},"spec":{"clusterQueue":"cq"}}`),
		json.RawMessage(`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu.example.com"}}`),
		json.RawMessage(templates), json.RawMessage(claiming))
}

func decide(t *testing.T, in *inputs.Inputs) admission.Decision {
	t.Helper()
	e, _, err := in.Engine(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.Probe(context.Background(), in.Workload("n", "w"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Devices are read where Kueue's configuration maps them, and only there.
func TestDevicesAreRead(t *testing.T) {
	in := load(t, deviceCluster(mappings).Client())
	d := decide(t, in)
	if d.Outcome != admission.Admitted || d.PodSets[0].Requests[0].Value != 6 || len(d.NotModelled) > 0 {
		t.Errorf("3 pods with 2 devices each: %+v", d)
	}
	in.ClaimTemplates = nil
	if d := decide(t, in); !d.BadClaims {
		t.Errorf("without the template: %+v", d)
	}
	in = in.WithTemplates("n", []map[string]any{{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": map[string]any{"name": "two"},
		"spec": map[string]any{"spec": map[string]any{"devices": map[string]any{"requests": []any{map[string]any{"name": "gpu", "exactly": map[string]any{"deviceClassName": "gpu.example.com"}}}}}}}})
	if d := decide(t, in); d.Outcome != admission.Admitted || d.PodSets[0].Requests[0].Value != 3 {
		t.Errorf("with one of the submission, 3 pods with 1 device each: %+v", d)
	}
	in = load(t, deviceCluster(`"featureGates: {}\n"`).Client())
	if d := decide(t, in); len(in.ClaimTemplates)+len(in.DeviceClasses) > 0 || !d.BadClaims {
		t.Errorf("without mappings: %d templates, %+v", len(in.ClaimTemplates), d)
	}
}

func TestDevicesForbidden(t *testing.T) {
	s := deviceCluster(mappings)
	s.Forbid = func(_, plural, _, _ string) bool { return plural == "resourceclaimtemplates" }
	in := load(t, s.Client())
	if d := decide(t, in); !slices.Equal(d.NotModelled, []string{admission.NotModelledClaims}) {
		t.Errorf("%+v", d)
	}
}

// Effective quotas count where the gate is on, and where Kueue's configuration is not known.
func TestEffectiveQuotas(t *testing.T) {
	for config, want := range map[string]int64{
		`"featureGates:\n  DynamicQuotaOrchestration: true\n"`: 4,
		`"featureGates: {}\n"`:                                 8,
		`"- not a configuration"`:                              4,
	} {
		in := load(t, deviceCluster(config).Client())
		if got := quotaOf(in.ClusterQueue("cq")); got != want {
			t.Errorf("%s: %d, want %d", config, got, want)
		}
		for _, n := range in.Rules().Notes {
			if n.Warning != nil {
				t.Errorf("%s: a warning about %s", config, n.Warning.Name)
			}
		}
	}
}

func quotaOf(cq *kueue.ClusterQueue) int64 {
	return cq.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota.Value()
}

// The flags of Kueue's controller set feature gates, too.
func TestGatesOfFlags(t *testing.T) {
	s := fixture.New(
		json.RawMessage(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},"data":{"controller_manager_config.yaml":"admissionFairSharing:\n  usageHalfLifeTime: 1h\n"}}`),
		json.RawMessage(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"kueue-controller-manager","namespace":"kueue-system"},"spec":{"template":{"spec":{"containers":[{"name":"manager","image":"kueue:v0.19.2","args":["--zap-log-level=2","--feature-gates=ConcurrentAdmission=true,AdmissionFairSharing=false"]}]}}}}`))
	r := load(t, s.Client()).Rules()
	if !r.Config.Gates["ConcurrentAdmission"] || r.Config.AdmissionFairSharing != nil || r.Config.OrderByUse == nil || *r.Config.OrderByUse {
		t.Errorf("%+v", r.Config)
	}
}
