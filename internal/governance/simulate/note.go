package simulate

import (
	"cmp"
	"slices"
	"time"
)

// NoteCode is what a Note is about.
type NoteCode string

// The codes of notes.
const (
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
	// PlacedOnRemovedNode: Job was placed on a removed node by topology and is evicted.
	PlacedOnRemovedNode NoteCode = "PlacedOnRemovedNode"
	// NamespaceAssumed: Namespace does not exist and is assumed to be created.
	NamespaceAssumed NoteCode = "NamespaceAssumed"
	// DeletionWaits: the ClusterQueue of Team stays until Count workloads end.
	DeletionWaits NoteCode = "DeletionWaits"
	// EvictionsInProgress: Jobs hold their quota until their pods end, at the latest
	// after Takes.
	EvictionsInProgress NoteCode = "EvictionsInProgress"
	// Invalid: an object cannot be right and is left out; Message says why.
	Invalid NoteCode = "Invalid"
	// NotModelled: the decisions depend on something that the simulation does not
	// model; Message names it.
	NotModelled NoteCode = "NotModelled"
	// Assumed: a value that could not be read is assumed; Message names it.
	Assumed NoteCode = "Assumed"
)

// Note is a reservation about a report. Package present/simulation words it.
type Note struct {
	Code NoteCode
	// Message is a sentence.
	Message string

	Team      string    `json:"-"`
	Namespace string    `json:"-"`
	Job       string    `json:"-"` // "namespace/name"
	Node      string    `json:"-"`
	Count     int       `json:"-"`
	Jobs      []PodLoss `json:"-"`

	Takes time.Duration `json:"-"`
}

// PodLoss counts the pods that a job ("namespace/name") loses with removed nodes.
type PodLoss struct {
	Job  string
	Pods int
}

// evictionNotes tell that jobs hold quota which they are losing.
func (r *result) evictionNotes() []Note {
	n := Note{Code: EvictionsInProgress}
	for _, k := range r.evicting {
		n.Jobs = append(n.Jobs, PodLoss{Job: r.label(k.namespace, k.name)})
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
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Team, b.Team), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Node, b.Node))
	})
	return slices.CompactFunc(notes, func(a, b Note) bool {
		return a.Code == b.Code && a.Message == b.Message && a.Team == b.Team && a.Namespace == b.Namespace && a.Job == b.Job && a.Node == b.Node && a.Count == b.Count
	})
}

// notModelled are the names of what states hang on.
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

// messages are notes of one code with the messages of another package.
func messages(code NoteCode, texts []string) []Note {
	var out []Note
	for _, t := range texts {
		out = append(out, Note{Code: code, Message: t})
	}
	return out
}
