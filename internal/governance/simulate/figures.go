package simulate

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TeamState is the state and the quota of a team. The figures are those of get-quota (package quota), by flavor and
// resource without zeros.
type TeamState struct {
	// State and Reason are those of the queue: Active, Stopped, Inactive and so on.
	State, Reason string
	Counts
	Nominal, Reserved, Used    []Amount
	Borrowed, Overcommit, Lent []Amount
	Limit, Free, Borrowable    []Amount
}

// Counts are numbers of jobs by their state.
type Counts struct {
	Admitted, Evicting, WaitsForNodes, Waiting, Preempted, Never, Unknown int
	JobsLost                                                              int `json:",omitempty"`
}

// of returns the counter of a state, nil for a state that is not counted.
func (c *Counts) of(jobState string) *int {
	switch jobState {
	case Admitted, QuotaReserved:
		return &c.Admitted
	case Evicting:
		return &c.Evicting
	case WaitsForNodes:
		return &c.WaitsForNodes
	case Waiting:
		return &c.Waiting
	case Preempted:
		return &c.Preempted
	case Lost:
		return &c.JobsLost
	case Never:
		return &c.Never
	case Unknown:
		return &c.Unknown
	}
	return nil
}

// add adds n jobs of a state. A suspended job waits for nothing: it does not count.
func (c *Counts) add(s *JobState, n int) {
	if counter := c.of(s.State); counter != nil && !s.suspended {
		*counter += n
	}
}

// plus returns the sum of two counts.
func (c Counts) plus(o Counts) Counts {
	return Counts{
		Admitted: c.Admitted + o.Admitted, Evicting: c.Evicting + o.Evicting, WaitsForNodes: c.WaitsForNodes + o.WaitsForNodes,
		Waiting: c.Waiting + o.Waiting, Preempted: c.Preempted + o.Preempted, JobsLost: c.JobsLost + o.JobsLost, Never: c.Never + o.Never, Unknown: c.Unknown + o.Unknown,
	}
}

// report makes the quota of the world after the run, as get-quota has it. It is large: see figures for what is kept of it.
func (r *result) report() *quota.Report {
	s := &state.State{Taken: r.world.Now}
	for _, q := range all[*kueue.ClusterQueue](r.world) {
		out := admission.QuotaOf(q)
		if c, idle := r.idle[q.Name]; idle {
			out.Conditions = []state.Condition{c}
		}
		s.ClusterQueues = append(s.ClusterQueues, out)
	}
	for _, c := range all[*kueue.Cohort](r.world) {
		s.Cohorts = append(s.Cohorts, admission.CohortQuotaOf(c))
	}
	for _, f := range all[*kueue.ResourceFlavor](r.world) {
		s.Flavors = append(s.Flavors, state.ResourceFlavor{Meta: state.Meta{Name: f.Name}, NodeLabels: f.Spec.NodeLabels})
	}
	for _, q := range all[*kueue.LocalQueue](r.world) {
		s.LocalQueues = append(s.LocalQueues, state.LocalQueue{Meta: state.Meta{Namespace: q.Namespace, Name: q.Name}, ClusterQueue: string(q.Spec.ClusterQueue)})
	}
	for _, n := range all[*corev1.Node](r.world) {
		s.Nodes = append(s.Nodes, nodeState(n))
	}
	return quota.FromUse(s, r.use())
}

// use returns what the workloads hold after the run.
func (r *result) use() quota.Use {
	u := quota.Use{Reserved: map[string]quota.Usage{}, Used: map[string]quota.Usage{}, Running: map[string]int{}, Waiting: map[string]int{}}
	book := func(to map[string]quota.Usage, queue string, what quota.Usage) {
		if to[queue] == nil {
			to[queue] = quota.Usage{}
		}
		for k, n := range what {
			to[queue].Add(k, n)
		}
	}
	for _, s := range r.states {
		switch {
		case inputs.Reserves(s.object):
			u.Running[s.ClusterQueue]++
			book(u.Reserved, s.ClusterQueue, inputs.Holds(s.object))
			if apimeta.IsStatusConditionTrue(s.object.Status.Conditions, kueue.WorkloadAdmitted) {
				book(u.Used, s.ClusterQueue, inputs.Holds(s.object))
			}
		case s.State != Finished && !s.suspended:
			u.Waiting[s.ClusterQueue]++
		}
	}
	return u
}

func nodeState(n *corev1.Node) state.Node {
	amounts := func(list corev1.ResourceList) state.Amounts {
		out := make(state.Amounts, len(list))
		for name, q := range list {
			out[string(name)] = quota.AmountOf(string(name), q)
		}
		return out
	}
	out := state.Node{Meta: state.Meta{Name: n.Name, Labels: n.Labels}, Unschedulable: n.Spec.Unschedulable,
		Capacity: amounts(n.Status.Capacity), Allocatable: amounts(n.Status.Allocatable)}
	out.Ready = slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return out
}

// teamStates returns the figures of every ClusterQueue that is not left out.
func (r *result) teamStates() map[string]*TeamState {
	r.figures()
	return r.teams
}

// figures keeps what the comparison needs of the report: the states of the teams, and the problems.
func (r *result) figures() {
	if r.teams != nil {
		return
	}
	report := r.report()
	r.teams, r.faults = make(map[string]*TeamState, len(report.Teams)), report.Problems
	for i := range report.Teams {
		t := &report.Teams[i]
		if t.State == quota.Faulty || t.State == quota.Deleted {
			continue
		}
		r.teams[t.ClusterQueue] = stateOfTeam(t)
	}
	for _, s := range r.states {
		if t := r.teams[s.ClusterQueue]; t != nil {
			t.add(&s.JobState, 1)
		}
	}
}

func stateOfTeam(t *quota.Team) *TeamState {
	out := &TeamState{State: t.State, Reason: t.Reason}
	lists := []struct {
		to *[]Amount
		of func(*quota.Figures) *int64
	}{
		{&out.Nominal, func(f *quota.Figures) *int64 { return &f.Nominal }},
		{&out.Reserved, func(f *quota.Figures) *int64 { return &f.Reserved }},
		{&out.Used, func(f *quota.Figures) *int64 { return &f.Used }},
		{&out.Borrowed, func(f *quota.Figures) *int64 { return f.Borrowed }},
		{&out.Overcommit, func(f *quota.Figures) *int64 { return f.Overcommit }},
		{&out.Lent, func(f *quota.Figures) *int64 { return f.Lent }},
		{&out.Limit, func(f *quota.Figures) *int64 { return f.Limit }},
		{&out.Free, func(f *quota.Figures) *int64 { return f.Free }},
		{&out.Borrowable, func(f *quota.Figures) *int64 { return f.Borrowable }},
	}
	for _, l := range lists {
		list := []Amount{}
		for i := range t.Resources {
			for k := range t.Resources[i].Flavors {
				f := &t.Resources[i].Flavors[k]
				if n := l.of(&f.Figures); n != nil && *n != 0 {
					list = append(list, amountOf(flavorResource{f.Flavor, t.Resources[i].Resource}, min(*n, most)))
				}
			}
		}
		*l.to = sortAmounts(list)
	}
	return out
}

// Totals count jobs and what is borrowed over all teams.
type Totals struct {
	Settled bool
	Counts
	Borrowed, Overcommit []Amount
}

func totals(r *result) Totals {
	t := Totals{Settled: r.settled}
	borrowed, over := map[flavorResource]int64{}, map[flavorResource]int64{}
	add := func(to map[flavorResource]int64, list []Amount) {
		for _, a := range list {
			fr := flavorResource{a.Flavor, a.Resource}
			to[fr] = sum(to[fr], a.exact)
		}
	}
	for _, s := range r.teamStates() {
		t.Counts = t.plus(s.Counts)
		add(borrowed, s.Borrowed)
		add(over, s.Overcommit)
	}
	t.Borrowed, t.Overcommit = amounts(borrowed), amounts(over)
	return t
}

// Problem is something that get-quota would report, before or after the changes.
type Problem struct {
	quota.Problem
	// Change is Added, Kept or Resolved.
	Change string
}

// What changes do to a Problem.
const (
	Added    = "Added"
	Kept     = "Kept"
	Resolved = "Resolved"
)

// problems returns those of either side. Those that the changes bring come first.
func problems(before, after *result) []Problem {
	before.figures()
	after.figures()
	type id struct{ code, subject, flavor, resource string }
	of := func(p quota.Problem) id { return id{p.Code, p.Subject, p.Flavor, p.Resource} }
	was := map[id]quota.Problem{}
	for _, p := range before.faults {
		was[of(p)] = p
	}
	fresh, kept, gone := []Problem{}, []Problem{}, []Problem{}
	for _, p := range after.faults {
		if _, old := was[of(p)]; old {
			kept = append(kept, Problem{p, Kept})
			delete(was, of(p))
		} else {
			fresh = append(fresh, Problem{p, Added})
		}
	}
	for _, p := range before.faults {
		if _, left := was[of(p)]; left {
			gone = append(gone, Problem{p, Resolved})
		}
	}
	return append(append(fresh, kept...), gone...)
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
