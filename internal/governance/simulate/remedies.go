package simulate

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// JobRemedies are changes of the policy that would let an added job run.
type JobRemedies struct {
	Namespace, Name, Workload string
	// Remedies are single settings with which it would run now; each was confirmed.
	Remedies []Remedy
	// Placements are its pods if they do not fit even on empty nodes: then no setting helps.
	Placements []fit.Placement `json:",omitempty"`
}

// Remedy is one setting of a team.
type Remedy struct {
	// Code is one of the codes of a remedy.PolicyRemedy.
	Code               string
	Team, ClusterQueue string
	// Preempts are the jobs ("namespace/job") that it would then preempt.
	Preempts []string
}

// mostAdvised is for how many added jobs remedies are searched.
const mostAdvised = 5

// advice searches the policy for what would let the added jobs run, in the state after
// the changes. With fair sharing off or on, Kueue's core decides.
func (r *result) advice(ctx context.Context, added map[types.NamespacedName]bool) ([]JobRemedies, error) {
	var todo []types.NamespacedName
	for k := range added {
		if s := r.states[k]; s != nil && (s.State == Waiting || s.State == Never) {
			todo = append(todo, k)
		}
	}
	out := []JobRemedies{}
	if len(todo) == 0 || !r.settled {
		return out, nil
	}
	r.sortByReservation(todo)
	w := r.settledWorld()
	e, _, err := w.engine(ctx, func() time.Time { return r.now })
	if err != nil {
		return nil, err
	}
	for _, k := range todo[:min(len(todo), mostAdvised)] {
		s := r.states[k]
		a := JobRemedies{Namespace: k.Namespace, Name: r.shown(s.object), Workload: k.Name, Remedies: []Remedy{}}
		if a.Placements = r.tooLarge(s.object); a.Placements != nil {
			out = append(out, a)
			continue
		}
		queue := find[*kueue.ClusterQueue](w, s.ClusterQueue)
		if queue == nil || s.Reason == kueue.WorkloadQuotaReservedReasonMisconfigured || s.Reason == kueue.WorkloadQuotaReservedReasonSuspended {
			continue
		}
		found, err := remedy.Policy(ctx, e, s.object, queue, w.peers(queue), nil)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			one := Remedy{Code: p.Code, Team: quota.TeamOf(p.ClusterQueue), ClusterQueue: p.ClusterQueue, Preempts: []string{}}
			for _, t := range p.Preempts {
				one.Preempts = append(one.Preempts, r.label(t.Namespace, t.Name))
			}
			a.Remedies = append(a.Remedies, one)
		}
		out = append(out, a)
	}
	return out, nil
}

// peers returns the other queues of a queue's cohort tree.
func (w World) peers(queue *kueue.ClusterQueue) []*kueue.ClusterQueue {
	parents := map[kueue.CohortReference]kueue.CohortReference{}
	for _, c := range all[*kueue.Cohort](w) {
		parents[kueue.CohortReference(c.Name)] = c.Spec.ParentName
	}
	root := func(at kueue.CohortReference) kueue.CohortReference {
		for range len(parents) { // a cycle ends, too
			if parents[at] == "" {
				break
			}
			at = parents[at]
		}
		return at
	}
	var out []*kueue.ClusterQueue
	for _, q := range all[*kueue.ClusterQueue](w) {
		if queue.Spec.CohortName != "" && q.Spec.CohortName != "" && q.Name != queue.Name && root(q.Spec.CohortName) == root(queue.Spec.CohortName) {
			out = append(out, q)
		}
	}
	return out
}

// tooLarge returns the pods of a workload that not even empty nodes take with any flavor;
// nil when nodes take them or are not known.
func (r *result) tooLarge(w *kueue.Workload) []fit.Placement {
	nodes := all[*corev1.Node](r.world)
	if len(nodes) == 0 || r.world.NoPods {
		return nil
	}
	var groups []fit.Group
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		// Without the node labels and tolerations of a flavor: any node may do.
		groups = append(groups, fit.Group{Name: string(ps.Name), Count: 1, Spec: ps.Template.Spec,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}})
	}
	if got := fit.New(nodes, nil, nil).Place(groups, true); !got.Fits {
		return got.Groups
	}
	return nil
}

// addedJobs returns the workloads that changes add.
func addedJobs(before World, after World) map[types.NamespacedName]bool {
	out := map[types.NamespacedName]bool{}
	for _, w := range all[*kueue.Workload](after) {
		out[keyOf(w)] = true
	}
	for _, w := range all[*kueue.Workload](before) {
		delete(out, keyOf(w))
	}
	return out
}
