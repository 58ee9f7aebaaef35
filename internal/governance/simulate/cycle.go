package simulate

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Cycle is what one scheduling cycle did.
type Cycle struct {
	Cycle     int
	Scheduled []Scheduled
	Preempted []Preemption
	// Replaced are elastic jobs' old slices, replaced by new ones.
	Replaced []Eviction
	// Evicted lost their quota because no node replaces a failed one, or a variant with a better flavor fits.
	Evicted []Eviction
	// Pending were evaluated and stay at the head of their queues. Inadmissible were
	// evaluated, and Kueue puts them aside until something changes. NotQueued are in no
	// queue. Workloads that the cycle did not evaluate are in none of these.
	Pending      []Unscheduled
	Inadmissible []Unscheduled
	NotQueued    []Unscheduled
}

// Scheduled is a workload that got its quota.
type Scheduled struct {
	Namespace, Name, Workload string
	Team, ClusterQueue        string
	// Admitted is false when admission checks are still to pass.
	Admitted bool
	// SecondPass: it had its quota before and got its place in the topology.
	SecondPass bool `json:",omitempty"`
	PodSets    []PodSet
	Holds      []Amount
	Borrowed   []Amount
}

// Unscheduled is a workload that was not admitted.
type Unscheduled struct {
	Namespace, Name, Workload string
	Team, ClusterQueue        string
	// Reason and Message are Kueue's.
	Reason, Message string
	// Skipped: it would have fit, but another workload of the cycle came first.
	Skipped bool `json:",omitempty"`
	// Preempting: it waits for the workloads that it preempted in this cycle.
	Preempting bool `json:",omitempty"`
}

func eviction(e admission.Event, name string) Eviction {
	return Eviction{Namespace: e.Namespace, Name: name, Workload: e.Name, Team: quota.TeamOf(e.ClusterQueue), ClusterQueue: e.ClusterQueue, Reason: e.Reason, Message: e.Message, JobLost: e.Lost}
}

// cycle makes the report of one cycle of its events.
func (r *result) cycle(e *admission.Engine, events []admission.Event) Cycle {
	c := Cycle{Cycle: r.count, Scheduled: []Scheduled{}, Preempted: []Preemption{}, Replaced: []Eviction{}, Evicted: []Eviction{}, Pending: []Unscheduled{}, Inadmissible: []Unscheduled{}, NotQueued: []Unscheduled{}}
	parked := e.Parked()
	for _, ev := range events {
		name := r.jobName(ev.Namespace, ev.Name)
		switch ev.Kind {
		case admission.EventAdmitted, admission.EventQuotaReserved, admission.EventPlaced:
			s := Scheduled{Namespace: ev.Namespace, Name: name, Workload: ev.Name, Team: quota.TeamOf(ev.ClusterQueue), ClusterQueue: ev.ClusterQueue,
				Admitted: ev.Kind != admission.EventQuotaReserved, SecondPass: ev.Kind == admission.EventPlaced, Borrowed: eventAmounts(ev.Borrowed)}
			var holds []admission.Quantity
			for _, ps := range ev.Flavors {
				out := PodSet{Name: ps.Name, Pods: ps.Count, Flavors: ps.Flavors, Holds: eventAmounts(ps.Requests)}
				keys := r.levelKeys(slices.Collect(maps.Values(ps.Flavors)))
				for _, d := range ps.Domains {
					out.Topology = append(out.Topology, domain(keys, d))
				}
				s.PodSets = append(s.PodSets, out)
				holds = append(holds, ps.Requests...)
			}
			s.Holds = eventAmounts(holds)
			c.Scheduled = append(c.Scheduled, s)
		case admission.EventPreempted:
			p := r.preemption(ev)
			p.Cycle = r.count
			c.Preempted = append(c.Preempted, p)
		case admission.EventReplaced:
			c.Replaced = append(c.Replaced, eviction(ev, name))
		case admission.EventEvicted:
			c.Evicted = append(c.Evicted, eviction(ev, name))
		default:
			u := Unscheduled{Namespace: ev.Namespace, Name: name, Workload: ev.Name, Team: quota.TeamOf(ev.ClusterQueue), ClusterQueue: ev.ClusterQueue,
				Reason: ev.Reason, Message: ev.Message, Skipped: ev.Kind == admission.EventSkipped, Preempting: ev.Kind == admission.EventPreempting}
			if parked[ev.Namespace+"/"+ev.Name] {
				c.Inadmissible = append(c.Inadmissible, u)
			} else {
				c.Pending = append(c.Pending, u)
			}
		}
	}
	for _, p := range e.Pending("") {
		c.NotQueued = append(c.NotQueued, Unscheduled{Namespace: p.Namespace, Name: r.jobName(p.Namespace, p.Name), Workload: p.Name, Reason: p.Reason, Message: p.Message})
	}
	for _, list := range [][]Unscheduled{c.Pending, c.Inadmissible, c.NotQueued} {
		slices.SortStableFunc(list, func(a, b Unscheduled) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Workload, b.Workload))
		})
	}
	return c
}

func (r *result) jobName(namespace, name string) string {
	if w := r.index()[types.NamespacedName{Namespace: namespace, Name: name}]; w != nil {
		return r.shown(w)
	}
	return name
}

// index returns the world's workloads by key.
func (r *result) index() map[types.NamespacedName]*kueue.Workload {
	if r.byKey == nil {
		r.byKey = map[types.NamespacedName]*kueue.Workload{}
		for _, w := range all[*kueue.Workload](r.world) {
			r.byKey[keyOf(w)] = w
		}
	}
	return r.byKey
}

// eventAmounts turns the engine's quantities into base units and adds up equal ones.
func eventAmounts(qs []admission.Quantity) []Amount {
	m := map[flavorResource]int64{}
	for _, q := range qs {
		fr := flavorResource{q.Flavor, q.Resource}
		m[fr] = sum(m[fr], q.Value)
	}
	return amounts(m)
}
