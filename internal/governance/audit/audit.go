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

// Schema is the version of the document's shape.
const Schema = "hyperpod.governance-audit/v1"

// Code is what a Finding is about.
type Code string

// The codes.
const (
	// Starved: jobs of Team wait for Amount of Resource; Holders have it.
	Starved Code = "Starved"
	// Idle: Amount of Resource is idle in Team while For waits; Setting of SettingOf
	// keeps it idle.
	Idle Code = "Idle"
	// Borrowing: Team uses Amount beyond its nominal quota, which others lend.
	Borrowing Code = "Borrowing"
	// Overcommitted: Team uses Amount beyond its nominal quota, which nobody lends.
	Overcommitted Code = "Overcommitted"
	// AboveLimit: Team, or the members of Cohort together, use Amount, and the most they may
	// hold is Limit.
	AboveLimit Code = "AboveLimit"
	// OverCapacity: the quota of all teams for Flavor, an instance type, is Amount, and its healthy nodes have Limit.
	OverCapacity Code = "OverCapacity"
	// NeverRuns: the jobs can never run with the current quota.
	NeverRuns Code = "NeverRuns"
	// QueueMissing: the jobs wait in Name, a LocalQueue ("namespace/name") or ClusterQueue that does not exist.
	QueueMissing Code = "QueueMissing"
	// CannotReclaim: Team has lent Amount and its policy does not take it back.
	CannotReclaim Code = "CannotReclaim"
	// UnusedPriority: no workload has the priority class Name.
	UnusedPriority Code = "UnusedPriority"
	// Drift: the file and the cluster differ; package plan finds these.
	Drift Code = "Drift"
)

// Setting is a field of the ClusterQueue or of the job.
type Setting string

// The settings that keep quota idle.
const (
	CohortName     Setting = "cohortName"     // the teams share no cohort
	LendingLimit   Setting = "lendingLimit"   // the owner lends less
	BorrowingLimit Setting = "borrowingLimit" // the waiting team may not borrow more
	FlavorMissing  Setting = "resourceGroups" // the waiting team has no such flavor
	StopPolicy     Setting = "stopPolicy"     // the waiting team is stopped
	JobSize        Setting = "jobSize"        // the job needs more than is idle
	NodeSelector   Setting = "nodeSelector"   // the jobs select nodes of other flavors
	NotQuota       Setting = "notQuota"       // there is enough quota: nodes, a topology or the order of the queue keep the job
)

// Holder is a team that holds what another one waits for.
type Holder struct {
	Team   string
	Amount float64 // beyond its nominal quota
}

// Finding is one thing to look at. Amounts are in base units.
type Finding struct {
	Code     Code
	Team     string   `json:",omitempty"`
	Cohort   string   `json:",omitempty"`
	Resource string   `json:",omitempty"`
	Flavor   string   `json:",omitempty"`
	Amount   float64  `json:",omitempty"`
	Limit    *float64 `json:",omitempty"`
	Jobs     int      `json:",omitempty"` // how many
	Job      string   `json:",omitempty"` // "namespace/name": the one that waits longest, of Team or, if quota is idle, of For
	Seconds  float64  `json:",omitempty"` // how long it has been waiting
	// Holders are the teams that borrow most of what the team waits for; HoldersTotal counts all that borrow it.
	Holders      []Holder `json:",omitempty"`
	HoldersTotal int      `json:",omitempty"`
	// For is the team that could use what is idle; Setting of SettingOf keeps it from it.
	For       string  `json:",omitempty"`
	Setting   Setting `json:",omitempty"`
	SettingOf string  `json:",omitempty"`
	Name      string  `json:",omitempty"`
	// ChangedBy last changed the object that differs from the file, ChangedAt then.
	ChangedBy string     `json:",omitempty"`
	ChangedAt *time.Time `json:",omitempty"`
	// Message is a sentence; package present/audittext sets it.
	Message string
}

// Document is the answer as JSON.
type Document struct {
	Schema   string
	Time     time.Time
	Findings []Finding
	// Complete is false when some queues or workloads could not be read.
	Complete bool
}

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
		if b := value(row.Borrowed); b > 0 && a.sameCohort(w.team, other) {
			f.Holders = append(f.Holders, Holder{other.Name, quota.Number(w.resource, b)})
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
			if n := value(row.Lent); n > 0 && q != nil && (q.Preemption.ReclaimWithinCohort == "" || q.Preemption.ReclaimWithinCohort == "Never") {
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
