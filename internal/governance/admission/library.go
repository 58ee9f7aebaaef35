package admission

import (
	"context"
	"iter"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"sigs.k8s.io/kueue/pkg/cache/scheduler/simulator"
	"sigs.k8s.io/kueue/pkg/features"
	utiltaints "sigs.k8s.io/kueue/pkg/util/taints"
)

// library finds the nodes of a topology that a pod fits, as Kueue does with the gate SchedulerLibraryIntegration. Kueue then asks
// three filters of the Kubernetes scheduler: NodeUnschedulable, TaintToleration and NodeAffinity (pkg/cache/scheduler/was). The
// scheduler would be most of this program, so the filters are written again here. They see only the pod template, not the
// tolerations of the flavor, and they accept a node that is not ready unless it has a taint.
type library struct{}

// NewFeasibilityChecker implements [simulator.SchedulingSimulator].
func (library) NewFeasibilityChecker(context.Context, []*corev1.Node) (simulator.NodeFeasibilityChecker, error) {
	return library{}, nil
}

// FindFeasibleNodes implements [simulator.NodeFeasibilityChecker].
func (library) FindFeasibleNodes(_ context.Context, candidates iter.Seq[simulator.Candidate], pod *simulator.PodRequirements, stats *simulator.NodeExclusionStats) ([]simulator.MatchedCandidate, error) {
	filter := filtersOf(&pod.PodTemplate.Spec)
	var out []simulator.MatchedCandidate
	for c := range candidates {
		stats.TotalNodes++
		m, ok := c.(simulator.MatchedCandidate)
		node := c.GetNode()
		if !ok || node != nil && !filter(node) {
			stats.SchedulerLibraryNoFit++
			continue
		}
		if features.Enabled(features.TASRespectNodeAffinityPreferred) && pod.PreferredSchedulingTerms != nil && node != nil {
			m.SetAffinityScore(m.GetAffinityScore() + pod.PreferredSchedulingTerms.Score(node))
		}
		out = append(out, m)
	}
	return out, nil
}

// filtersOf returns the function that reports whether a pod may run on a node.
func filtersOf(spec *corev1.PodSpec) func(*corev1.Node) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *spec})
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	return func(node *corev1.Node) bool {
		taints := node.Spec.Taints
		if node.Spec.Unschedulable {
			taints = append(slices.Clone(taints), cordon)
		}
		if _, untolerated := corev1helpers.FindMatchingUntoleratedTaint(logr.Discard(), taints, spec.Tolerations, utiltaints.IsSchedulingTaint, false); untolerated {
			return false
		}
		fits, err := affinity.Match(node)
		return err == nil && fits
	}
}
