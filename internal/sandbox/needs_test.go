package sandbox

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// needing makes each pod of a job name an object.
func needing(field, value string) func(map[string]any) {
	return func(m map[string]any) {
		for _, role := range object.Map(m, "spec", "pytorchReplicaSpecs") {
			spec := object.Map(role, "template", "spec")
			switch field {
			case "env":
				object.Map(object.List(spec, "containers")[0])["envFrom"] = []any{map[string]any{"secretRef": map[string]any{"name": value}}}
			case "key":
				object.Map(object.List(spec, "containers")[0])["env"] = []any{map[string]any{"name": "A", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": value, "key": "k"}}}}
			case "optional":
				spec["volumes"] = []any{map[string]any{"name": "v", "secret": map[string]any{"secretName": value, "optional": true}}}
			case "claim":
				spec["volumes"] = []any{map[string]any{"name": "v", "persistentVolumeClaim": map[string]any{"claimName": value}}}
			case "volume":
				spec["volumes"] = []any{map[string]any{"name": "v", "configMap": map[string]any{"name": value}}}
			case "priority":
				spec["priority"] = 5
			default:
				spec[field] = value
			}
		}
	}
}

// Pods wait for objects that they name, as on a cluster: the API server refuses them without
// their service account, the scheduler holds them without their claim, the kubelet without
// their secrets and config maps. They start when the object comes.
func TestMissingObjects(t *testing.T) {
	for _, c := range []struct {
		name, field string
		// reason and says are of an event, phase that of the pod, "" for no pod.
		reason, says, phase string
		give                func(b *bench)
	}{
		{"a service account", "serviceAccountName", "FailedCreatePod", `error looking up service account ` + smithNS + `/x: serviceaccount "x" not found`, "",
			func(b *bench) {
				b.must(201, "POST", kinds.ServiceAccount.Path(smithNS, ""), `{"metadata":{"name":"x"}}`)
			}},
		{"a runtime class", "runtimeClassName", "FailedCreatePod", `pod rejected: RuntimeClass "x" not found`, "", func(b *bench) {
			b.must(201, "POST", kinds.RuntimeClass.Path("", ""), `{"metadata":{"name":"x"},"handler":"x"}`)
		}},
		{"a priority without a class", "priority", "FailedCreatePod", `the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0`, "",
			func(b *bench) {
				b.must(201, "POST", kinds.PriorityClass.Path("", ""), `{"metadata":{"name":"x"},"value":5,"globalDefault":true}`)
			}},
		{"a claim", "claim", "FailedScheduling", `persistentvolumeclaim "x" not found`, "Pending", func(b *bench) {
			b.must(201, "POST", kinds.PersistentVolumeClaim.Path(smithNS, ""), `{"metadata":{"name":"x"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}`)
		}},
		{"a config map as a volume", "volume", "FailedMount", `MountVolume.SetUp failed for volume "v" : configmap "x" not found`, "Pending",
			func(b *bench) {
				b.must(201, "POST", kinds.ConfigMap.Path(smithNS, ""), `{"metadata":{"name":"x"}}`)
			}},
		{"a secret as variables", "env", "Failed", `Error: secret "x" not found`, "Pending",
			func(b *bench) { b.must(201, "POST", kinds.Secret.Path(smithNS, ""), `{"metadata":{"name":"x"}}`) }},
		{"a key of a secret", "key", "Failed", `Error: secret "x" not found`, "Pending",
			func(b *bench) {
				b.must(201, "POST", kinds.Secret.Path(smithNS, ""), `{"metadata":{"name":"x"},"data":{"k":"eA=="}}`)
			}},
		{"an optional secret", "optional", "Scheduled", "", "Running", func(*bench) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "john-smith")
			b.create(smithNS, pytorch("j", "smith", 1, 1, needing(c.field, "x")))
			phases := b.podPhases(smithNS, "j")
			if len(phases) > 1 || (len(phases) == 0) != (c.phase == "") {
				t.Fatalf("pods %v", phases)
			}
			for _, p := range phases {
				if p != c.phase {
					t.Errorf("phase %s", p)
				}
			}
			found := false
			for _, e := range b.items(kinds.Event.Path(smithNS, "")) {
				found = found || object.Text(e, "reason") == c.reason && strings.Contains(object.Text(e, "message"), c.says)
			}
			if !found {
				t.Errorf("there is no event %s: %s", c.reason, c.says)
			}
			c.give(b)
			for name, p := range b.podPhases(smithNS, "j") {
				if p != "Running" {
					t.Errorf("pod %s is %s afterwards", name, p)
				}
			}
			if len(b.podPhases(smithNS, "j")) != 1 {
				t.Errorf("pods afterwards: %v", b.podPhases(smithNS, "j"))
			}
		})
	}
	b := newBench(t, "john-smith")
	a := b.send("POST", kinds.Pod.Path(smithNS, ""), `{"metadata":{"name":"p"},"spec":{"serviceAccountName":"x","containers":[{"name":"c","image":"i"}]}}`)
	if a.code != 403 || !strings.Contains(object.Text(a.object(t), "message"), `pods "p" is forbidden: error looking up service account`) {
		t.Errorf("%d %s", a.code, a.body)
	}
}
