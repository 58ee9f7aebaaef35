package simulate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// standing is one workload after a run.
type standing struct {
	JobState
	ClusterQueue string
	object       *kueue.Workload
}

// podSetHolds returns what a pod set was given.
func podSetHolds(psa *kueue.PodSetAssignment) []Amount {
	m := map[flavorResource]int64{}
	for res, q := range psa.ResourceUsage {
		fr := flavorResource{string(psa.Flavors[res]), string(res)}
		m[fr] = sum(m[fr], min(quota.AmountOf(string(res), q), most))
	}
	return amounts(m)
}

// levelKeys returns the node labels of the topology of flavors.
func (r *result) levelKeys(flavors []string) []string {
	for _, name := range flavors {
		if f := find[*kueue.ResourceFlavor](r.world, name); f != nil && f.Spec.TopologyName != nil {
			return levelKeys(r.world, string(*f.Spec.TopologyName))
		}
	}
	return nil
}

// domain returns a topology domain. An assignment may name the lowest levels only.
func domain(keys []string, d admission.Domain) Domain {
	n := min(len(keys), len(d.Levels))
	return Domain{LevelKeys: append([]string{}, keys[len(keys)-n:]...), Levels: d.Levels, Pods: d.Count}
}

type flavorResource struct{ flavor, resource string }

// stateOf reads a workload's status as the engine has left it.
func (r *result) stateOf(w *kueue.Workload) *standing {
	s := &standing{object: w, JobState: JobState{State: Waiting, Holds: []Amount{}, Borrowed: []Amount{}, Overcommit: []Amount{}, PodSets: []PodSet{}}}
	s.suspended = w.Spec.Active != nil && !*w.Spec.Active
	reserved, admitted := false, false
	for _, c := range w.Status.Conditions {
		on := c.Status == metav1.ConditionTrue
		switch c.Type {
		case kueue.WorkloadFinished:
			if on {
				s.State = Finished
				return s
			}
		case kueue.WorkloadQuotaReserved:
			reserved = on
		case kueue.WorkloadAdmitted:
			admitted = on
		}
	}
	a := w.Status.Admission
	if !reserved || a == nil {
		return s
	}
	s.State, s.ClusterQueue = QuotaReserved, string(a.ClusterQueue)
	switch {
	case apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadEvicted):
		s.State = Evicting
	case admitted:
		s.State = Admitted
	}
	uses := map[flavorResource]int64{}
	for k, n := range inputs.Holds(w) {
		uses[flavorResource{k.Flavor, k.Resource}] = n
	}
	for i := range a.PodSetAssignments {
		psa := &a.PodSetAssignments[i]
		ps := PodSet{Name: string(psa.Name), Flavors: map[string]string{}, Holds: podSetHolds(psa)}
		if psa.Count != nil {
			ps.Pods = *psa.Count
		}
		for res, f := range psa.Flavors {
			ps.Flavors[string(res)] = string(f)
		}
		keys := r.levelKeys(slices.Collect(maps.Values(ps.Flavors)))
		for _, d := range admission.Placed(psa) {
			ps.Topology = append(ps.Topology, domain(keys, d))
		}
		s.PodSets = append(s.PodSets, ps)
	}
	s.Holds = amounts(uses)
	return s
}

// most is the largest finite amount; anything above is unlimited.
const most = math.MaxInt64 / 2

// sum adds two amounts.
func sum(a, b int64) int64 { return min(max(a+b, -most), most) }

// amounts returns a sorted list without zeros.
func amounts(m map[flavorResource]int64) []Amount {
	out := []Amount{}
	for k, v := range m {
		if v != 0 {
			out = append(out, amountOf(k, v))
		}
	}
	return sortAmounts(out)
}

func amountOf(k flavorResource, v int64) Amount {
	a := Amount{Flavor: k.flavor, Resource: k.resource, Amount: quota.BaseOf(k.resource, v), exact: v}
	if v >= most {
		a.Amount = quota.BaseOf(k.resource, quota.Unlimited)
	}
	return a
}

func sortAmounts(list []Amount) []Amount {
	slices.SortFunc(list, func(a, b Amount) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return list
}

// jobs lists every job of either side that has not finished, by namespace and name.
func jobs(before, after *result) []Job {
	keys := map[types.NamespacedName]*standing{}
	maps.Copy(keys, before.states)
	maps.Copy(keys, after.states)
	borrowed := after.jobBorrowing()
	was := before.jobBorrowing()
	out := []Job{}
	for k, s := range keys {
		if s.State == Finished {
			continue
		}
		j := Job{Namespace: k.Namespace, Name: before.shown(s.object), Workload: k.Name, Team: quota.TeamOf(s.ClusterQueue), ClusterQueue: s.ClusterQueue}
		if b := before.states[k]; b != nil {
			c := b.JobState
			c.Borrowed, c.Overcommit = append([]Amount{}, was[k].borrowed...), append([]Amount{}, was[k].over...)
			j.Before = &c
		}
		if a := after.states[k]; a != nil {
			c := a.JobState
			c.Borrowed, c.Overcommit = append([]Amount{}, borrowed[k].borrowed...), append([]Amount{}, borrowed[k].over...)
			if c.By != "" {
				ns, name, _ := strings.Cut(c.By, "/")
				c.By, c.ByWorkload = after.label(ns, name), c.By
			}
			j.After = &c
		}
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Workload, b.Workload))
	})
	return out
}

// jobBorrowing returns what each job has borrowed, by the convention that in a
// ClusterQueue those admitted last hold what is beyond its own quota: first what others
// lend, then what nobody does.
func (r *result) jobBorrowing() map[types.NamespacedName]beyond {
	queues := map[string][]types.NamespacedName{}
	for k, s := range r.states {
		if s.reserves() {
			queues[s.ClusterQueue] = append(queues[s.ClusterQueue], k)
		}
	}
	teams := r.teamStates()
	out := map[types.NamespacedName]beyond{}
	for q, list := range queues {
		t := teams[q]
		if t == nil || len(t.Borrowed)+len(t.Overcommit) == 0 {
			continue
		}
		r.sortByReservation(list)
		own, lent := exact(t.Nominal), exact(t.Borrowed)
		take := func(from map[flavorResource]int64, fr flavorResource, most int64) int64 {
			n := min(max(from[fr], 0), most)
			from[fr] -= n
			return n
		}
		for _, k := range list {
			borrowed, over := map[flavorResource]int64{}, map[flavorResource]int64{}
			for _, u := range r.states[k].Holds {
				fr := flavorResource{u.Flavor, u.Resource}
				rest := u.exact - take(own, fr, u.exact)
				borrowed[fr] = take(lent, fr, rest)
				over[fr] = rest - borrowed[fr]
			}
			out[k] = beyond{amounts(borrowed), amounts(over)}
		}
	}
	return out
}

// reserves reports whether a job has quota.
func (s *JobState) reserves() bool {
	return s.State == Admitted || s.State == QuotaReserved || s.State == WaitsForNodes || s.State == Evicting
}

// reserves reports whether a workload has quota after the run.
func (r *result) reserves(k types.NamespacedName) bool {
	s := r.states[k]
	return s != nil && s.reserves()
}

// beyond is what a job holds beyond the quota of its own queue.
type beyond struct{ borrowed, over []Amount }

func exact(list []Amount) map[flavorResource]int64 {
	out := map[flavorResource]int64{}
	for _, a := range list {
		out[flavorResource{a.Flavor, a.Resource}] = a.exact
	}
	return out
}

// reservedAt is when a workload got its quota.
func (s *standing) reservedAt() time.Time {
	if c := apimeta.FindStatusCondition(s.object.Status.Conditions, kueue.WorkloadQuotaReserved); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}
