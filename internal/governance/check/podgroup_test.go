package check

import (
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TestJoin: a new pod takes a place of its role in the workload of its group that no pod has. Pods that succeeded keep theirs.
func TestJoin(t *testing.T) {
	pod := func(name, role, node string) map[string]any {
		o := map[string]any{"apiVersion": "v1", "kind": "Pod"}
		kinds.Set(o, name, "metadata", "name")
		kinds.Set(o, role, "metadata", "annotations", integration.RoleAnnotation)
		kinds.Set(o, node, "spec", "nodeName")
		return o
	}
	for name, c := range map[string]struct {
		there, added []map[string]any
		succeeded    int32
		code, pod    string
		pods         int
	}{
		"a free place":        {there: []map[string]any{pod("a", "x", "n1")}, added: []map[string]any{pod("b", "x", "")}, pods: 1},
		"all places":          {added: []map[string]any{pod("a", "x", ""), pod("b", "x", "")}, pods: 2},
		"one pod too many":    {there: []map[string]any{pod("a", "x", "n1")}, added: []map[string]any{pod("b", "x", ""), pod("c", "x", "")}, code: GroupTooLarge, pod: "c", pods: 1},
		"one pod succeeded":   {there: []map[string]any{pod("a", "x", "n1")}, succeeded: 1, added: []map[string]any{pod("b", "x", "")}, code: GroupTooLarge, pod: "b"},
		"another role":        {added: []map[string]any{pod("b", "y", "")}, code: GroupWithoutRole, pod: "b"},
		"another, twice":      {there: []map[string]any{pod("a", "y", "")}, added: []map[string]any{pod("b", "y", "")}, code: GroupWithoutRole, pod: "b"},
		"some of each":        {there: []map[string]any{pod("a", "x", "n1")}, added: []map[string]any{pod("c", "y", ""), pod("b", "x", "")}, code: GroupWithoutRole, pod: "c", pods: 1},
		"another that exists": {there: []map[string]any{pod("a", "y", "")}, added: []map[string]any{pod("b", "x", "")}, pods: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Name: "group"}, Spec: kueue.WorkloadSpec{PodSets: []kueue.PodSet{{Name: "x", Count: 2}}}}
			if c.succeeded > 0 {
				w.Status.ReclaimablePods = []kueue.ReclaimablePod{{Name: "x", Count: c.succeeded}}
			}
			var v Verdict
			code, pod, err := join(w, c.there, c.added, integration.NewLookup(), &v)
			if err != nil || code != c.code || pod != c.pod || v.joins.pods["x"] != c.pods {
				t.Errorf("%q %q, %d pods, error %v", code, pod, v.joins.pods["x"], err)
			}
		})
	}
	j := &joined{holds: true, pods: map[kueue.PodSetReference]int{"x": 1}, on: map[kueue.PodSetReference]map[string]int{"x": {"n1": 1}, "y": {"n2": 1}}}
	hosts := map[string]int{"n1": 1, "n2": 1}
	groups := []fit.Group{{Name: "x", Count: 2, Hosts: hosts}, {Name: "y", Count: 3}}
	out := j.only(groups)
	if len(out) != 1 || out[0].Count != 1 || fmt.Sprint(out[0].Hosts) != "map[n1:0 n2:1]" || !maps.Equal(hosts, map[string]int{"n1": 1, "n2": 1}) {
		t.Errorf("the new pods are placed as %+v, of %v", out, hosts)
	}
	if j.holds = false; len(j.only(groups)) != 2 {
		t.Error("a group without quota has no pods on nodes yet")
	}
}
