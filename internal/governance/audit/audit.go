// Package audit finds what in the governance of a cluster keeps teams from running: who
// waits for quota that others hold or leave idle, and the one setting that keeps it so.
// It is a pure function of what get-quota and get-queue read.
package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/spread"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Find audits a cluster: r is quota.Build of s, items are all that queue.Build lists.
func Find(s *state.State, r *quota.Report, items []queue.Item) []Finding {
	a := &auditor{s: s, r: r, queues: map[string]*state.ClusterQueue{}, parents: map[string]string{}, labels: map[string]map[string]string{}, podSets: map[queue.Key][]state.PodSet{}}
	for _, f := range s.Flavors {
		a.labels[f.Name] = f.NodeLabels
	}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		a.podSets[queue.Key{Namespace: w.Namespace, Workload: w.Name}] = w.PodSets
	}
	for _, c := range s.Cohorts {
		a.parents[c.Name] = c.Parent
	}
	for i := range s.ClusterQueues {
		a.queues[s.ClusterQueues[i].Name] = &s.ClusterQueues[i]
	}
	a.waiting(items)
	a.lost(items)
	a.overCapacity()
	a.beyond()
	a.aboveLimits()
	a.priorities()
	return a.found
}

// overCapacity finds quota that no healthy nodes stand for, for example because a group of nodes is gone.
func (a *auditor) overCapacity() {
	for _, p := range a.r.Problems {
		if p.Code == quota.OverCapacity {
			has := quota.Number(p.Resource, p.Details.Limit-p.Details.Unhealthy)
			a.found = append(a.found, Finding{Code: OverCapacity, Flavor: p.Subject, Resource: p.Resource, Amount: quota.Number(p.Resource, p.Details.Amount), Limit: &has})
		}
	}
}

type auditor struct {
	s      *state.State
	r      *quota.Report
	queues map[string]*state.ClusterQueue
	// parents are the parents of cohorts.
	parents map[string]string
	// labels are the node labels of flavors, podSets those of workloads.
	labels  map[string]map[string]string
	podSets map[queue.Key][]state.PodSet
	found   []Finding
}

// wait is what one team waits for of one resource.
type wait struct {
	team     *quota.Team
	resource string
	amount   int64
	smallest int64 // the smallest job
	jobs     int
	oldest   queue.Item
	podSets  []state.PodSet // of all its jobs that wait
}

// waiting finds the teams that wait, those that hold what they wait for, and what is
// idle meanwhile.
func (a *auditor) waiting(items []queue.Item) {
	var waits []*wait
	never := map[string]*Finding{}
	var order []string
	for _, it := range items {
		team := a.team(it.ClusterQueue)
		if team == nil {
			continue
		}
		name := it.Namespace + "/" + cmp.Or(it.Job, it.Workload)
		seconds := a.waited(it).Seconds()
		if it.Reason.Code == queue.ExceedsMaxQuota || it.Reason.Code == queue.NoMatchingFlavor || it.Reason.Code == queue.Misconfigured {
			f := never[team.ClusterQueue]
			if f == nil {
				f = &Finding{Code: NeverRuns, Team: team.Name, Job: name, Seconds: seconds}
				never[team.ClusterQueue], order = f, append(order, team.ClusterQueue)
			}
			f.Jobs++
			if seconds > f.Seconds {
				f.Job, f.Seconds = name, seconds
			}
			continue
		}
		resource, n := demand(it)
		i := slices.IndexFunc(waits, func(w *wait) bool { return w.team == team && w.resource == resource })
		if i < 0 {
			i = len(waits)
			waits = append(waits, &wait{team: team, resource: resource, smallest: n, oldest: it})
		}
		w := waits[i]
		w.amount, w.jobs, w.smallest = w.amount+n, w.jobs+1, min(w.smallest, n)
		w.podSets = append(w.podSets, a.podSets[it.Key]...)
		if a.waited(it) > a.waited(w.oldest) {
			w.oldest = it
		}
	}
	slices.SortStableFunc(waits, func(x, y *wait) int { return cmp.Compare(a.waited(y.oldest), a.waited(x.oldest)) })
	for _, w := range waits {
		a.starved(w)
	}
	for _, queue := range order {
		a.found = append(a.found, *never[queue])
	}
}

// waited returns how long a job has waited; 0 is unknown.
func (a *auditor) waited(it queue.Item) time.Duration { return spread.Between(it.Since, a.s.Taken) }

// lost finds the jobs whose queue does not exist.
func (a *auditor) lost(items []queue.Item) {
	at := map[string]int{}
	for _, it := range items {
		name := it.LocalQueue
		switch it.Reason.Detail {
		case queue.LocalQueueMissing:
			name = it.Namespace + "/" + name
		case queue.ClusterQueueMissing:
			name = it.ClusterQueue
		default:
			continue
		}
		i, seen := at[name]
		if !seen {
			i = len(a.found)
			a.found, at[name] = append(a.found, Finding{Code: QueueMissing, Name: name}), i
		}
		f := &a.found[i]
		f.Jobs++
		if seconds := a.waited(it).Seconds(); f.Job == "" || seconds > f.Seconds {
			f.Job, f.Seconds = it.Namespace+"/"+cmp.Or(it.Job, it.Workload), seconds
		}
	}
}

// demand returns the accelerator that a job asks for, or its cpu.
func demand(it queue.Item) (string, int64) {
	best := "cpu"
	for r := range it.Size {
		if kinds.Accelerator(r) && (!kinds.Accelerator(best) || r < best) {
			best = r
		}
	}
	return best, it.Size[best]
}

func (a *auditor) team(clusterQueue string) *quota.Team {
	for i := range a.r.Teams {
		if t := &a.r.Teams[i]; t.ClusterQueue == clusterQueue && clusterQueue != "" {
			return t
		}
	}
	return nil
}

// A team that waits names this many teams with idle quota, those of its cohort first, and this many that borrow, the largest
// amounts first. With all of them, the findings of a cluster would grow with the square of its teams.
const (
	mostIdle    = 3
	mostHolders = 10
)

func (a *auditor) starved(w *wait) {
	f := Finding{Code: Starved, Team: w.team.Name, Resource: w.resource, Amount: quota.Number(w.resource, w.amount), Jobs: w.jobs,
		Job: w.oldest.Namespace + "/" + cmp.Or(w.oldest.Job, w.oldest.Workload), Seconds: a.waited(w.oldest).Seconds()}
	type spare struct {
		team *quota.Team
		row  quota.FlavorRow
		free int64
		rank int // 0: in the cohort, 1: outside, 2: the jobs select nodes of other flavors
	}
	var idle []spare
	for i := range a.r.Teams {
		other := &a.r.Teams[i]
		if other == w.team {
			continue
		}
		row, ok := other.Of(w.resource)
		if !ok {
			continue
		}
		if b := a.borrows(w, row); b > 0 && a.sameCohort(w.team, other) {
			f.Holders = append(f.Holders, Holder{other.Name, quota.Number(w.resource, b)})
		}
		if a.leaving(w.team) || a.leaving(other) {
			continue
		}
		for _, fl := range row.Flavors {
			if free := unused(other, fl); free > 0 {
				idle = append(idle, spare{other, fl, free, a.rank(w, other, fl.Flavor)})
			}
		}
	}
	slices.SortStableFunc(f.Holders, func(x, y Holder) int { return cmp.Compare(y.Amount, x.Amount) })
	f.HoldersTotal = len(f.Holders)
	f.Holders = f.Holders[:min(len(f.Holders), mostHolders)]
	a.found = append(a.found, f)
	slices.SortStableFunc(idle, func(x, y spare) int { return cmp.Or(x.rank-y.rank, cmp.Compare(y.free, x.free)) })
	for _, s := range idle[:min(len(idle), mostIdle)] {
		setting, of := a.keeps(w, s.team, s.row, s.free)
		a.found = append(a.found, Finding{Code: Idle, Team: s.team.Name, Resource: w.resource, Flavor: s.row.Flavor, Amount: quota.Number(w.resource, s.free),
			For: w.team.Name, Job: f.Job, Setting: setting, SettingOf: of})
	}
}

// borrows returns what a row borrows of the flavors that the team's waiting jobs can use.
func (a *auditor) borrows(w *wait, other quota.ResourceRow) (sum int64) {
	mine, _ := w.team.Of(w.resource)
	for _, f := range other.Flavors {
		if a.selects(w, f.Flavor) && slices.ContainsFunc(mine.Flavors, func(m quota.FlavorRow) bool { return m.Flavor == f.Flavor }) {
			sum += value(f.Borrowed)
		}
	}
	return sum
}

// rank orders idle quota by how near a team that waits is to it.
func (a *auditor) rank(w *wait, owner *quota.Team, flavor string) int {
	switch {
	case !a.selects(w, flavor):
		return 2
	case !a.sameCohort(w.team, owner):
		return 1
	}
	return 0
}

// selects reports whether pods that wait can use the nodes of a flavor: their selectors agree with its labels.
func (a *auditor) selects(w *wait, flavor string) bool {
	agrees := func(ps state.PodSet) bool {
		for key, value := range a.labels[flavor] {
			if want, set := ps.NodeSelector[key]; set && want != value {
				return false
			}
		}
		return true
	}
	return len(w.podSets) == 0 || slices.ContainsFunc(w.podSets, agrees)
}

// leaving reports a team whose ClusterQueue is being deleted: it admits nothing, and its quota goes when the last workload that holds
// some ends. No setting matters any more.
func (a *auditor) leaving(t *quota.Team) bool {
	q := a.queues[t.ClusterQueue]
	return q != nil && q.DeletionTimestamp != nil
}

// unused returns the quota of a flavor that is idle. FREE does not count that of a team whose
// queue admits nothing, but other teams of the cohort can borrow it.
func unused(t *quota.Team, f quota.FlavorRow) int64 {
	if t.State == quota.Stopped || t.State == quota.Inactive {
		return max(0, f.Nominal-f.Reserved-value(f.Lent))
	}
	return value(f.Free)
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// sameCohort compares the roots of the cohorts.
func (a *auditor) sameCohort(x, y *quota.Team) bool {
	return x.Cohort != "" && y.Cohort != "" && a.root(x.Cohort) == a.root(y.Cohort)
}

func (a *auditor) root(cohort string) string {
	for range len(a.parents) { // a cycle ends somewhere, too
		if a.parents[cohort] == "" {
			break
		}
		cohort = a.parents[cohort]
	}
	return cohort
}

// keeps returns the setting that keeps idle quota of another team from a team that waits.
func (a *auditor) keeps(w *wait, other *quota.Team, idle quota.FlavorRow, free int64) (Setting, string) {
	row, _ := w.team.Of(w.resource)
	i := slices.IndexFunc(row.Flavors, func(f quota.FlavorRow) bool { return f.Flavor == idle.Flavor })
	switch {
	case w.team.State == quota.Stopped:
		return StopPolicy, w.team.Name
	case i < 0:
		return FlavorMissing, w.team.Name
	case !a.selects(w, idle.Flavor):
		return NodeSelector, w.team.Name
	case !a.sameCohort(w.team, other):
		if len(a.members(other.Cohort)) <= 1 {
			return CohortName, other.Name
		}
		return CohortName, w.team.Name
	}
	mine := row.Flavors[i]
	used := value(mine.Borrowed) + value(mine.Overcommit)
	switch {
	case mine.BorrowingLimit != nil && max(*mine.BorrowingLimit-used, 0)+value(mine.Free) < w.smallest && value(mine.Free)+free >= w.smallest:
		return BorrowingLimit, w.team.Name
	case idle.LendingLimit != nil && *idle.LendingLimit-value(idle.Lent) < free:
		return LendingLimit, other.Name
	}
	if value(mine.Free)+value(mine.Borrowable) >= w.smallest {
		return NotQuota, w.team.Name
	}
	return JobSize, w.team.Name
}

func (a *auditor) members(cohort string) []string {
	var out []string
	for _, t := range a.r.Teams {
		if t.Cohort == cohort && cohort != "" {
			out = append(out, t.Name)
		}
	}
	return out
}

// beyond finds the teams that use more than their nominal quota, and those that cannot
// take back what they lent.
func (a *auditor) beyond() {
	for i := range a.r.Teams {
		t := &a.r.Teams[i]
		for _, row := range t.Resources {
			if !kinds.Accelerator(row.Resource) {
				continue
			}
			if n := value(row.Borrowed); n > 0 {
				a.found = append(a.found, Finding{Code: Borrowing, Team: t.Name, Resource: row.Resource, Amount: quota.Number(row.Resource, n)})
			}
			if n := value(row.Overcommit); n > 0 {
				a.found = append(a.found, Finding{Code: Overcommitted, Team: t.Name, Resource: row.Resource, Amount: quota.Number(row.Resource, n)})
			}
			q := a.queues[t.ClusterQueue]
			if n := value(row.Lent); n > 0 && q != nil && !a.leaving(t) && (q.Preemption.ReclaimWithinCohort == "" || q.Preemption.ReclaimWithinCohort == "Never") {
				a.found = append(a.found, Finding{Code: CannotReclaim, Team: t.Name, Resource: row.Resource, Amount: quota.Number(row.Resource, n),
					Setting: "preemption.reclaimWithinCohort", SettingOf: t.Name})
			}
		}
	}
}

// aboveLimits finds the teams and cohorts that get-quota reports above their limit.
func (a *auditor) aboveLimits() {
	for _, p := range a.r.Problems {
		if p.Code != quota.AboveLimit || !kinds.Accelerator(p.Resource) {
			continue
		}
		limit := quota.Number(p.Resource, p.Details.Limit)
		f := Finding{Code: AboveLimit, Resource: p.Resource, Flavor: p.Flavor, Amount: quota.Number(p.Resource, p.Details.Amount), Limit: &limit}
		if p.Details.Object != "" {
			f.Cohort = p.Subject
		} else {
			f.Team = p.Subject
		}
		a.found = append(a.found, f)
	}
}

// priorities finds classes that no workload has.
func (a *auditor) priorities() {
	if len(a.s.MissingOf(kinds.Workload)) > 0 {
		return
	}
	used := map[string]bool{}
	for i := range a.s.Workloads {
		used[a.s.Workloads[i].PriorityClass] = true
	}
	for _, c := range a.s.PriorityClasses {
		if !used[c.Name] {
			a.found = append(a.found, Finding{Code: UnusedPriority, Name: c.Name})
		}
	}
}
