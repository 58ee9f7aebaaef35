package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
)

// NoteCode is what a Note is about.
type NoteCode string

// The codes of notes.
const (
	// TiesUnknown: with fair sharing in a large cluster, it is not known whether Kueue is
	// undecided between several outcomes.
	TiesUnknown NoteCode = "TiesUnknown"
	// Unsettled: the cluster never settles, even without the changes.
	Unsettled NoteCode = "Unsettled"
	// WeightsIgnored: a weight is set and fair sharing is off.
	WeightsIgnored NoteCode = "WeightsIgnored"
	// BorrowPreemptionIgnored: preemption while borrowing is set and fair sharing is on.
	BorrowPreemptionIgnored NoteCode = "BorrowPreemptionIgnored"
	// LimitsCleared: Team leaves its cohort and loses its borrowing and lending limits.
	LimitsCleared NoteCode = "LimitsCleared"
	// NodesAdded: Count nodes like Node; quota stays the same.
	NodesAdded NoteCode = "NodesAdded"
	// PodsOnRemovedNodes: Jobs keep their quota and lose pods.
	PodsOnRemovedNodes NoteCode = "PodsOnRemovedNodes"
	// NodeReplaced: Job was placed on a removed node by topology, and Kueue looks for another
	// place.
	NodeReplaced NoteCode = "NodeReplaced"
	// PlacedOnRemovedNode: Job was placed on a removed node by topology and is evicted.
	PlacedOnRemovedNode NoteCode = "PlacedOnRemovedNode"
	// NamespaceAssumed: Namespace does not exist and is assumed to be created.
	NamespaceAssumed NoteCode = "NamespaceAssumed"
	// DeletionWaits: the ClusterQueue of Team stays until Count workloads end.
	DeletionWaits NoteCode = "DeletionWaits"
	// EvictionsInProgress: Jobs hold their quota until their pods end, at the latest
	// after Takes.
	EvictionsInProgress NoteCode = "EvictionsInProgress"
	// AtLater: the changes are made At a later time; Later says what happens before.
	AtLater NoteCode = "AtLater"
	// Invalid: an object cannot be right and is left out.
	Invalid NoteCode = "Invalid"
	// NotModelled: the decisions depend on something that the simulation does not
	// model.
	NotModelled NoteCode = "NotModelled"
	// Assumed: a value that could not be read is assumed.
	Assumed NoteCode = "Assumed"
)

// Note is a reservation about a report. Package present/simulation words it.
type Note struct {
	Code NoteCode
	// Message is a sentence, "" until present/simulation sets it.
	Message string

	Team      string    `json:"-"`
	Namespace string    `json:"-"`
	Job       string    `json:"-"` // "namespace/name"
	Node      string    `json:"-"`
	Count     int       `json:"-"`
	Jobs      []PodLoss `json:"-"`

	Takes time.Duration `json:"-"`
	// Of is a note on the engine or its input.
	Of *inputs.Note `json:"-"`

	At    time.Time `json:"-"`
	Later *Later    `json:"-"`
}

// PodLoss counts the pods that a job ("namespace/name") loses with removed nodes.
type PodLoss struct {
	Job  string
	Pods int
}

// evictionNotes returns notes about jobs that hold quota which they are losing.
func (r *result) evictionNotes() []Note {
	n := Note{Code: EvictionsInProgress}
	for _, k := range r.evicting {
		n.Jobs = append(n.Jobs, PodLoss{Job: r.label(k.Namespace, k.Name)})
		n.Takes = max(n.Takes, r.endOf(r.index()[k]).Sub(r.world.Now))
	}
	if len(n.Jobs) == 0 || r.takes < 0 {
		return nil
	}
	return []Note{n}
}

// sortNotes orders notes and drops repeated ones.
func sortNotes(notes []Note) []Note {
	slices.SortStableFunc(notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Team, b.Team), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Node, b.Node))
	})
	return slices.CompactFunc(notes, func(a, b Note) bool {
		return a.Of == nil && b.Of == nil && a.Code == b.Code && a.Team == b.Team && a.Namespace == b.Namespace && a.Job == b.Job && a.Node == b.Node && a.Count == b.Count
	})
}

// notModelled names what states depend on.
func notModelled(jobs []Job) []string {
	out := []string{}
	for _, j := range jobs {
		if j.After != nil {
			out = append(out, j.After.NotModelled...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// engineNotes returns the notes on an engine: objects that it left out, and what it does
// not follow.
func (r *result) engineNotes() []Note {
	var out []Note
	for _, err := range r.problems {
		out = append(out, noteOf(inputs.Note{Code: inputs.Invalid, Err: err}))
	}
	for _, w := range r.warnings {
		out = append(out, noteOf(inputs.Note{Code: inputs.NotModelled, Warning: &w}))
	}
	return out
}

// noteOf returns a note on the engine, or on its input, as a note on the report.
func noteOf(n inputs.Note) Note { return Note{Code: NoteCode(n.Code), Of: &n} }

// RuleNotes returns the notes on the rules and on assumed values: what is not known of the cluster's configuration, and where
// its version of Kueue may decide otherwise.
func RuleNotes(in *inputs.Inputs) []Note {
	var out []Note
	rules := in.Rules()
	for _, n := range rules.Notes {
		if n.Code == inputs.VersionDiffers {
			n.Differences = nil
			for _, d := range versions.Between(n.Version, versions.BuiltIn, in.AnyVersionCase(&rules.Config)) {
				n.Differences = append(n.Differences, string(d.Code))
			}
		}
		out = append(out, noteOf(n))
	}
	for i := range in.Assumed {
		out = append(out, noteOf(inputs.Note{Code: inputs.Assumed, Assumption: &in.Assumed[i]}))
	}
	return out
}
