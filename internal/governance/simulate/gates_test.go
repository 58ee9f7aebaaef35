package simulate

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
)

// TestEndlessGates: where one preemption gate after the other opens, the world never settles.
func TestEndlessGates(t *testing.T) {
	objects, err := decode.Objects([]byte(`
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: one}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: two}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors}}
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - {name: one, resources: [{name: cpu, nominalQuota: 1}]}
    - {name: two, resources: [{name: cpu, nominalQuota: 1}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue, namespace: a}
spec: {clusterQueue: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: a, uid: w, labels: {kueue.x-k8s.io/concurrent-admission-parent: "true"}}
spec: {queueName: queue, podSets: [{name: main, count: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: w-one
  namespace: a
  uid: w-one
  annotations: {kueue.x-k8s.io/workload-allowed-resource-flavors: one}
  ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: w, uid: w}]
spec: {queueName: queue, preemptionGates: [{name: kueue.x-k8s.io/concurrent-admission}], podSets: [{name: main, count: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}
status: {preemptionGates: [{name: kueue.x-k8s.io/concurrent-admission, position: Open, lastTransitionTime: "2026-01-02T12:00:00Z"}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: w-two
  namespace: a
  uid: w-two
  annotations: {kueue.x-k8s.io/workload-allowed-resource-flavors: two}
  ownerReferences: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: w, uid: w}]
spec: {queueName: queue, preemptionGates: [{name: kueue.x-k8s.io/concurrent-admission}], podSets: [{name: main, count: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}
status: {conditions: [{type: BlockedOnPreemptionGates, status: "True", reason: PreemptionGated, message: "", lastTransitionTime: "2026-01-02T12:00:00Z"}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	w := World{Config: admission.Config{Gates: map[string]bool{"ConcurrentAdmission": true}}, Objects: objects, Now: time.Date(2026, 1, 2, 12, 1, 0, 0, time.UTC)}
	for opened, want := range map[int]bool{0: true, maxCycles: false} {
		r := &result{world: w, now: w.Now, opened: opened, settled: true}
		e, bad, err := w.engine(t.Context(), func() time.Time { return r.now })
		if err != nil || bad != nil {
			t.Fatal(bad, err)
		}
		if next := r.openGate(e); next != want || r.settled != want {
			t.Errorf("after %d gates: opens %t, settled %t", opened, next, r.settled)
		}
	}
}
