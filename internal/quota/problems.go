package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Problem is a state of the cluster that explains unexpected figures.
type Problem struct {
	// Code is one of the constants below.
	Code string
	// Subject is the team, queue, cohort or instance type.
	Subject string
	// Flavor and Resource are set when the problem is about one.
	Flavor, Resource string `json:",omitempty"`
	Message          string // a sentence without a full stop
}

// Concerns reports whether the problem is one of the teams, their cohorts or namespaces.
func (p Problem) Concerns(teams []Team) bool {
	namespace, _, isLocalQueue := strings.Cut(p.Subject, "/")
	return slices.ContainsFunc(teams, func(t Team) bool {
		return p.Subject != "" && (p.Subject == t.Name || p.Subject == t.Cohort) || isLocalQueue && slices.Contains(t.Namespaces, namespace)
	})
}

// adder adds a problem and returns it for further fields. The pointer is valid until the
// next call.
type adder func(code, subject, format string, args ...any) *Problem

// The codes of a Problem.
const (
	Overcommitted       = "Overcommitted"       // a team uses what nobody lends
	AboveLimit          = "AboveLimit"          // a team uses more than it may ever hold
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
	QueueFaulty         = "QueueFaulty" // a queue or cohort that cannot be right, and counts for nothing
)

func (b *builder) problems() []Problem {
	var out []Problem
	put := func(code, subject, format string, args ...any) *Problem {
		out = append(out, Problem{Code: code, Subject: subject, Message: fmt.Sprintf(format, args...)})
		return &out[len(out)-1]
	}
	// First what is left out of all figures.
	for i := range b.s.ClusterQueues {
		if bad := Faults(&b.s.ClusterQueues[i]); len(bad) > 0 {
			put(QueueFaulty, TeamOf(b.s.ClusterQueues[i].Name), "ClusterQueue %s is invalid and ignored: %s", b.s.ClusterQueues[i].Name, strings.Join(bad, "; "))
		}
	}
	for i := range b.s.Cohorts {
		if bad := CohortFaults(&b.s.Cohorts[i]); len(bad) > 0 {
			put(QueueFaulty, b.s.Cohorts[i].Name, "Cohort %s is invalid and ignored: %s", b.s.Cohorts[i].Name, strings.Join(bad, "; "))
		}
	}
	for i := range b.r.Teams {
		b.teamProblems(&b.r.Teams[i], put)
	}
	if b.alone {
		return out
	}
	if b.complete(kinds.ResourceFlavor) {
		defined := map[string]bool{}
		for _, f := range b.s.Flavors {
			defined[f.Name] = true
		}
		for _, q := range b.s.ClusterQueues {
			for _, name := range undefined(q.ResourceGroups, defined) {
				put(UndefinedFlavor, TeamOf(q.Name), "%s has quota for flavor %s, which does not exist", TeamOf(q.Name), name).Flavor = name
			}
		}
	}
	if len(b.s.MissingOf(kinds.ClusterQueue)) == 0 {
		for _, l := range b.s.LocalQueues {
			if _, ok := b.r.Tree.queues[l.ClusterQueue]; !ok {
				put(MissingClusterQueue, l.Namespace+"/"+l.Name, "LocalQueue %s/%s uses ClusterQueue %s, which does not exist", l.Namespace, l.Name, l.ClusterQueue)
			}
		}
	}
	if n := len(b.lost); n > 0 && b.complete(kinds.LocalQueue) {
		put(LostWorkloads, "", "%s in a queue that does not exist; PENDING does not count them: %s", count(n, "workload waits", "workloads wait"), someNames(b.lost))
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
	whole := SumCapacity(all)
	if whole.Nodes == 0 {
		return nil // nodes that were not read, or are made when they are needed
	}
	for _, c := range all {
		for _, name := range slices.Sorted(maps.Keys(c.Reserved)) {
			reserved, has, lacks := c.Reserved[name], c.Capacity[name], c.unhealthy[name]
			if c.AnyType && reserved > 0 {
				// Its pods may run on nodes of every type, with those of the other flavors.
				reserved, has, lacks = whole.Reserved[name], whole.Capacity[name], whole.unhealthy[name]
			}
			if !kinds.Accelerator(name) || reserved <= sub(has, lacks) {
				continue
			}
			message := fmt.Sprintf("the quota of all teams exceeds capacity: %s %s of %s, and the nodes have %s", Text(name, reserved), name, c.Name, Text(name, has))
			if lacks > 0 {
				message += fmt.Sprintf(", %s of it on unhealthy nodes", Text(name, lacks))
			}
			out = append(out, Problem{Code: OverCapacity, Subject: c.Name, Resource: name, Message: message})
		}
	}
	return out
}

// complete reports a kind that was read as a whole.
func (b *builder) complete(r kinds.Resource) bool { return len(b.s.MissingOf(r)) == 0 }

func (b *builder) teamProblems(t *Team, put adder) {
	switch t.State {
	case Stopped:
		put(QueueStopped, t.Name, "the queue of %s is stopped (%s): Kueue admits no new workloads", t.Name, t.Reason)
	case Inactive:
		put(QueueInactive, t.Name, "the queue of %s is inactive (%s): Kueue admits no workloads", t.Name, t.Reason)
	case Cycle:
		put(CohortCycle, t.Cohort, "cohort %s of %s is its own ancestor: Kueue keeps the queue inactive", t.Cohort, t.Name)
	case Faulty, Hidden:
		return // said above; not known
	case Deleted:
		put(QueueDeleted, t.Name, "ClusterQueue %s does not exist, but %s its quota", t.ClusterQueue, count(t.Running, "workload holds", "workloads hold"))
		return
	}
	if len(b.r.Tree.queues[t.ClusterQueue].quotas) == 0 {
		put(NoQuota, t.Name, "%s has no quota", t.Name)
	}
	for i := range t.Resources {
		r := &t.Resources[i]
		if r.Overcommit != nil && *r.Overcommit > 0 {
			put(Overcommitted, t.Name, "%s uses %s %s more than its quota and what others lend (OVERCOMMIT)", t.Name, Text(r.Resource, *r.Overcommit), r.Resource).Resource = r.Resource
		}
		for k := range r.Flavors {
			flavorProblems(t, r.Resource, &r.Flavors[k], put)
		}
	}
}

// flavorProblems are a team's use above its limit, as after a limit was lowered, and
// idle quota that it cannot get because others use more than there is.
func flavorProblems(t *Team, resource string, f *FlavorRow, put adder) {
	if f.Overcommit == nil || f.Limit == nil || f.Free == nil || f.Lent == nil {
		return
	}
	say := func(code, format string, args ...any) {
		p := put(code, t.Name, format, args...)
		p.Flavor, p.Resource = f.Flavor, resource
	}
	if above := sub(f.Reserved, *f.Limit); above > *f.Overcommit {
		say(AboveLimit, "%s uses %s %s of %s, and its limit is %s", t.Name, Text(resource, f.Reserved), resource, f.Flavor, Text(resource, *f.Limit))
	}
	if idle := sub(f.Idle(), *f.Lent); t.State == Active && *f.Free < idle {
		say(IdleTaken, "%s can get %s of its %s idle %s of %s: other teams use more than their quota and what others lend", t.Name,
			Text(resource, *f.Free), Text(resource, idle), resource, f.Flavor)
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

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// someNames lists the first few workloads.
func someNames(workloads []state.Workload) string {
	var out []string
	for i, w := range workloads {
		if i == 3 {
			return strings.Join(out, ", ") + " and more"
		}
		out = append(out, w.Namespace+"/"+w.Name)
	}
	return strings.Join(out, ", ")
}
