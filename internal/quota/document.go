package quota

import (
	"math"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema and NodesSchema are the names and versions of the JSON of get-quota and of
// get-quota --by. Fields may be added within a version.
const (
	Schema      = "hyperpod.get-quota/v2"
	NodesSchema = "hyperpod.get-quota-by/v1"
)

// Document is a Report as JSON: amounts are numbers in base units (cores, bytes, devices). Null means unknown, or for a
// limit, no limit.
type Document struct {
	Schema  string
	Quota   []QuotaJSON
	Teams   []TeamJSON
	Cohorts []CohortJSON
	Totals  []TotalJSON
	// Capacity is left out when the nodes were not read.
	Capacity []CapacityJSON `json:",omitzero"`
	Problems []Problem
	// Source is where use was read from: Workloads or Status.
	Source string
	// Complete is false when not all queues and cohorts could be read.
	Complete bool
	// Missing is what could not be read.
	Missing []state.Unread `json:",omitempty"`
	// Time is when the cluster was read, by its clock.
	Time time.Time
}

// List returns the rows of custom-columns.
func (d Document) List() any { return d.Quota }

// FiguresJSON is Figures as JSON.
type FiguresJSON struct {
	Nominal, Reserved, Used    *float64
	Borrowed, Overcommit, Lent *float64
	Limit, Free, Borrowable    *float64
	Lendable                   *float64
}

// QuotaJSON is one resource of a team, over all flavors and for each.
type QuotaJSON struct {
	Team         string
	ClusterQueue string
	Cohort       *string
	Resource     string
	FiguresJSON
	Pending *float64
	// GPUEquivalent is Nominal in whole GPUs; null for other resources.
	GPUEquivalent *float64
	Flavors       []FlavorJSON
}

// FlavorJSON is one flavor of a QuotaJSON.
type FlavorJSON struct {
	Flavor string
	FiguresJSON
	BorrowingLimit, LendingLimit *float64
	// Lenders lend what is Borrowed, by the convention of docs/quota.md.
	Lenders []LenderJSON
}

// LenderJSON is a team, or a cohort's own quota, that lends.
type LenderJSON struct {
	Team         string `json:",omitempty"`
	ClusterQueue string `json:",omitempty"`
	Cohort       string `json:",omitempty"`
	Amount       *float64
}

// TeamJSON is a team.
type TeamJSON struct {
	Team         string
	ClusterQueue string
	Namespaces   []string
	Cohort       *string
	State        string
	Reason       *string
	IdleSharing  bool
	// FairShareWeight and FairShare are Kueue's. A null share has a
	// FairShareReason: Infinite (the queue borrows with weight 0) or Unknown (what
	// its cohort could lend cannot be read).
	FairShareWeight  *float64 // null where the queue may not be read
	FairShare        *float64
	FairShareReason  *string
	Running, Waiting int
}

// The reasons of a null FairShare.
const (
	ShareInfinite = "Infinite"
	ShareUnknown  = "Unknown"
)

// CohortJSON is a cohort's own quota of a resource, and what its members hold.
type CohortJSON struct {
	Cohort   string
	Parent   *string
	Resource string
	// Own is the cohort's own quota, OwnLent what members use of that.
	Own, OwnLent *float64
	// The figures are sums over all queues and cohorts below; Nominal includes Own. Only loans from and to others count,
	// not those among the members.
	FiguresJSON
	Pending *float64
}

// TotalJSON is a resource over all teams.
type TotalJSON struct {
	Resource string
	FiguresJSON
	Pending *float64
	// Idle is quota that stays idle, with the reason; Free does not count the quota of stopped teams.
	Idle []IdleJSON
}

// IdleJSON is idle quota of a team. Why is one of the Idle constants.
type IdleJSON struct {
	Team   string
	Amount *float64
	Why    string
}

// CapacityJSON is a Capacity; amounts by resource.
type CapacityJSON struct {
	InstanceType                                           string `json:",omitempty"`
	NodeGroup                                              string `json:",omitempty"`
	Nodes, Healthy, Unhealthy, Unknown, NotReady, Cordoned int
	Capacity, Allocatable, HealthyAllocatable              map[string]float64
	Reserved                                               map[string]float64 `json:",omitempty"`
	Governed, Ungoverned                                   map[string]float64 `json:",omitempty"`
}

// number returns an amount for JSON.
func number(resource string, n *int64) *float64 {
	if n == nil || *n == Unlimited {
		return nil
	}
	v := Number(resource, *n)
	return &v
}

func (f *Figures) json(resource string) FiguresJSON {
	of := func(n *int64) *float64 { return number(resource, n) }
	nominal := of(&f.Nominal)
	if f.NominalHidden {
		nominal = nil
	}
	return FiguresJSON{Nominal: nominal, Reserved: of(&f.Reserved), Used: of(&f.Used), Borrowed: of(f.Borrowed), Overcommit: of(f.Overcommit),
		Lent: of(f.Lent), Limit: of(f.Limit), Free: of(f.Free), Borrowable: of(f.Borrowable), Lendable: of(f.Lendable)}
}

// optional is null instead of an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Document returns the report as JSON, of the given resources and teams.
func (r *Report) Document(resources []string, teams []Team) Document {
	d := Document{Schema: Schema, Quota: []QuotaJSON{}, Teams: []TeamJSON{}, Cohorts: []CohortJSON{}, Totals: []TotalJSON{}, Problems: slices.Clone(r.Problems),
		Source: r.Source, Complete: r.Complete, Time: r.Taken.UTC().Truncate(time.Second)}
	if d.Problems == nil {
		d.Problems = []Problem{}
	}
	for i := range teams {
		t := &teams[i]
		d.Teams = append(d.Teams, t.json())
		for _, name := range resources {
			if row, ok := t.Of(name); ok {
				d.Quota = append(d.Quota, r.quotaJSON(t, row))
			}
		}
	}
	for _, name := range resources {
		for _, b := range r.Branches(name) {
			if b.Cohort != "" {
				d.Cohorts = append(d.Cohorts, b.json(name))
			}
		}
		sum := r.Sum(name)
		total := TotalJSON{name, sum.Figures.json(name), number(name, sum.Pending), []IdleJSON{}}
		for _, i := range r.Idle(name) {
			total.Idle = append(total.Idle, IdleJSON{i.Team, number(name, &i.Amount), i.Why})
		}
		d.Totals = append(d.Totals, total)
	}
	d.Capacity = CapacityDocument(r.Capacity, false, resources)
	return d
}

func (t *Team) json() TeamJSON {
	out := TeamJSON{Team: t.Name, ClusterQueue: t.ClusterQueue, Namespaces: t.Namespaces, Cohort: optional(t.Cohort), State: t.State,
		Reason: optional(t.Reason), IdleSharing: t.IdleSharing, Running: t.Running, Waiting: t.Waiting}
	if out.Namespaces == nil {
		out.Namespaces = []string{}
	}
	if t.State != Hidden {
		out.FairShareWeight = &t.Share.Weight
	}
	switch {
	case t.Share.Unknown:
		out.FairShareReason = optional(ShareUnknown)
	case math.IsInf(t.Share.Weighted, 0):
		out.FairShareReason = optional(ShareInfinite)
	default:
		out.FairShare = &t.Share.Weighted
	}
	return out
}

func (r *Report) quotaJSON(t *Team, row ResourceRow) QuotaJSON {
	q := QuotaJSON{Team: t.Name, ClusterQueue: t.ClusterQueue, Cohort: optional(t.Cohort), Resource: row.Resource,
		FiguresJSON: row.Figures.json(row.Resource), Pending: number(row.Resource, row.Pending), Flavors: []FlavorJSON{}}
	if worth, ok := GPUs(row.Resource); ok && row.Nominal != Unlimited && !row.NominalHidden {
		v := math.Round(worth*float64(row.Nominal)*1000) / 1000
		q.GPUEquivalent = &v
	}
	for i := range row.Flavors {
		f := &row.Flavors[i]
		one := FlavorJSON{Flavor: f.Flavor, FiguresJSON: f.Figures.json(row.Resource),
			BorrowingLimit: number(row.Resource, f.BorrowingLimit), LendingLimit: number(row.Resource, f.LendingLimit), Lenders: []LenderJSON{}}
		if r.Complete {
			for _, l := range r.Tree.Loans(t.ClusterQueue, f.Flavor, row.Resource) {
				lender := LenderJSON{Team: TeamOf(l.ClusterQueue), ClusterQueue: l.ClusterQueue, Cohort: l.Cohort, Amount: number(row.Resource, &l.Amount)}
				one.Lenders = append(one.Lenders, lender)
			}
		}
		q.Flavors = append(q.Flavors, one)
	}
	return q
}

// CapacityDocument returns capacities as JSON, with only the given resources; nil means all. Unknown capacities stay
// nil.
func CapacityDocument(all []Capacity, byGroup bool, resources []string) []CapacityJSON {
	if all == nil {
		return nil
	}
	out := []CapacityJSON{}
	for _, c := range all {
		one := CapacityJSON{Nodes: c.Nodes, Healthy: c.Healthy, Unhealthy: c.Unhealthy, Unknown: c.Unknown, NotReady: c.NotReady, Cordoned: c.Cordoned,
			Capacity: numbers(c.Capacity, resources), Allocatable: numbers(c.Allocatable, resources), HealthyAllocatable: numbers(c.HealthyAllocatable, resources),
			Reserved: numbers(c.Reserved, resources), Governed: numbers(c.Governed, resources), Ungoverned: numbers(c.Ungoverned, resources)}
		if byGroup {
			one.NodeGroup = c.Name
		} else {
			one.InstanceType = c.Name
		}
		out = append(out, one)
	}
	return out
}

func numbers(a state.Amounts, resources []string) map[string]float64 {
	if a == nil {
		return nil
	}
	out := map[string]float64{}
	for name, n := range a {
		if resources == nil || slices.Contains(resources, name) {
			if v := number(name, &n); v != nil {
				out[name] = *v
			}
		}
	}
	return out
}
