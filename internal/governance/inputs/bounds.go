package inputs

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// What may not be read can be anything. An answer that is the same at both ends
// of what it can be is an answer all the same; this file makes the two ends.

// Unseen says what of a ClusterQueue's surroundings could not be read and may
// decide over its jobs.
type Unseen struct {
	// Tree are the kinds that could not be read and say who shares quota with the
	// queue: what the others lend, or have borrowed, is not known. Empty for a queue
	// without a cohort.
	Tree []state.Missing
	// Holders: workloads that may not be read hold quota in the queue's tree; how
	// much is known from the queues' status, their priorities are not.
	Holders bool
	// Waiting: workloads that may not be read wait in the queue itself.
	Waiting bool
	// Others: workloads that may not be read wait in other queues of the queue's tree.
	Others bool
}

// Any reports whether something is unseen that affects a new job.
func (u *Unseen) Any() bool { return len(u.Tree) > 0 || u.Holders || u.Waiting }

// Unseen looks at the surroundings of a ClusterQueue that was read.
func (in *Inputs) Unseen(queue string) Unseen {
	u := Unseen{}
	cq := in.ClusterQueue(queue)
	if cq == nil {
		return u
	}
	noWorkloads := false
	for _, m := range in.Missing {
		if m.Reason == state.NotServed {
			continue
		}
		switch m.Resource.FullName() {
		case kinds.ClusterQueue.FullName(), kinds.Cohort.FullName():
			seen := slices.ContainsFunc(u.Tree, func(o state.Missing) bool { return o.Resource.FullName() == m.Resource.FullName() })
			if cq.Spec.CohortName != "" && !seen {
				u.Tree = append(u.Tree, m)
			}
		case kinds.Workload.FullName():
			noWorkloads = true
		}
	}
	if !noWorkloads {
		return u
	}
	tree := in.SameTree(queue)
	waiting := map[string]int{} // by ClusterQueue
	for _, w := range in.queued() {
		if _, hidden := w.Labels[HiddenLabel]; hidden {
			u.Holders = u.Holders || tree[string(w.Status.Admission.ClusterQueue)]
			continue
		}
		lq := in.LocalQueue(w.Namespace, string(w.Spec.QueueName))
		if !Reserves(w) && lq != nil {
			waiting[string(lq.Spec.ClusterQueue)]++
		}
	}
	for _, q := range in.ClusterQueues {
		if tree[q.Name] && waiting[q.Name] < int(q.Status.PendingWorkloads) {
			u.Waiting = u.Waiting || q.Name == queue
			u.Others = u.Others || q.Name != queue
		}
	}
	return u
}

// othersName is the name of the queue that stands for all those that may not be
// read. It is none that an API server accepts.
const othersName = "(others)"

// HiddenTeam reports whether a workload stands for those that could not be read, and whose they are: "" if they are those
// of queues that could not be read either.
func (in *Inputs) HiddenTeam(namespace, name string) (team string, hidden bool) {
	if namespace == othersName {
		return "", true
	}
	w := in.Workload(namespace, name)
	if w == nil {
		return "", false
	}
	if _, hidden = w.Labels[HiddenLabel]; hidden {
		team = quota.TeamOf(string(w.Status.Admission.ClusterQueue))
	}
	return team, hidden
}

// Bound returns the inputs with the best or the worst possible surroundings of a
// queue in place of those that cannot be read. In the best case the others have
// unlimited quota, use none of it, and every workload can be preempted. In the worst
// case they lend nothing, have borrowed everything, and no workload has a low
// priority. Neither case covers overcommitment, as after quota was lowered.
func (in *Inputs) Bound(queue string, best bool) *Inputs {
	out := *in
	priority := int32(math.MaxInt32)
	if best {
		priority = math.MinInt32
	}
	out.Workloads = slices.Clone(in.Workloads)
	for i, w := range out.Workloads {
		if _, hidden := w.Labels[HiddenLabel]; hidden {
			w = w.DeepCopy()
			w.Spec.Priority = &priority
			out.Workloads[i] = w
		}
	}
	cq := in.ClusterQueue(queue)
	if u := in.Unseen(queue); cq == nil || len(u.Tree) == 0 {
		return &out
	}
	others := &kueue.ClusterQueue{
		ObjectMeta: metav1.ObjectMeta{Name: othersName},
		Spec: kueue.ClusterQueueSpec{CohortName: cq.Spec.CohortName, NamespaceSelector: &metav1.LabelSelector{},
			// By fair sharing nothing is due to be taken from a queue of great weight.
			FairSharing: &kueue.FairSharing{Weight: ptr.To(resource.MustParse("1000000000"))}},
	}
	for _, g := range cq.Spec.ResourceGroups {
		g = *g.DeepCopy()
		for i := range g.Flavors {
			for k := range g.Flavors[i].Resources {
				r := &g.Flavors[i].Resources[k]
				*r = kueue.ResourceQuota{Name: r.Name}
				if best {
					r.NominalQuota = plenty(r.Name)
				}
			}
		}
		others.Spec.ResourceGroups = append(others.Spec.ResourceGroups, g)
	}
	out.ClusterQueues = append(slices.Clone(in.ClusterQueues), others)
	if best {
		return &out
	}
	tree, n := out.Quota(out.Usage()), 0
	for _, g := range others.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				q := quota.QuantityOf(string(r.Name), tree.Available(othersName, string(f.Name), string(r.Name)))
				if q.IsZero() {
					continue
				}
				n++
				out.Workloads = append(out.Workloads, hiddenWorkload(others, n, f.Name, r.Name, q, in.Taken))
			}
		}
	}
	return &out
}

// plenty is more of a resource than any cluster has, and little enough to be added up.
func plenty(name corev1.ResourceName) resource.Quantity { return quota.QuantityOf(string(name), 1<<56) }
