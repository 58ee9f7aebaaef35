// Package forecast estimates when waiting workloads start. It runs Kueue's own
// decisions forward in time: running workloads end after their known durations, the
// admission engine admits others to what they free, and the clock advances to the
// next end. The result is an estimate: new jobs arrive, and durations are maxima or
// medians. Every estimate names its basis.
//
// The functions are pure: the same world, options and clock give the same answer.
package forecast

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// World is the cluster that a forecast starts from.
type World struct {
	// Config are Kueue's rules. Its clock is replaced.
	Config admission.Config
	// Objects are everything an engine loads. They are not changed.
	Objects []client.Object
	// Finished are finished workloads. Their durations predict those of others.
	Finished []*kueue.Workload
	// Now is an engine that has loaded the objects and whose clock is Options.Now. It is
	// not changed. Nil: one is made.
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
	// Assume is the duration of workloads of unknown duration; 0: none.
	Assume time.Duration
	// Deadline returns what a workload's job says about its end. Nil: only the workload's
	// own limits count.
	Deadline func(*kueue.Workload) StatedEnd
	// Horizon is the maximum time to look ahead; 0 is 30 days.
	Horizon time.Duration
	// Held are workloads that hold quota and make no progress, for example because their
	// nodes are gone: they do not end.
	Held map[types.NamespacedName]bool
}

// StatedEnd is what a job says about its end.
type StatedEnd struct {
	// Deadline is its longest run time (activeDeadlineSeconds), 0 for none.
	Deadline time.Duration
	// Left is the remaining run time that the job itself reports now, 0 for none. It is at
	// least a second for a job that reports one and is past it.
	Left time.Duration
}

func (o Options) withDefaults() Options {
	if o.Horizon <= 0 {
		o.Horizon = 30 * 24 * time.Hour
	}
	return o
}

// ETA is the estimate for one workload.
type ETA struct {
	Namespace, Name string
	// Known is false when there is no estimate; Code says why.
	Known bool
	// Earliest is when it starts if only its own queue competes with it and running
	// workloads end early.
	Earliest time.Time
	// Latest is when it starts if every queue competes and running workloads end late;
	// those that have run longer than assumed never end. Zero: there is no upper end;
	// Code says why.
	Latest time.Time
	Code   queue.ETACode
	// Message is Kueue's, of NotQueued and NeverFits.
	Message string
	// NotModelled names the features of Code NotModelled (see package admission).
	NotModelled []string
	// Checks: admission checks must pass after it has its quota.
	Checks bool
	// Basis counts the sources of the durations, the most frequent first.
	Basis []Basis
	// Unknown are running jobs of its cohort tree without a known end ("namespace/name"),
	// at most ten; UnknownTotal counts all of them.
	Unknown      []string
	UnknownTotal int
	// Horizon is set for BeyondHorizon when the run reached it. Otherwise the job does
	// not start even after every running job has ended.
	Horizon time.Duration
}

// Wait returns the range as durations from now. A zero Latest gives 0 for to.
func (e ETA) Wait(now time.Time) (from, to time.Duration) {
	from = max(e.Earliest.Sub(now), 0)
	if !e.Latest.IsZero() {
		to = max(e.Latest.Sub(now), from)
	}
	return from, to
}

// Basis counts the workloads whose ends come from one source.
type Basis struct {
	Source queue.DurationSource
	Count  int
}

// Workload estimates when one workload starts. A workload that is not in the world is
// added to it. Errors are those of the engine, and without World.Now those of objects
// that it rejects.
func Workload(ctx context.Context, w World, o Options, target *kueue.Workload) (ETA, error) {
	etas, err := estimate(ctx, w, o.withDefaults(), []*kueue.Workload{target}, true)
	if err != nil {
		return ETA{}, err
	}
	return etas[0], nil
}

// Queue estimates when each waiting workload of a ClusterQueue starts, in the order
// of the scheduler.
func Queue(ctx context.Context, w World, o Options, clusterQueue string) ([]ETA, error) {
	o = o.withDefaults()
	e, err := w.present(ctx, o)
	if err != nil {
		return nil, err
	}
	w.Now = e
	byKey := w.waiting()
	var targets []*kueue.Workload
	for _, p := range e.Pending(clusterQueue) {
		if t := byKey[key{Namespace: p.Namespace, Name: p.Name}]; t != nil {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return nil, nil
	}
	return estimate(ctx, w, o, targets, false)
}

// key names a workload.
type key = types.NamespacedName

func keyOf(w *kueue.Workload) key { return key{Namespace: w.Namespace, Name: w.Name} }

func (w World) waiting() map[key]*kueue.Workload {
	out := map[key]*kueue.Workload{}
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok {
			out[keyOf(wl)] = wl
		}
	}
	return out
}

// present returns an engine with the cluster as it is now.
func (w World) present(ctx context.Context, o Options) (*admission.Engine, error) {
	if w.Now != nil {
		return w.Now, nil
	}
	e, err := w.engine(ctx, func() time.Time { return o.Now }, nil)
	if err == nil {
		e.AsFound()
	}
	return e, err
}

// engine makes an engine of the objects of the world that keep accepts; nil accepts
// all. Objects that the engine rejects are an error only without World.Now, because
// the caller that made World.Now has the same error.
func (w World) engine(ctx context.Context, now func() time.Time, keep func(client.Object) bool) (*admission.Engine, error) {
	cfg := w.Config
	cfg.Now = now
	e, err := admission.New(cfg)
	if err != nil {
		return nil, err
	}
	objects, variants := admission.TakeVariants(w.Objects)
	if keep != nil {
		objects = slices.DeleteFunc(slices.Clone(objects), func(o client.Object) bool { return !keep(o) })
	}
	objects = admission.AddVariants(objects, variants)
	if err := e.Load(ctx, objects...); err != nil && w.Now == nil {
		return nil, err
	}
	return e, nil
}
