// Package forecast estimates when waiting workloads will start. It runs Kueue's
// own decisions forward in time: running workloads end when their known durations
// say so, what they free is given away by the admission engine, and the clock goes
// on to the next end. Nothing here is a promise: jobs come and go, and durations
// are maxima or medians. Every answer names what it rests on.
//
// The functions are pure: the same world, options and clock give the same answer.
package forecast

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// World is what engines are made of.
type World struct {
	// Config are Kueue's rules. Its clock is replaced.
	Config admission.Config
	// Objects are everything an engine loads. They are not changed.
	Objects []client.Object
	// Finished are workloads that have ended; their durations are learned from.
	Finished []*kueue.Workload
	// Now is an engine that has loaded the objects and whose clock is Options.Now; nil:
	// one is made. It is asked, and not changed.
	Now *admission.Engine
}

// Of returns the world that was read from a cluster. Its FinishedWorkloads are
// there only when inputs.Options asked for them.
func Of(in *inputs.Inputs) World {
	return World{Config: in.Rules().Config, Objects: in.Objects(), Finished: in.FinishedWorkloads}
}

// Options say how to look ahead.
type Options struct {
	// Now is the clock; zero is an error of the caller.
	Now time.Time
	// Assume is the duration of workloads of which nothing is known; 0: none.
	Assume time.Duration
	// Deadline returns the active deadline of a workload's job, 0 for none. Nil:
	// only what stands on the workload itself is known.
	Deadline func(*kueue.Workload) time.Duration
	// Horizon is how far to look; 0 is 30 days.
	Horizon time.Duration
}

func (o Options) withDefaults() Options {
	if o.Horizon <= 0 {
		o.Horizon = 30 * 24 * time.Hour
	}
	return o
}

// Code says why there is no estimate, or no end of its range.
type Code string

const (
	// NoDuration: it waits for workloads of which no end is known.
	NoDuration Code = "NoDuration"
	// Overdue: it waits for workloads that have run longer than assumed, which may
	// end at any time.
	Overdue Code = "Overdue"
	// NeverFits: it can never start with the queues there are.
	NeverFits Code = "NeverFits"
	// NotQueued: its queue, a gate or the workload itself keeps it from being
	// looked at; time alone changes nothing.
	NotQueued Code = "NotQueued"
	// BeyondHorizon: not within the time looked at.
	BeyondHorizon Code = "BeyondHorizon"
	// Unsettled: the policies preempt in circles.
	Unsettled Code = "Unsettled"
)

// ETA is the estimate for one workload.
type ETA struct {
	Namespace, Name string
	// Known is false when nothing can be said; Code and Why say why.
	Known bool
	// Earliest is when it starts if only its own queue competes with it and the
	// others end early.
	Earliest time.Time
	// Latest is when it starts if every queue competes and the others end late, those
	// never that have run longer than assumed; zero: no upper end can be told, for the
	// reason in Code and Why.
	Latest time.Time
	Code   Code
	Why    string
	// Basis is what the estimate rests on, the most frequent first.
	Basis []Basis
	// Unknown are the running jobs of its cohort tree of which no end is known, at
	// most ten ("namespace/name").
	Unknown []string
}

// Wait is the range as durations from now; to is 0, which means
// now else, when Latest is zero: no upper end is known.
func (e ETA) Wait(now time.Time) (from, to time.Duration) {
	from = max(e.Earliest.Sub(now), 0)
	if !e.Latest.IsZero() {
		to = max(e.Latest.Sub(now), from)
	}
	return from, to
}

// Source is where a duration comes from.
type Source string

const (
	// MaximumExecutionTime is Kueue's limit on the workload.
	MaximumExecutionTime Source = "MaximumExecutionTime"
	// ActiveDeadline is the job's, or its pods', activeDeadlineSeconds.
	ActiveDeadline Source = "ActiveDeadline"
	// TeamPriorityHistory: quartiles of finished workloads of its queue and priority.
	TeamPriorityHistory Source = "TeamPriorityHistory"
	// TeamHistory: quartiles of finished workloads of its queue.
	TeamHistory Source = "TeamHistory"
	// Assumed is the given duration (--assume-duration).
	Assumed Source = "Assumed"
	// PastAssumed: it has run for longer than that, so it may end at any time. For the
	// earliest start it ends now, for the latest one never.
	PastAssumed Source = "PastAssumed"
)

// Basis counts the workloads whose ends were taken from one source.
type Basis struct {
	Source Source
	Count  int
}

// Words name a source in plain English ("3 by their deadline").
func (s Source) Words() string {
	switch s {
	case MaximumExecutionTime:
		return "by their maximum execution time"
	case ActiveDeadline:
		return "by their deadline"
	case TeamPriorityHistory:
		return "by the usual length in their team and priority"
	case TeamHistory:
		return "by the usual length in their team"
	case Assumed:
		return "by the assumed duration"
	case PastAssumed:
		return "at any time, having run longer than assumed"
	}
	return string(s)
}

// Workload estimates when one workload starts. It may be one that is not in the
// world yet: then it is added. Errors are those of the engine.
func Workload(ctx context.Context, w World, o Options, target *kueue.Workload) (ETA, error) {
	etas, err := estimate(ctx, w, o.withDefaults(), []*kueue.Workload{target}, true)
	if err != nil {
		return ETA{}, err
	}
	return etas[0], nil
}

// Queue estimates when each of the workloads that wait in a ClusterQueue starts,
// in the order the scheduler takes them.
func Queue(ctx context.Context, w World, o Options, clusterQueue string) ([]ETA, error) {
	o = o.withDefaults()
	e, err := w.present(o)
	if err != nil {
		return nil, err
	}
	w.Now = e
	byKey := w.waiting()
	var targets []*kueue.Workload
	for _, p := range e.Pending(clusterQueue) {
		if t := byKey[key{p.Namespace, p.Name}]; t != nil {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return nil, nil
	}
	return estimate(ctx, w, o, targets, false)
}

// key names a workload.
type key struct{ namespace, name string }

func (k key) String() string { return k.namespace + "/" + k.name }

func keyOf(w *kueue.Workload) key { return key{w.Namespace, w.Name} }

func (w World) waiting() map[key]*kueue.Workload {
	out := map[key]*kueue.Workload{}
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok {
			out[keyOf(wl)] = wl
		}
	}
	return out
}

// present is the world as it is now.
func (w World) present(o Options) (*admission.Engine, error) {
	if w.Now != nil {
		return w.Now, nil
	}
	return w.engine(func() time.Time { return o.Now })
}

// engine makes an engine of the world; what cannot be right is left out, as the
// caller was told when it loaded the same objects.
func (w World) engine(now func() time.Time, keep ...func(client.Object) bool) (*admission.Engine, error) {
	cfg := w.Config
	cfg.Now = now
	e, err := admission.New(cfg)
	if err != nil {
		return nil, err
	}
	objects := w.Objects
	for _, want := range keep {
		var some []client.Object
		for _, o := range objects {
			if want(o) {
				some = append(some, o)
			}
		}
		objects = some
	}
	_ = e.Load(context.Background(), objects...)
	return e, nil
}
