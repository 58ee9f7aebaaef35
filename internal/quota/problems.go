package quota

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Problem is a state of the cluster that explains unexpected figures. Package
// present/quotatext words it.
type Problem struct {
	// Code is one of the constants below.
	Code string
	// Subject is the team, queue, cohort or instance type.
	Subject string
	// Flavor and Resource are set when the problem is about one.
	Flavor, Resource string `json:",omitempty"`
	// Message is a sentence without a full stop, "" until present/quotatext sets it.
	Message string

	Details Details `json:"-"`
}

// Details are the values in the sentence about a Problem, besides its subject.
type Details struct {
	// Object is the ClusterQueue or Cohort, empty for the limit of a team; Team is the team of a CohortCycle.
	Object, Team string
	// Reason is why a queue is stopped or inactive, as Kueue writes it.
	Reason string
	Faults []Fault
	// Count and Workloads are how many workloads, and the first of their names.
	Count     int
	Workloads []string
	// Amount is what is used, reserved or idle; Limit is what it is compared with: a
	// limit, a capacity, or what the team can get. Unhealthy is the part of a capacity
	// on unhealthy nodes.
	Amount, Limit, Unhealthy int64
}

// Concerns reports whether the problem is one of the teams, their cohorts or namespaces.
func (p Problem) Concerns(teams []Team) bool {
	namespace, _, isLocalQueue := strings.Cut(p.Subject, "/")
	return slices.ContainsFunc(teams, func(t Team) bool {
		return p.Subject != "" && (p.Subject == t.Name || p.Subject == t.Cohort) || isLocalQueue && slices.Contains(t.Namespaces, namespace)
	})
}

// The codes of a Problem.
const (
	Overcommitted       = "Overcommitted"       // a team uses what nobody lends
	AboveLimit          = "AboveLimit"          // a team, or a cohort's members together, use more than they may ever hold
	IdleTaken           = "IdleTaken"           // a team cannot get idle quota of its own, because of overcommit elsewhere
	OverCapacity        = "OverCapacity"        // more quota than healthy nodes have
	UndefinedFlavor     = "UndefinedFlavor"     // a queue has quota of a flavor that does not exist
	MissingClusterQueue = "MissingClusterQueue" // a LocalQueue leads nowhere
	LostWorkloads       = "LostWorkloads"       // workloads wait in no queue
	QueueStopped        = "QueueStopped"
	QueueInactive       = "QueueInactive"
	CohortCycle         = "CohortCycle"
	QueueDeleted        = "QueueDeleted"
	NoQuota             = "NoQuota"     // a queue has no resource groups
	QueueFaulty         = "QueueFaulty" // a ClusterQueue that cannot be right, and counts for nothing
)

func (b *builder) problems() []Problem {
	var out []Problem
	put := func(code, subject string, d Details) {
		out = append(out, Problem{Code: code, Subject: subject, Details: d})
	}
	// First what is left out of all figures.
	for i := range b.s.ClusterQueues {
		if bad := Faults(&b.s.ClusterQueues[i]); len(bad) > 0 {
			name := b.s.ClusterQueues[i].Name
			put(QueueFaulty, TeamOf(name), Details{Object: kinds.ClusterQueue.Kind + " " + name, Faults: bad})
		}
	}
	for i := range b.s.Cohorts {
		if bad := CohortFaults(&b.s.Cohorts[i]); len(bad) > 0 {
			name := b.s.Cohorts[i].Name
			put(QueueFaulty, name, Details{Object: kinds.Cohort.Kind + " " + name, Faults: bad})
		}
	}
	for i := range b.r.Teams {
		out = append(out, b.teamProblems(&b.r.Teams[i])...)
	}
	if b.alone {
		return out
	}
	out = append(out, b.cohortProblems()...)
	if b.complete(kinds.ResourceFlavor) {
		defined := map[string]bool{}
		for _, f := range b.s.Flavors {
			defined[f.Name] = true
		}
		for _, q := range b.s.ClusterQueues {
			for _, name := range undefined(q.ResourceGroups, defined) {
				out = append(out, Problem{Code: UndefinedFlavor, Subject: TeamOf(q.Name), Flavor: name})
			}
		}
	}
	if len(b.s.MissingOf(kinds.ClusterQueue)) == 0 {
		for _, l := range b.s.LocalQueues {
			if _, ok := b.r.Tree.queues[l.ClusterQueue]; !ok {
				put(MissingClusterQueue, l.Namespace+"/"+l.Name, Details{Object: l.ClusterQueue})
			}
		}
	}
	if n := len(b.lost); n > 0 && b.complete(kinds.LocalQueue) {
		put(LostWorkloads, "", Details{Count: n, Workloads: firstNames(b.lost)})
	}
	if b.complete(kinds.Node) {
		out = append(out, OverCapacities(b.r.Capacity)...)
	}
	return out
}

// OverCapacities returns the instance types whose quota for accelerators exceeds what
// the healthy nodes have. AWS advises against it. Cpu and memory do not count: quota is in whole
// instances, and nodes always offer less to pods.
func OverCapacities(all []Capacity) []Problem {
	var out []Problem
	whole, anywhere := SumCapacity(all), roaming(all)
	if whole.Nodes == 0 {
		return nil // nodes that were not read, or are made when they are needed
	}
	for _, c := range all {
		for _, name := range slices.Sorted(maps.Keys(c.Reserved)) {
			reserved, has, lacks := c.Reserved[name], c.Capacity[name], c.unhealthy[name]
			if c.AnyType && reserved > 0 {
				// Its pods may run on nodes of every type, beside what the other flavors can use there.
				reserved, has, lacks = anywhere[name], whole.Capacity[name], whole.unhealthy[name]
			}
			if !kinds.Accelerator(name) || reserved <= sub(has, lacks) {
				continue
			}
			out = append(out, Problem{Code: OverCapacity, Subject: c.Name, Resource: name, Details: Details{Amount: reserved, Limit: has, Unhealthy: lacks}})
		}
	}
	return out
}

// roaming returns the quota of the flavors that select no instance type, with the quota of the others as far as the nodes of
// their types have it: what they lack there is not available elsewhere.
func roaming(all []Capacity) state.Amounts {
	out := state.Amounts{}
	for _, c := range all {
		for name, n := range c.Reserved {
			if !c.AnyType {
				n = max(0, min(n, sub(c.Capacity[name], c.unhealthy[name])))
			}
			out[name] = add(out[name], n)
		}
	}
	return out
}

// complete reports a kind that was read as a whole.
func (b *builder) complete(r kinds.Resource) bool { return len(b.s.MissingOf(r)) == 0 }

func (b *builder) teamProblems(t *Team) (out []Problem) {
	put := func(code, subject string, d Details) {
		out = append(out, Problem{Code: code, Subject: subject, Details: d})
	}
	switch t.State {
	case Stopped:
		put(QueueStopped, t.Name, Details{Reason: t.Reason})
	case Inactive:
		put(QueueInactive, t.Name, Details{Reason: t.Reason})
	case Cycle:
		put(CohortCycle, t.Cohort, Details{Team: t.Name})
	case Faulty, Hidden:
		return nil // problems names it; not known
	case Deleted:
		put(QueueDeleted, t.Name, Details{Object: t.ClusterQueue, Count: t.Running})
		return out
	}
	if len(b.r.Tree.queues[t.ClusterQueue].quotas) == 0 {
		put(NoQuota, t.Name, Details{})
	}
	for i := range t.Resources {
		r := &t.Resources[i]
		if r.Overcommit != nil && *r.Overcommit > 0 {
			out = append(out, Problem{Code: Overcommitted, Subject: t.Name, Resource: r.Resource, Details: Details{Amount: *r.Overcommit}})
		}
		for k := range r.Flavors {
			out = append(out, flavorProblems(t, r.Resource, &r.Flavors[k])...)
		}
	}
	return out
}

// flavorProblems returns a team's use above its limit, as after a limit was lowered, and
// idle quota that it cannot get because others use more than there is.
func flavorProblems(t *Team, resource string, f *FlavorRow) (out []Problem) {
	if f.Overcommit == nil || f.Limit == nil || f.Free == nil || f.Lent == nil {
		return nil
	}
	put := func(code string, amount, limit int64) {
		out = append(out, Problem{Code: code, Subject: t.Name, Flavor: f.Flavor, Resource: resource, Details: Details{Amount: amount, Limit: limit}})
	}
	if above := sub(f.Reserved, *f.Limit); above > *f.Overcommit {
		put(AboveLimit, f.Reserved, *f.Limit)
	}
	if idle := sub(f.Idle(), *f.Lent); t.State == Active && *f.Free < idle {
		put(IdleTaken, idle, *f.Free)
	}
	return out
}

// cohortProblems are cohorts whose members use more together than they may ever hold, as after the cohort's borrowing limit
// was lowered. Use that a problem of a member tells is left out.
func (b *builder) cohortProblems() (out []Problem) {
	if !b.r.Complete {
		return nil
	}
	teams := map[string]*Team{}
	for i := range b.r.Teams {
		teams[b.r.Teams[i].ClusterQueue] = &b.r.Teams[i]
	}
	var walk func(n *node) (held, told Usage)
	walk = func(n *node) (held, told Usage) {
		held, told = Usage{}, Usage{}
		if !n.isCohort {
			if t := teams[n.name]; t != nil {
				t.aboveLimits(held, told)
			}
			return held, told
		}
		for _, c := range n.children {
			some, more := walk(c)
			for k := range some {
				held.Add(k, some[k])
				told.Add(k, more[k])
			}
		}
		for _, k := range n.keys() {
			limit := n.most(k)
			if above := sub(held[k], limit); above > told[k] {
				told[k] = above
				out = append(out, Problem{Code: AboveLimit, Subject: n.name, Flavor: k.Flavor, Resource: k.Resource,
					Details: Details{Object: kinds.Cohort.Kind + " " + n.name, Amount: held[k], Limit: limit}})
			}
		}
		return held, told
	}
	for _, n := range b.r.Tree.roots {
		if !n.cyclic {
			walk(n)
		}
	}
	return out
}

// aboveLimits adds what a team holds, and how much of that is overcommit or above its limit.
func (t *Team) aboveLimits(held, told Usage) {
	for i := range t.Resources {
		for _, f := range t.Resources[i].Flavors {
			k, above := Key{f.Flavor, t.Resources[i].Resource}, int64(0)
			if f.Overcommit != nil {
				above = *f.Overcommit
			}
			if f.Limit != nil {
				above = max(above, sub(f.Reserved, *f.Limit))
			}
			held.Add(k, f.Reserved)
			told.Add(k, above)
		}
	}
}

func undefined(groups []state.ResourceGroup, defined map[string]bool) []string {
	var out []string
	for _, g := range groups {
		for _, f := range g.Flavors {
			if !defined[f.Name] && !slices.Contains(out, f.Name) {
				out = append(out, f.Name)
			}
		}
	}
	return out
}

// mostNames are shown of the workloads of a Problem.
const mostNames = 3

// firstNames returns the names of the first few workloads.
func firstNames(workloads []state.Workload) []string {
	var out []string
	for _, w := range workloads[:min(len(workloads), mostNames)] {
		out = append(out, w.Namespace+"/"+w.Name)
	}
	return out
}
