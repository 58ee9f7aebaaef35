package simulate_test

import (
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// placedWorld has three nodes of 8 GPUs; Kueue has placed a job of two pods with 8 GPUs each on n0 and n1.
func placedWorld(t *testing.T) simulate.World {
	t.Helper()
	text := `
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: hosts}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {topologyName: hosts, nodeLabels: {type: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 24}]}]}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue, namespace: a}
spec: {clusterQueue: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: placed, namespace: a, uid: placed, creationTimestamp: "2026-01-02T11:00:00Z"}
spec:
  queueName: queue
  podSets: [{name: main, count: 2, topologyRequest: {unconstrained: true}, template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 8}}}]}}}]
status:
  admission:
    clusterQueue: a
    podSetAssignments:
    - name: main
      count: 2
      flavors: {nvidia.com/gpu: a100}
      resourceUsage: {nvidia.com/gpu: 16}
      topologyAssignment:
        levels: [kubernetes.io/hostname]
        slices: [{domainCount: 2, valuesPerLevel: [{individual: {roots: [n0, n1]}}], podCounts: {universal: 1}}]
  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-01-02T11:00:00Z"}
  - {type: Admitted, status: "True", reason: Admitted, lastTransitionTime: "2026-01-02T11:00:00Z"}
`
	for _, n := range []string{"n0", "n1", "n2"} {
		text += `---
apiVersion: v1
kind: Node
metadata: {name: ` + n + `, labels: {type: a100, kubernetes.io/hostname: ` + n + `, node.kubernetes.io/instance-type: a100}}
status: {allocatable: {nvidia.com/gpu: 8, pods: 100}, capacity: {nvidia.com/gpu: 8, pods: 100}, conditions: [{type: Ready, status: "True"}]}
`
	}
	objs, err := decode.Objects([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return simulate.World{Now: noon, Objects: objs}
}

// Kueue looks for another node in the place of one that is gone. Without one, with two gone, or with the feature gate off, it
// evicts the job.
func TestRemovedNodeIsReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		gates   map[string]bool
		removed []string
		state   string
		note    simulate.NoteCode
	}{
		"another node":     {nil, []string{"n1"}, simulate.Admitted, simulate.NodeReplaced},
		"two nodes":        {nil, []string{"n0", "n1"}, simulate.Never, simulate.PlacedOnRemovedNode},
		"no other node":    {nil, []string{"n1", "n2"}, simulate.Never, simulate.NodeReplaced},
		"the gate is off":  {map[string]bool{"TASFailedNodeReplacement": false, "TASFailedNodeReplacementFailFast": false, "TASReplaceNodeOnPodTermination": false, "TASReplaceNodeOnNodeTaints": false, "TASReplaceNodeDueToNotReadyOverFixedTime": false}, []string{"n1"}, simulate.Admitted, simulate.PlacedOnRemovedNode},
		"a node of nobody": {nil, []string{"n2"}, simulate.Admitted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := placedWorld(t)
			w.Config.Gates = c.gates
			var changes []simulate.Change
			for _, n := range c.removed {
				changes = append(changes, change(t, simulate.RemoveNodes, n))
			}
			r := run(t, w, 0, changes...)
			i := slices.IndexFunc(r.Jobs, func(j simulate.Job) bool { return j.Name == "placed" })
			if i < 0 || r.Jobs[i].After == nil || r.Jobs[i].After.State != c.state {
				t.Errorf("state %+v, want %s", r.Jobs[0].After, c.state)
			}
			noted := slices.ContainsFunc(r.Notes, func(n simulate.Note) bool { return n.Code == c.note })
			if c.note != "" && !noted {
				t.Errorf("notes %+v", r.Notes)
			}
			for _, p := range r.Jobs[max(i, 0)].After.PodSets {
				for _, d := range p.Topology {
					for _, gone := range c.removed {
						if slices.Contains(d.Levels, gone) {
							t.Errorf("placed on %s, which is gone", gone)
						}
					}
				}
			}
		})
	}
}
