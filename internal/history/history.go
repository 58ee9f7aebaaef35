// Package history keeps what a cluster did: when jobs had quota and waited for it, and what queues and nodes
// had. A store is a folder of segments, one for each day. A segment starts with everything that was known.
// Each sample adds what changed, so that it can be read, and removed, without the others.
//
// One process writes; any number read meanwhile. A sample is one line with a checksum, in the file before the
// recorder goes on. A line that a crash has cut is removed when the store is opened again.
package history

import (
	"maps"
	"time"
)

// Phase is what a job does, as far as device-hours go.
type Phase string

// The phases.
const (
	// Waiting: it waits for quota. Preempted and Evicted wait too, since they lost it.
	Waiting   Phase = "W"
	Preempted Phase = "P"
	Evicted   Phase = "V"
	// Holding: it has quota.
	Holding Phase = "H"
	// Stopped: it neither has quota nor waits for it.
	Stopped   Phase = "S"
	Succeeded Phase = "E"
	Failed    Phase = "F"
	// Vanished: it was deleted. The time is that of the last sample that had it.
	Vanished Phase = "X"
)

// Waits reports a phase in which a job waits for quota.
func (p Phase) Waits() bool { return p == Waiting || p == Preempted || p == Evicted }

// Over reports a phase that a job does not leave.
func (p Phase) Over() bool { return p == Succeeded || p == Failed || p == Vanished }

// Job is what does not change about a job. Devices are the accelerators of all its pods by resource, with the
// CPU of its workload in thousandths of a core.
type Job struct {
	UID          string
	Namespace    string
	Name         string
	Kind         string
	Team         string
	Owner        string
	Project      string
	Priority     string
	InstanceType string
	Devices      map[string]int64
}

// same reports whether two are equal.
func (j Job) same(o Job) bool {
	return maps.Equal(j.Devices, o.Devices) && j.UID == o.UID && j.Namespace == o.Namespace && j.Name == o.Name && j.Kind == o.Kind && j.Team == o.Team && j.Owner == o.Owner &&
		j.Project == o.Project && j.Priority == o.Priority && j.InstanceType == o.InstanceType
}

// Change is the begin of a phase. Borrowed is what the job borrows from then on, of Holding.
type Change struct {
	Time  time.Time
	Phase Phase
	// Reason is Kueue's word for why it was preempted or evicted.
	Reason   string
	Borrowed map[string]int64
}

// QueueKey names the figures of a ClusterQueue. Flavor is "" for what waits, which has no flavor yet.
type QueueKey struct{ Queue, Team, Flavor, InstanceType, Resource string }

// QueueFigures are quota in pieces. Waiting is of the rows without a flavor only.
type QueueFigures struct{ Nominal, Reserved, Borrowed, Lent, Waiting int64 }

// NodeKey names the figures of nodes.
type NodeKey struct{ InstanceType, Resource string }

// NodeFigures are devices of nodes in pieces, and the nodes.
type NodeFigures struct{ Capacity, Healthy, Nodes, HealthyNodes int64 }

// Observation is what a reading of the cluster shows.
type Observation struct {
	Time time.Time
	Jobs []Observed
	// JobsComplete reports that every job could be read: one that is not in Jobs is deleted.
	JobsComplete bool
	// CompleteIn are the namespaces whose jobs could all be read, where JobsComplete is false.
	CompleteIn []string
	// Queues and Nodes are nil where they could not be read: what was known goes on.
	Queues map[QueueKey]QueueFigures
	Nodes  map[NodeKey]NodeFigures
}

// Observed is a job with the phases that the cluster still knows, oldest first. Of the last phase, Borrowed is
// what the job borrows now; nil is unknown.
type Observed struct {
	Job
	Phases []Change
}

// Track is a job and its phases, oldest first.
type Track struct {
	Job
	Changes []Change
}

// last returns the present phase, the zero value where there is none.
func (t *Track) last() Change {
	if len(t.Changes) == 0 {
		return Change{}
	}
	return t.Changes[len(t.Changes)-1]
}

// Point is a value of a series from a time on.
type Point[V any] struct {
	Time  time.Time
	Value V
}

// Series are the values of one key. A value holds until the next one.
type Series[K comparable, V any] struct {
	Key    K
	Points []Point[V]
}

// Data is what a store knows about a time.
type Data struct {
	// Cluster is what the store was made for.
	Cluster string
	// Jobs are in the order in which they were first seen.
	Jobs   []*Track
	Queues []Series[QueueKey, QueueFigures]
	Nodes  []Series[NodeKey, NodeFigures]
	// Covered are the times between samples that are at most Slack times the pace of the
	// recorder apart. Outside them, only the phases of jobs are known, from what the cluster still knew later.
	Covered []Span
	// Samples counts the samples; First and Last are when they were taken. Of a time before all samples, First is the next one.
	Samples     int
	First, Last time.Time
	// Until is how long the last phases of jobs hold: the last sample, or the end of the time if there are later ones.
	Until time.Time
	// Damaged are the names of segments that could not be read whole.
	Damaged []string
}

// Span is a time from From to To.
type Span struct{ From, To time.Time }

// Slack is the number of paces that may lie between two samples without a gap. It allows for a slow reading.
const Slack = 2.5
