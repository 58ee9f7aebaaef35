package simulate

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

type flavorResource struct{ flavor, resource string }

// stateOf reads a workload's status as the engine has left it.
func stateOf(w *kueue.Workload) *standing {
	s := &standing{object: w, JobState: JobState{State: Waiting, Holds: []Amount{}, Borrowed: []Amount{}, PodSets: []PodSet{}}}
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
	if admitted {
		s.State = Admitted
	}
	uses := map[flavorResource]int64{}
	for k, n := range inputs.Holds(w) {
		uses[flavorResource{k.Flavor, k.Resource}] = n
	}
	for i := range a.PodSetAssignments {
		psa := &a.PodSetAssignments[i]
		ps := PodSet{Name: string(psa.Name), Flavors: map[string]string{}}
		if psa.Count != nil {
			ps.Pods = *psa.Count
		}
		for res, f := range psa.Flavors {
			ps.Flavors[string(res)] = string(f)
		}
		for _, d := range admission.Placed(psa) {
			ps.Topology = append(ps.Topology, Domain{d.Levels, d.Count})
		}
		s.PodSets = append(s.PodSets, ps)
	}
	s.Holds = amounts(uses)
	return s
}

// value is a quantity as an exact number, so that sums are the same in any order:
// thousandths of cpu, base units of all else, as Kueue counts. It is no more than
// half of what there can be: sums do not overflow by accident.
func value(resourceName string, q resource.Quantity) int64 {
	return min(max(quota.AmountOf(resourceName, q), -most), most)
}

// most is the largest amount that is told apart; from there on it is unlimited.
const most = math.MaxInt64 / 2

// sum adds two amounts.
func sum(a, b int64) int64 { return min(max(a+b, -most), most) }

// amounts is a sorted list without zeros.
func amounts(m map[flavorResource]int64) []Amount {
	out := []Amount{}
	for k, v := range m {
		if v == 0 {
			continue
		}
		a := Amount{Flavor: k.flavor, Resource: k.resource, Amount: quota.BaseOf(k.resource, v), exact: v}
		if v >= most {
			a.Amount = quota.BaseOf(k.resource, quota.Unlimited)
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Amount) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// teamStates adds up what every ClusterQueue has.
func (r *result) teamStates() map[string]*TeamState {
	out := map[string]*TeamState{}
	used := map[string]map[flavorResource]int64{}
	for _, q := range all[*kueue.ClusterQueue](r.world) {
		if admission.ClusterQueueFaults(q) == "" { // else it is left out
			out[q.Name], used[q.Name] = &TeamState{}, map[flavorResource]int64{}
		}
	}
	for _, s := range r.states {
		t := out[s.ClusterQueue]
		if t == nil {
			continue
		}
		switch s.State {
		case Admitted, QuotaReserved:
			t.Admitted++
		case Waiting:
			t.Waiting++
		case Preempted:
			t.Preempted++
		case Inadmissible:
			t.Inadmissible++
		}
		for _, u := range s.Holds {
			fr := flavorResource{u.Flavor, u.Resource}
			used[s.ClusterQueue][fr] = sum(used[s.ClusterQueue][fr], u.exact)
		}
	}
	for _, q := range all[*kueue.ClusterQueue](r.world) {
		t := out[q.Name]
		if t == nil {
			continue
		}
		nominal, borrowed := map[flavorResource]int64{}, map[flavorResource]int64{}
		for _, g := range q.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				for _, rq := range f.Resources {
					nominal[flavorResource{string(f.Name), string(rq.Name)}] = value(string(rq.Name), rq.NominalQuota)
				}
			}
		}
		for k, u := range used[q.Name] {
			borrowed[k] = max(u-nominal[k], 0)
		}
		t.Nominal, t.Used, t.Borrowed = amounts(nominal), amounts(used[q.Name]), amounts(borrowed)
	}
	return out
}

func totals(r *result) Totals {
	t := Totals{Settled: r.settled}
	borrowed := map[flavorResource]int64{}
	for _, s := range r.teamStates() {
		t.Admitted += s.Admitted
		t.Waiting += s.Waiting
		t.Preempted += s.Preempted
		t.Inadmissible += s.Inadmissible
		for _, b := range s.Borrowed {
			fr := flavorResource{b.Flavor, b.Resource}
			borrowed[fr] = sum(borrowed[fr], b.exact)
		}
	}
	t.Borrowed = amounts(borrowed)
	return t
}

// teams lists every team of either side, by name.
func teams(before, after *result) []Team {
	b, a := before.teamStates(), after.teamStates()
	names := maps.Clone(b)
	maps.Copy(names, a)
	out := []Team{}
	for _, q := range slices.Sorted(maps.Keys(names)) {
		out = append(out, Team{Team: quota.TeamOf(q), ClusterQueue: q, Before: b[q], After: a[q]})
	}
	slices.SortStableFunc(out, func(x, y Team) int { return cmp.Compare(x.Team, y.Team) })
	return out
}

// jobs lists every job of either side that has not finished, by namespace and name.
func jobs(before, after *result) []Job {
	keys := map[key]*standing{}
	maps.Copy(keys, before.states)
	maps.Copy(keys, after.states)
	borrowed := after.jobBorrowing()
	was := before.jobBorrowing()
	out := []Job{}
	for k, s := range keys {
		if s.State == Finished {
			continue
		}
		j := Job{Namespace: k.namespace, Name: JobName(s.object), Workload: k.name, Team: quota.TeamOf(s.ClusterQueue), ClusterQueue: s.ClusterQueue}
		if b := before.states[k]; b != nil {
			c := b.JobState
			c.Borrowed = append([]Amount{}, was[k]...)
			j.Before = &c
		}
		if a := after.states[k]; a != nil {
			c := a.JobState
			c.Borrowed = append([]Amount{}, borrowed[k]...)
			if c.By != "" {
				ns, name, _ := strings.Cut(c.By, "/")
				c.By = after.label(ns, name)
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

// jobBorrowing is what each job has borrowed, by the convention that in a
// ClusterQueue those admitted last borrow what is beyond its own quota.
func (r *result) jobBorrowing() map[key][]Amount {
	queues := map[string][]key{}
	for k, s := range r.states {
		if s.State == Admitted || s.State == QuotaReserved {
			queues[s.ClusterQueue] = append(queues[s.ClusterQueue], k)
		}
	}
	rank := map[key]int{} // of those admitted in this run, by event
	for i, e := range r.events {
		if e.Kind == admission.EventAdmitted || e.Kind == admission.EventQuotaReserved {
			rank[key{e.Namespace, e.Name}] = i + 1
		}
	}
	teams := r.teamStates()
	out := map[key][]Amount{}
	for q, list := range queues {
		t := teams[q]
		if t == nil || len(t.Borrowed) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b key) int {
			return cmp.Or(cmp.Compare(rank[a], rank[b]), r.states[a].reservedAt().Compare(r.states[b].reservedAt()), cmp.Compare(a.String(), b.String()))
		})
		left := map[flavorResource]int64{}
		for _, n := range t.Nominal {
			left[flavorResource{n.Flavor, n.Resource}] = n.exact
		}
		for _, k := range list {
			borrowed := map[flavorResource]int64{}
			for _, u := range r.states[k].Holds {
				fr := flavorResource{u.Flavor, u.Resource}
				own := min(max(left[fr], 0), u.exact)
				left[fr] -= own
				borrowed[fr] = u.exact - own
			}
			out[k] = amounts(borrowed)
		}
	}
	return out
}

// reservedAt is when a workload got its quota.
func (s *standing) reservedAt() time.Time {
	for _, c := range s.object.Status.Conditions {
		if c.Type == kueue.WorkloadQuotaReserved {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
