package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Live holds the objects that govern a cluster now.
type Live struct {
	Objects
	// FairSharing is Kueue's configuration; nil where it cannot be read.
	FairSharing *bool
	// Leaving are ClusterQueues that are being deleted: Kueue keeps them until the workloads that hold their quota end. They
	// are not in Objects.
	Leaving []*kueue.ClusterQueue
}

// SetApart moves the ClusterQueues that are being deleted to Leaving.
func (l *Live) SetApart() {
	l.ClusterQueues = slices.DeleteFunc(slices.Clone(l.ClusterQueues), func(q *kueue.ClusterQueue) bool {
		if q.DeletionTimestamp != nil {
			l.Leaving = append(l.Leaving, q)
		}
		return q.DeletionTimestamp != nil
	})
}

// Deleted is an object that is being deleted.
type Deleted struct{ Kind, Name string }

// Deleted returns the objects that a document wants, and that are being deleted.
func (l *Live) Deleted(want *Objects) []Deleted {
	return slices.Concat(deleted(kinds.ClusterQueue, want.ClusterQueues, l.Leaving), deleted(kinds.ResourceFlavor, want.Flavors, l.Flavors),
		deleted(kinds.Cohort, want.Cohorts, l.Cohorts), deleted(kinds.Namespace, want.Namespaces, l.Namespaces))
}

func deleted[T any, P interface {
	*T
	client.Object
}](r kinds.Resource, want, have []P) (out []Deleted) {
	there := byName(have)
	for _, w := range want {
		if o := there[named(w)]; o != nil && o.GetDeletionTimestamp() != nil {
			out = append(out, Deleted{r.Kind, o.GetName()})
		}
	}
	return out
}

// NoteCode is what a document leaves out.
type NoteCode string

// The notes on an export.
const (
	// FairSharingUnread: Kueue's configuration cannot be read.
	FairSharingUnread NoteCode = "FairSharingUnread"
	// BeyondTerms: the ClusterQueue has fields that the terms of the document cannot
	// express; they are in kueue.spec.
	BeyondTerms NoteCode = "BeyondTerms"
	// IdleQueue: the service makes and sizes this queue; no team stands behind it.
	IdleQueue NoteCode = "IdleQueue"
	// UnknownValue: the service has a value of Fields that this program does not know.
	UnknownValue NoteCode = "UnknownValue"
	// TwiceAllocated: several compute allocations are for the same team.
	TwiceAllocated NoteCode = "TwiceAllocated"
	// SeveralPolicies: the cluster has several policies; Value is the one that counts.
	SeveralPolicies NoteCode = "SeveralPolicies"
)

// Note is a remark on an export.
type Note struct {
	Code   NoteCode
	Team   string   `json:",omitempty"`
	Queue  string   `json:",omitempty"`
	Fields []string `json:",omitempty"`
	Value  string   `json:",omitempty"`
}

// FromKueue returns the document of a cluster. ToKueue maps it back to objects in which Differences finds no difference.
func FromKueue(l *Live, m Mapping) (*Document, []Note) {
	x := &exporter{mapper: newMapper(m), live: l,
		doc: &Document{Version: Version}, names: map[string]bool{}, last: map[string]int{},
		locals: map[string][]Local{}, inactive: map[string]bool{}, values: map[string]any{}}
	for _, q := range l.LocalQueues {
		name := string(q.Spec.ClusterQueue)
		x.locals[name] = append(x.locals[name], Local{q.Namespace, q.Name})
	}
	for _, ns := range l.Namespaces {
		x.inactive[ns.Name] = x.inactive[ns.Name] || ns.Labels[labelActivate] == Disabled
	}
	x.policy()
	queues := slices.Clone(l.ClusterQueues)
	slices.SortFunc(queues, func(a, b *kueue.ClusterQueue) int { return cmp.Compare(a.Name, b.Name) })
	for _, q := range queues {
		if quota.IsIdleSharing(q.Name) {
			x.doc.Policy.IdleResourceSharing = Enabled
			x.notes = append(x.notes, Note{Code: IdleQueue, Queue: q.Name})
			continue
		}
		x.doc.Teams = append(x.doc.Teams, x.team(q))
	}
	x.whole()
	return x.doc, x.notes
}

type exporter struct {
	*mapper
	live  *Live
	doc   *Document
	notes []Note
	names map[string]bool
	// last is the last number that name gave to a name.
	last map[string]int
	// locals are the LocalQueues by ClusterQueue; inactive are the namespaces in which quota is not enforced.
	locals   map[string][]Local
	inactive map[string]bool
	// values are those of fields by their JSON.
	values map[string]any
}

func (x *exporter) policy() {
	p := &ClusterPolicy{IdleResourceSharing: Disabled}
	x.doc.Policy = p
	switch f := x.live.FairSharing; {
	case f == nil:
		x.notes = append(x.notes, Note{Code: FairSharingUnread})
	case *f:
		p.FairShare = Enabled
	default:
		p.FairShare = Disabled
	}
	var ranks []Rank
	for _, c := range x.live.Classes {
		name, ok := strings.CutSuffix(c.Name, prioritySuffix)
		if ok && teamName().MatchString(name) && c.Value >= 0 && c.Value <= maxWeight {
			p.PriorityClasses = append(p.PriorityClasses, PriorityClass{name, int(c.Value)})
		} else {
			ranks = append(ranks, Rank{c.Name, int(c.Value)})
		}
	}
	slices.SortFunc(p.PriorityClasses, func(a, b PriorityClass) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(ranks, func(a, b Rank) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name)) })
	if len(ranks) > 0 {
		x.kueue().PriorityClasses = ranks
	}
}

func (x *exporter) kueue() *Kueue {
	if x.doc.Kueue == nil {
		x.doc.Kueue = &Kueue{}
	}
	return x.doc.Kueue
}

// whole adds the objects that are not derived: flavors other than instance types, and cohorts with a spec.
func (x *exporter) whole() {
	for _, f := range x.live.Flavors {
		if _, known := instances.Lookup(f.Name); known {
			continue
		}
		if spec, err := toPlain(f.Spec); err == nil {
			x.kueue().Flavors = append(x.kueue().Flavors, Object{f.Name, spec})
		}
	}
	for _, c := range x.live.Cohorts {
		if spec, err := toPlain(canonicalCohort(&c.Spec)); err == nil {
			x.kueue().Cohorts = append(x.kueue().Cohorts, Object{c.Name, spec})
		}
	}
	if k := x.doc.Kueue; k != nil {
		byName := func(a, b Object) int { return cmp.Compare(a.Name, b.Name) }
		slices.SortFunc(k.Flavors, byName)
		slices.SortFunc(k.Cohorts, byName)
	}
}

var notInName = pattern.Lazy(`[^a-z0-9]+`)

// name returns a team's name that is valid and unique.
func (x *exporter) name(queue string) string {
	base := strings.Trim(notInName().ReplaceAllString(strings.ToLower(quota.TeamOf(queue)), "-"), "-")
	base = strings.Trim(base[:min(len(base), maxTeam-3)], "-")
	if quota.TeamOf(queue) != queue && teamName().MatchString(quota.TeamOf(queue)) {
		base = quota.TeamOf(queue)
	}
	name := base
	for i := max(2, x.last[base]+1); x.names[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
		x.last[base] = i
	}
	x.names[name] = true
	return name
}

func (x *exporter) team(q *kueue.ClusterQueue) Team {
	t := Team{Team: x.name(q.Name)}
	if t.Queue() != q.Name {
		x.beyond(&t).ClusterQueue = q.Name
	}
	locals := append([]Local{}, x.locals[q.Name]...)
	slices.SortFunc(locals, func(a, b Local) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if !slices.Equal(locals, t.LocalQueues()) {
		x.beyond(&t).LocalQueues = locals
	}
	x.terms(&t, &q.Spec)
	var fields []string
	if mapped, err := x.spec(&t); err == nil {
		fields = differing(mapped, &q.Spec)
	}
	if slices.Contains(fields, "resourceGroups") {
		// The rows cannot express it: the groups as they are take their place.
		t.Quota, t.AbsoluteBorrowLimits, t.BorrowLimit = nil, nil, nil
	}
	if len(fields) > 0 {
		values := fieldsOfSpec(normal(&q.Spec))
		x.beyond(&t).Spec = make(map[string]any, len(fields))
		for _, f := range fields {
			t.Kueue.Spec[f] = x.value(values[f]) // nil where the queue has none: the derived one is dropped
		}
		x.notes = append(x.notes, Note{Code: BeyondTerms, Team: t.Team, Queue: q.Name, Fields: fields})
	}
	return t
}

// value returns what decoded returns. Teams share equal values: in a large cluster, most teams have the same ones.
func (x *exporter) value(text json.RawMessage) any {
	v, known := x.values[string(text)]
	if !known {
		v = decoded(text)
		x.values[string(text)] = v
	}
	return v
}

func (x *exporter) beyond(t *Team) *TeamKueue {
	if t.Kueue == nil {
		t.Kueue = &TeamKueue{}
	}
	return t.Kueue
}

// terms sets what the document's own terms can say of a ClusterQueue.
func (x *exporter) terms(t *Team, spec *kueue.ClusterQueueSpec) {
	if p := spec.Preemption; p == nil || p.WithinClusterQueue == kueue.PreemptionPolicyNever || p.WithinClusterQueue == "" {
		t.PreemptTeamTasks = Never
	} else if p.WithinClusterQueue == kueue.PreemptionPolicyLowerPriority {
		t.PreemptTeamTasks = LowerPriority
	}
	if w := normal(spec).FairSharing.Weight; w.Sign() >= 0 && w.MilliValue()%1000 == 0 && w.Value() <= maxWeight {
		weight := int(w.Value())
		t.FairShareWeight = &weight
	}
	if x.inactive[t.Namespace()] {
		t.Activation = Disabled
	}
	order, nominal, limits, ok := plainGroups(spec)
	if !ok {
		return
	}
	empty := func(typ string) bool { return len(nominal[typ]) == 0 && len(limits[typ]) == 0 }
	some := slices.ContainsFunc(order, func(typ string) bool { return !empty(typ) })
	for _, typ := range order {
		if some && empty(typ) {
			continue // beside others, a flavor without quota has no effect
		}
		q, ok := inferQuota(typ, nominal[typ])
		if !ok {
			t.Quota = nil
			return
		}
		t.Quota = append(t.Quota, q)
	}
	none := true
	for _, a := range limits {
		none = none && len(a) == 0
	}
	switch {
	case string(spec.CohortName) == x.OwnCohort+t.Team && none:
		t.Strategy = DontLend
	case none:
		t.Strategy = Lend
	default:
		t.Strategy = LendAndBorrow
		x.inferBorrow(t, order, nominal, limits)
	}
}

// plainGroups returns the amounts of a spec with at most one group, finite borrowing
// limits and no lending limits; amounts of 0 are left out.
func plainGroups(spec *kueue.ClusterQueueSpec) (order []string, nominal, limits map[string]amounts, ok bool) {
	nominal, limits = map[string]amounts{}, map[string]amounts{}
	if len(spec.ResourceGroups) > 1 {
		return nil, nil, nil, false
	}
	for _, g := range spec.ResourceGroups {
		for _, f := range g.Flavors {
			name := string(f.Name)
			order = append(order, name)
			nominal[name], limits[name] = amounts{}, amounts{}
			for _, r := range f.Resources {
				if r.LendingLimit != nil || r.BorrowingLimit == nil && spec.CohortName != "" {
					return nil, nil, nil, false
				}
				n, limit := quota.AmountOf(string(r.Name), r.NominalQuota), int64(0)
				if r.BorrowingLimit != nil {
					limit = quota.AmountOf(string(r.Name), *r.BorrowingLimit)
				}
				if n == quota.Unlimited || limit == quota.Unlimited {
					return nil, nil, nil, false
				}
				if n > 0 {
					nominal[name][string(r.Name)] = n
				}
				if limit > 0 {
					limits[name][string(r.Name)] = limit
				}
			}
		}
	}
	return order, nominal, limits, true
}
