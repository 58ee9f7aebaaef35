// Package logs reads the logs of a job's pods: it chooses the pods, follows them
// through restarts and preemption, and resumes broken connections without losing or
// repeating a line. It prints nothing: a Sink does.
//
// Memory is bounded: a stream has one buffer, a line that does not fit is passed on
// in parts, and a slow Sink slows the streams down.
package logs

import (
	"regexp"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Query says whose logs are read, and which lines.
type Query struct {
	// Job is the job as it is known at the start; a job of that name with another
	// UID is another job.
	Job state.Job
	// Pods are the pods to read. The default is the one that matters: of a job that
	// failed the pod that failed first, else the leader (the launcher, the head,
	// rank 0).
	Pods pick.Choice
	// Container is the container to read; "" is the pod's default one.
	Container string
	// Follow continues with new lines and new pods until the job ends.
	Follow bool
	// Previous reads the run of the container before its last restart.
	Previous bool
	// Since leaves out lines older than this, SinceTime those before that moment; 0 is all.
	Since     time.Duration
	SinceTime time.Time
	// Tail is how many of a container's last lines are read; nil is all. Both hold
	// for what exists at the start: a pod that appears later is read whole.
	Tail *int64
	// Match leaves out lines in which it finds nothing; nil is all. Of a line longer
	// than matchLimit the beginning decides.
	Match *regexp.Regexp
	// Parts hands on the beginning of a line that has not ended yet, as long as only
	// one container is read: a progress bar that never ends its line is seen.
	Parts bool
}

// Source is one run of one container.
type Source struct {
	Pod, UID, Node, Container string
	// ContainerID is the runtime's name of it; "" as long as none is known.
	ContainerID string
	Role        string // "" when unknown
	Rank        int    // -1 when it has none
	Run         int    // 0 before the first restart
}

// Line is a line of a log, without its newline, or a part of one.
type Line struct {
	// Stamp is the moment it was written, as the API words it; "" for text that the
	// API put in on its own. Of a part that is not the first it is the first one's.
	Stamp []byte
	Time  time.Time
	Text  []byte
	// Rest: it continues the line of the part before. More: another part may follow.
	Rest, More bool
}

// Sink takes what is read. Its methods are called one at a time; an error ends
// the reading and is returned as it is.
type Sink interface {
	// Lines takes lines of one source in their order. They are only valid during
	// the call. While a line of one source has More, no other source comes between,
	// unless that line stands still for a second.
	Lines(s *Source, lines []Line) error
	// Event takes everything that is not a line.
	Event(Event) error
}

// EventKind tells what an Event is about.
type EventKind string

// The kinds of event.
const (
	// Waiting: nothing to read yet. Status says what the job does; Source is set
	// when its container is what has not started, for the reason in Trouble.
	Waiting EventKind = "waiting"
	// Started and Ended: a source's log is being read, and was read to its end.
	Started EventKind = "started"
	Ended   EventKind = "ended"
	// Resuming: the connection to a source broke (Err) and is made again.
	Resuming EventKind = "resuming"
	// Skipped: a source cannot be read (Err); the others go on.
	Skipped EventKind = "skipped"
	// PodFailed: a pod of the job failed, whether its log is read or not (Trouble).
	PodFailed EventKind = "pod-failed"
	// Changed: the job's state changed to Status.
	Changed EventKind = "changed"
	// Deleted: the job was deleted.
	Deleted EventKind = "deleted"
)

// Event is something that happened.
type Event struct {
	Kind   EventKind
	Source *Source
	Status jobs.Status
	// Trouble is why a container has not started (Waiting) or a pod failed (PodFailed).
	Trouble jobs.PodTrouble
	Err     error
}

// Result is how the reading ended.
type Result struct {
	// Status is the job's last known one; its State is empty when it was not looked
	// at (without Follow).
	Status    jobs.Status
	Namespace string // of the job, with Follow
	Deleted   bool   // the job was deleted
	// Sources are those that were read, in the order in which they began.
	Sources []Source
	// Skipped counts the sources that could not be read.
	Skipped int
	// FailedPod is the pod that failed first; "" when none did.
	FailedPod string
}

// Engine reads logs.
type Engine struct {
	Client *kube.Client
	// After is time.After; nil is the real one.
	After func(time.Duration) <-chan time.Time
	// Missing, when not nil, gets what cannot be followed.
	Missing func([]state.Missing)
}

func (e Engine) withClock() Engine {
	if e.After == nil {
		e.After = time.After
	}
	return e
}
