package admission

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"
)

// TestSchedulerLibrary: with the gate, Kueue asks the filters of the Kubernetes scheduler about nodes. They see cordons and taints,
// and not whether a node is ready or what the flavor tolerates.
func TestSchedulerLibrary(t *testing.T) {
	drained := corev1.Toleration{Key: "drain", Operator: corev1.TolerationOpExists}
	tolerates := func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.Tolerations = []corev1.Toleration{drained, {Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
	}
	selects := func(rack string) workloadOption {
		return func(w *kueue.Workload) {
			w.Spec.PodSets[0].Template.Spec.NodeSelector = map[string]string{"rack": rack}
		}
	}
	for name, c := range map[string]struct {
		node    func(*corev1.Node)
		flavor  bool // tolerates the taint
		more    []workloadOption
		library Outcome
		plain   Outcome
	}{
		"as it is":         {func(*corev1.Node) {}, false, nil, Admitted, Admitted},
		"another rack":     {func(*corev1.Node) {}, false, []workloadOption{selects("r7")}, Never, Never},
		"its rack":         {func(*corev1.Node) {}, false, []workloadOption{selects("r0")}, Admitted, Admitted},
		"cordoned":         {func(n *corev1.Node) { n.Spec.Unschedulable = true }, false, nil, Never, Never},
		"tolerated cordon": {func(n *corev1.Node) { n.Spec.Unschedulable = true }, false, []workloadOption{tolerates}, Admitted, Never},
		"not ready":        {func(n *corev1.Node) { n.Status.Conditions = nil }, false, nil, Admitted, Never},
		"tainted":          {taint, false, nil, Never, Never},
		"tolerated taint":  {taint, false, []workloadOption{tolerates}, Admitted, Admitted},
		"flavor tolerates": {taint, true, nil, Never, Admitted},
	} {
		for _, on := range []bool{true, false} {
			f := newFixture().team("a", "", "8")
			topology(f, 1)
			c.node(f.objs[len(f.objs)-1].(*corev1.Node))
			if c.flavor {
				f.objs[0].(*kueue.ResourceFlavor).Spec.Tolerations = []corev1.Toleration{drained}
			}
			e := f.engine(t, Config{Gates: map[string]bool{string(features.SchedulerLibraryIntegration): on}})
			d := probe(t, e, f.job("a", "new", 8, append(c.more, inRack)...))
			want := c.plain
			if on {
				want = c.library
			}
			if (d.Outcome == Admitted) != (want == Admitted) {
				t.Errorf("%s, gate %v: %s %s", name, on, d.Outcome, d.Message)
			}
		}
	}
}

func taint(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: "drain", Effect: corev1.TaintEffectNoSchedule}}
}
