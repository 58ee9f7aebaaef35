package quota

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Figures are the amounts of one key, or sums of them. A nil pointer is an unknown amount, because something could not
// be read.
type Figures struct {
	// Nominal is its own quota. Reserved is what its workloads hold of any quota; Used is what the admitted ones hold.
	Nominal, Reserved, Used int64
	// NominalHidden reports that Nominal is unknown, because there is no permission to read the queue.
	NominalHidden bool
	// Borrowed is the use beyond Nominal that others lend, Overcommit the use
	// beyond Nominal that nobody lends. Together they are what Kueue's status calls
	// borrowed, for a queue in a cohort.
	Borrowed, Overcommit *int64
	// Lent is the part of Nominal that others use, by the convention of this package.
	Lent *int64
	// Free is the part of Nominal that is neither used nor lent and is available now.
	// Borrowable is what can be borrowed now in addition. Together they are what Kueue
	// would admit now without preemption.
	Free, Borrowable *int64
	// Lendable is the idle part of Nominal that others can borrow now.
	Lendable *int64
	// Limit is the most that the team can ever hold, if all others are idle.
	Limit *int64
	// AtMost replaces an unknown Limit: nominal quota and borrowing limit together; nil if those are unknown too.
	AtMost *int64
}

// FlavorRow is a team's figures for one flavor of a resource.
type FlavorRow struct {
	Flavor string
	Figures
	// BorrowingLimit and LendingLimit are as set; nil without a limit.
	BorrowingLimit, LendingLimit *int64
}

// ResourceRow is a team's figures for one resource, over all flavors.
type ResourceRow struct {
	Resource string
	Figures
	// Pending is the sum of the requests of pending workloads; nil if they cannot be read.
	Pending *int64
	Flavors []FlavorRow
}

// The states of a team.
const (
	Active   = "Active"
	Stopped  = "Stopped"  // its queue takes nothing new (stopPolicy)
	Inactive = "Inactive" // Kueue cannot use the queue: see its reason
	Cycle    = "CohortCycle"
	Faulty   = "Faulty"  // its quota cannot be right (see [Faults]): it is as if it was not there
	Deleted  = "Deleted" // workloads hold quota of a queue that is gone
	Hidden   = "Hidden"  // its ClusterQueue may not be read: only its use is known
)

// Team is one ClusterQueue with its LocalQueues and namespaces.
type Team struct {
	Name         string
	ClusterQueue string
	Namespaces   []string // whose LocalQueues lead to it
	Cohort       string
	State        string
	// Reason is Kueue's message about a state other than Active. If there is none, present/quotatext sets it.
	Reason      string
	Faults      []Fault // of a Faulty team
	IdleSharing bool    // shares what no team has reserved
	Share       Share
	Resources   []ResourceRow
	// Running and Waiting count workloads: admitted or reserving, and pending.
	Running, Waiting int
}

// Of returns the team's row of a resource.
func (t *Team) Of(resource string) (ResourceRow, bool) {
	for _, r := range t.Resources {
		if r.Resource == resource {
			return r, true
		}
	}
	return ResourceRow{Resource: resource}, false
}

// Sources of what is used.
const (
	FromWorkloads = "Workloads" // summed from all of them
	FromStatus    = "Status"    // as the ClusterQueues' status says, up to seconds old
)

// Report is the quota of all teams and cohorts.
type Report struct {
	Taken    time.Time
	Teams    []Team // by name; idle-sharing ones and deleted ones last
	Tree     *Tree
	Source   string     // FromWorkloads or FromStatus
	Complete bool       // all queues and cohorts could be read
	Capacity []Capacity // nil when the nodes were not read
	Problems []Problem

	leads func(*state.Workload) string
}

// Leads returns the function that returns the ClusterQueue in which a workload waits; "" if it is unknown.
func (r *Report) Leads() func(*state.Workload) string { return r.leads }

// Build makes the report from what was read of a cluster: ClusterQueues, Cohorts,
// LocalQueues, Workloads with their pod sets, ResourceFlavors and Nodes, or as
// much of that as could be read.
func Build(s *state.State) *Report {
	return build(builder{s: s, workloads: len(s.MissingOf(kinds.Workload)) == 0})
}

// FromQueues builds the report from ClusterQueues and Cohorts alone. Use comes from the status of the ClusterQueues.
// Pending workloads are counted, but their requests are unknown. There is nothing about flavors, LocalQueues and nodes.
func FromQueues(s *state.State) *Report { return build(builder{s: s, alone: true}) }

// Use is what workloads hold and their number, by ClusterQueue.
type Use struct {
	Reserved, Used   map[string]Usage
	Running, Waiting map[string]int
}

// FromUse builds the report of a state without workloads; use replaces them. The requests of pending workloads are
// unknown.
func FromUse(s *state.State, use Use) *Report {
	return build(builder{s: s, workloads: true, use: &use})
}

func build(b builder) *Report {
	s := b.s
	b.r = &Report{Taken: s.Taken, Source: FromStatus}
	b.queueOf, b.namespaces = map[string]string{}, map[string][]string{}
	b.r.Complete = len(s.MissingOf(kinds.ClusterQueue)) == 0 && readable(s, kinds.Cohort)
	b.queues()
	b.r.leads = b.clusterQueueOf
	b.usage()
	b.r.Tree = NewTree(s.ClusterQueues, s.Cohorts, b.reserved)
	b.pending()
	for i := range s.ClusterQueues {
		b.team(&s.ClusterQueues[i])
	}
	b.orphans()
	b.hidden()
	slices.SortStableFunc(b.r.Teams, func(x, y Team) int {
		if a, b := rank(x), rank(y); a != b {
			return a - b
		}
		return strings.Compare(x.Name, y.Name)
	})
	if !b.alone && b.complete(kinds.Node) {
		b.r.Capacity = capacities(s)
	}
	b.r.Problems = b.problems()
	return b.r
}

func rank(t Team) int {
	switch {
	case t.State == Deleted:
		return 2
	case t.IdleSharing:
		return 1
	}
	return 0
}

// readable reports whether nothing of a kind is missing, except perhaps the kind itself.
func readable(s *state.State, r kinds.Resource) bool {
	for _, m := range s.MissingOf(r) {
		if m.Reason != state.NotServed {
			return false
		}
	}
	return true
}

// builder is one Build under way.
type builder struct {
	s              *state.State
	r              *Report
	workloads      bool // all of them are known
	alone          bool // only queues and cohorts were read
	use            *Use // of FromUse
	reserved, used map[string]Usage
	queueOf        map[string]string        // ClusterQueue by namespace/LocalQueue
	namespaces     map[string][]string      // by ClusterQueue
	demand         map[string]state.Amounts // by ClusterQueue
	waiting        map[string]int
	running        map[string]int
	lost           []state.Workload // wait in a queue that does not exist
}

func (b *builder) queues() {
	for _, q := range b.s.LocalQueues {
		b.queueOf[q.Namespace+"/"+q.Name] = q.ClusterQueue
		if !slices.Contains(b.namespaces[q.ClusterQueue], q.Namespace) {
			b.namespaces[q.ClusterQueue] = append(b.namespaces[q.ClusterQueue], q.Namespace)
		}
	}
	for _, n := range b.namespaces {
		slices.Sort(n)
	}
}

// clusterQueueOf returns the ClusterQueue that a workload waits in, "" if it is unknown.
func (b *builder) clusterQueueOf(w *state.Workload) string {
	if q := b.queueOf[w.Namespace+"/"+w.QueueName]; q != "" {
		return q
	}
	if readable(b.s, kinds.LocalQueue) {
		return ""
	}
	return managedQueueOf(w.Namespace, w.QueueName)
}

func (b *builder) usage() {
	if b.use != nil {
		b.r.Source, b.reserved, b.used = FromWorkloads, b.use.Reserved, b.use.Used
		return
	}
	if b.workloads {
		b.r.Source = FromWorkloads
		b.reserved, b.used = usages(b.s.Workloads)
		return
	}
	b.reserved, b.used = map[string]Usage{}, map[string]Usage{}
	for _, q := range b.s.ClusterQueues {
		b.reserved[q.Name], b.used[q.Name] = statusUsage(q.Reservation), statusUsage(q.Usage)
	}
}

func (b *builder) pending() {
	b.demand, b.waiting, b.running = map[string]state.Amounts{}, map[string]int{}, map[string]int{}
	if b.use != nil {
		b.waiting, b.running = b.use.Waiting, b.use.Running
		return
	}
	for i := range b.s.Workloads {
		w := &b.s.Workloads[i]
		if Holds(w) {
			b.running[w.Admission.ClusterQueue]++
		}
		if !Waits(w) {
			continue
		}
		queue := b.clusterQueueOf(w)
		if queue == "" {
			b.lost = append(b.lost, *w)
			continue
		}
		b.waiting[queue]++
		if b.demand[queue] == nil {
			b.demand[queue] = state.Amounts{}
		}
		for name, n := range demandOf(w) {
			b.demand[queue][name] = add(b.demand[queue][name], n)
		}
	}
}

// team adds the row of a ClusterQueue.
func (b *builder) team(q *state.ClusterQueue) {
	t := Team{Name: TeamOf(q.Name), ClusterQueue: q.Name, Namespaces: b.namespaces[q.Name], Cohort: q.Cohort,
		IdleSharing: IsIdleSharing(q.Name), Share: b.share(q), Running: b.running[q.Name], Waiting: b.waiting[q.Name]}
	t.Faults = Faults(q)
	t.State, t.Reason = b.stateOf(q, t.Faults)
	pending := b.pendingKnown(q)
	if b.r.Source == FromStatus {
		t.Running = q.Reserving
	}
	if !pending {
		t.Waiting = q.Pending
	}
	t.Resources = b.rows(q.Name, pending, func(k Key) FlavorRow { return b.flavor(q, t.State, k) })
	b.r.Teams = append(b.r.Teams, t)
}

// rows returns what a queue has, holds and waits for: a row for each resource, with its
// flavors.
func (b *builder) rows(queue string, pending bool, flavor func(Key) FlavorRow) []ResourceRow {
	return rowsOf(b.keysOf(queue), b.demand[queue], pending, flavor)
}

// rowsOf returns a row for each resource of the keys and of what waits. pending reports that
// all that waits is known.
func rowsOf(keys []Key, demand state.Amounts, pending bool, flavor func(Key) FlavorRow) []ResourceRow {
	names := make([]string, 0, 4)
	for _, k := range keys {
		if !slices.Contains(names, k.Resource) {
			names = append(names, k.Resource)
		}
	}
	for name := range demand {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []ResourceRow
	for _, name := range names {
		row := ResourceRow{Resource: name}
		for _, k := range keys {
			if k.Resource == name {
				row.Flavors = append(row.Flavors, flavor(k))
			}
		}
		row.Figures = sumFlavors(row.Flavors)
		if pending {
			n := demand[name]
			row.Pending = &n
		}
		if out == nil {
			out = make([]ResourceRow, 0, len(names))
		}
		out = append(out, row)
	}
	return out
}

// pendingKnown reports that all waiting workloads of a queue could be read, and are known
// to be in this queue.
func (b *builder) pendingKnown(q *state.ClusterQueue) bool {
	return b.allKnown() || b.waiting[q.Name] >= q.Pending
}

// allKnown reports whether all workloads were read, and that the queue of each is known.
func (b *builder) allKnown() bool {
	return b.workloads && (len(b.lost) == 0 || b.complete(kinds.LocalQueue))
}

// keysOf returns what a queue has quota or use of.
func (b *builder) keysOf(queue string) []Key {
	seen := map[Key]bool{}
	if n := b.r.Tree.queues[queue]; n != nil {
		for k := range n.quotas {
			seen[k] = true
		}
	}
	for k, n := range b.reserved[queue] {
		if n > 0 {
			seen[k] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), compareKeys)
}

// stateOf returns a team's state, with Kueue's reason for it. faults are those of its
// queue.
func (b *builder) stateOf(q *state.ClusterQueue, faults []Fault) (name, reason string) {
	if len(faults) > 0 {
		return Faulty, ""
	}
	if b.r.Tree.queues[q.Name].cyclic {
		return Cycle, ""
	}
	if q.StopPolicy != "" && q.StopPolicy != "None" {
		return Stopped, q.StopPolicy
	}
	if c, ok := state.Find(q.Conditions, "Active"); ok && c.Status == "False" {
		return Inactive, c.Reason
	}
	return Active, ""
}

// orphans adds teams whose ClusterQueue is gone while workloads hold its quota.
func (b *builder) orphans() {
	if !b.r.Complete {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.reserved)) {
		if _, ok := b.r.Tree.queues[name]; ok {
			continue
		}
		t := Team{Name: TeamOf(name), ClusterQueue: name, Namespaces: b.namespaces[name], State: Deleted,
			Share: Share{Weight: 1}, Running: b.running[name], Waiting: b.waiting[name]}
		t.Resources = b.rows(name, b.allKnown(), func(k Key) FlavorRow {
			n, zero := b.reserved[name][k], int64(0)
			return FlavorRow{Flavor: k.Flavor, Figures: Figures{Reserved: n, Used: b.used[name][k], Borrowed: &zero, Overcommit: &n, Lent: &zero,
				Free: &zero, Borrowable: &zero, Limit: &zero, Lendable: &zero}}
		})
		b.r.Teams = append(b.r.Teams, t)
	}
}
