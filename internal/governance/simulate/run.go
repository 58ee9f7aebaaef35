package simulate

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func keyOf(w *kueue.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}

// result is a world after some scheduling.
type result struct {
	world    World
	shown    func(*kueue.Workload) string // see shownNames
	byKey    map[types.NamespacedName]*kueue.Workload
	states   map[types.NamespacedName]*standing
	events   []admission.Event // admissions, evictions and replaced slices
	cycles   []Cycle
	settled  bool
	count    int       // scheduling cycles
	now      time.Time // the clock, which ends of evictions and gates of variants move
	opened   int       // gates
	takes    time.Duration
	evicting []types.NamespacedName // evictions in progress before the run
	loop     *Loop
	problems []error
	warnings []admission.Warning
	idle     map[string]state.Condition   // Active conditions of ClusterQueues that admit nothing
	faults   []quota.Problem              // see figures
	variants []*kueue.Workload            // of all workloads, after the run
	teams    map[string]*TeamState        // see figures
	rank     map[types.NamespacedName]int // see sortByReservation
}

// maxCycles is the number of cycles without progress after which a policy counts as never converging, even if
// no loop was found.
const maxCycles = 1000

// chunk is the number of cycles between two checks for a policy that never converges.
const chunk = 60

// untouched, for steps, is the world as it is: nothing runs.
const untouched = -1

// run lets the world settle, or runs so many cycles, one by one, if steps > 0. As in Kueue, workloads that were put aside are tried
// when nothing else changes any more. takes is Options.EvictionTakes.
func run(ctx context.Context, w World, steps int, takes time.Duration) (*result, error) {
	r := &result{world: w, shown: w.shownNames(), now: w.Now, takes: takes, states: map[types.NamespacedName]*standing{}}
	e, bad, err := w.engine(ctx, func() time.Time { return r.now })
	if err != nil {
		return nil, err
	}
	if takes >= 0 {
		e.KeepEvictions()
	}
	e.DelayRequeues()
	if w.asFound {
		e.SetAside(ctx, w.again)
	}
	for _, w := range e.Evicting() {
		r.evicting = append(r.evicting, keyOf(w))
	}
	r.problems = admission.Problems(bad)
	switch {
	case steps == untouched:
	case steps > 0:
		err = r.stepwise(ctx, e, steps)
	default:
		err = r.settle(ctx, e)
	}
	if err != nil {
		return nil, err
	}
	r.read(e)
	r.place()
	r.warnings = e.Warnings()
	return r, nil
}

// settle runs until nothing changes any more. Kueue takes one workload of a queue per cycle, so a long queue
// takes many: a workload that starts, or is evicted for the first time, is progress, and there is only so much
// of it; repeated evictions of the same workload are not.
func (r *result) settle(ctx context.Context, e *admission.Engine) error {
	evicted := map[types.NamespacedName]bool{}
	limit := maxCycles + len(r.index()) // Kueue may evaluate every workload before one moves
	for contested, quiet := 0, 0; contested < maxCycles; {
		t, err := e.Run(ctx, chunk)
		if err != nil {
			return &Error{Code: NotRun, Err: err}
		}
		r.add(t.Events)
		r.count += t.Cycles
		if r.settled = t.Settled; r.settled {
			if r.endEvictions(ctx, e) || e.AssumeReady() || r.openGate(e) {
				continue
			}
			return nil
		}
		some, again := moved(t.Events, evicted)
		if quiet += t.Cycles; some {
			quiet = 0
		}
		if quiet > limit {
			r.settled = true // heads are tried forever without a change
			return nil
		}
		if !again {
			continue
		}
		contested += t.Cycles
		if r.loop = r.repeats(e); r.loop != nil {
			return nil
		}
	}
	r.loop = mostFrequent(r.events, r.label)
	return nil
}

// repeats returns the loop with which the events end; nil when there is none. Where each start counts as use, steps that
// repeat do not make a loop: use ends them.
func (r *result) repeats(e *admission.Engine) *Loop {
	l := findLoop(r.events, r.label)
	if l == nil || slices.ContainsFunc(l.Steps, func(s LoopStep) bool { return e.ByPastUse(s.Workload, s.TargetWorkload) }) {
		return nil
	}
	return l
}

// endEvictions ends the evictions in progress when their pods have ended, and reports
// whether there were any. The clock advances to the end of the last one.
func (r *result) endEvictions(ctx context.Context, e *admission.Engine) bool {
	list := e.Evicting()
	for _, w := range list {
		if at := r.endOf(w); at.After(r.now) {
			r.now = at
		}
	}
	for _, w := range list {
		e.EndEviction(ctx, w.Namespace, w.Name)
	}
	return len(list) > 0
}

// openGate advances the clock to when Kueue lets another variant of a workload preempt, and reports whether there is one. After
// many of them, the world counts as one that never settles.
func (r *result) openGate(e *admission.Engine) bool {
	at, ok := e.NextGate()
	if !ok {
		return false
	}
	if r.opened == maxCycles {
		r.settled = false
		return false
	}
	r.opened++
	r.now = at
	return true
}

// endOf is when the pods of a workload that is being evicted have ended.
func (r *result) endOf(w *kueue.Workload) time.Time {
	takes := r.takes
	if takes == 0 {
		takes = inputs.GracePeriod(w)
	}
	if c := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted); c != nil {
		return c.LastTransitionTime.Add(takes)
	}
	return r.now.Add(takes)
}

// moved reports events that start or evict workloads, and evictions of workloads
// that were evicted before; it adds those evicted now.
func moved(events []admission.Event, evicted map[types.NamespacedName]bool) (some, again bool) {
	m := moves(events)
	for _, ev := range m {
		if k := (types.NamespacedName{Namespace: ev.Namespace, Name: ev.Name}); ev.Kind == admission.EventPreempted {
			again = again || evicted[k]
			evicted[k] = true
		}
	}
	return len(m) > 0, again
}

// add appends the events of a run, whose cycles are counted from 1. It leaves out that workloads wait, which most events say:
// read asks the engine for that in the end.
func (r *result) add(events []admission.Event) {
	for _, ev := range events {
		switch ev.Kind {
		case admission.EventPending, admission.EventSkipped, admission.EventPreempting:
			continue
		}
		ev.Cycle += r.count
		r.events = append(r.events, ev)
	}
}

// stepwise runs single cycles and keeps what each of them did.
func (r *result) stepwise(ctx context.Context, e *admission.Engine, steps int) error {
	r.cycles = []Cycle{}
	quiet := 0
	for range steps {
		t, err := e.Run(ctx, 1)
		if err != nil {
			return &Error{Code: NotRun, Err: err}
		}
		if t.Cycles == 0 {
			r.settled = true
			return nil
		}
		r.add(t.Events)
		r.count++
		c := r.cycle(e, t.Events)
		r.cycles = append(r.cycles, c)
		if quiet++; len(c.Scheduled)+len(c.Preempted)+len(c.Replaced)+len(c.Evicted) > 0 {
			quiet = 0
		}
	}
	// StrictFIFO queues try their head forever: some cycles without a change count as settled.
	r.settled = quiet > 1
	r.loop = nil
	if !r.settled {
		r.loop = r.repeats(e)
	}
	return nil
}

// read takes the states of all workloads.
func (r *result) read(e *admission.Engine) {
	why := map[types.NamespacedName]admission.PendingWorkload{}
	for _, q := range all[*kueue.ClusterQueue](r.world) {
		for _, p := range e.Pending(q.Name) {
			why[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
		}
	}
	queued := maps.Clone(why)
	for _, p := range e.Pending("") {
		why[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
	}
	r.idle = map[string]state.Condition{}
	for _, q := range all[*kueue.ClusterQueue](r.world) {
		if active, reason, message := e.Readiness(q.Name); !active {
			r.idle[q.Name] = state.Condition{Type: kueue.ClusterQueueActive, Status: "False", Reason: reason, Message: message}
		}
	}
	preempted := map[types.NamespacedName]string{}
	for _, ev := range r.events {
		k := types.NamespacedName{Namespace: ev.Namespace, Name: ev.Name}
		switch ev.Kind {
		case admission.EventPreempted:
			preempted[k] = ev.By
		case admission.EventAdmitted, admission.EventQuotaReserved:
			delete(preempted, k)
		}
	}
	queues := map[types.NamespacedName]string{}
	for _, lq := range all[*kueue.LocalQueue](r.world) {
		queues[types.NamespacedName{Namespace: lq.Namespace, Name: lq.Name}] = string(lq.Spec.ClusterQueue)
	}
	for _, w := range all[*kueue.Workload](r.world) {
		k := keyOf(w)
		now := e.Stored(k.Namespace, k.Name)
		if now == nil {
			continue
		}
		r.variants = append(r.variants, e.Variants(k.Namespace, k.Name)...)
		s := r.stateOf(now)
		if s.ClusterQueue == "" {
			s.ClusterQueue = queues[types.NamespacedName{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}]
		}
		if p, waiting := why[k]; waiting {
			s.Reason, s.Message = p.Reason, p.Message
			if s.State = Waiting; admission.NeverAdmitted(p.Reason) {
				s.State = Never
			}
			if by, was := preempted[k]; was {
				s.State, s.By = Preempted, by
			}
			if admission.Lost(now) {
				s.State = Lost
			}
		}
		r.states[k] = s
	}
	r.undecided(e, queued)
}

// undecided marks the workloads whose state depends on what is not modelled: those that wait in a queue, and
// those that this run admitted.
func (r *result) undecided(e *admission.Engine, waiting map[types.NamespacedName]admission.PendingWorkload) {
	decided := map[types.NamespacedName]bool{}
	for _, ev := range r.events {
		decided[types.NamespacedName{Namespace: ev.Namespace, Name: ev.Name}] = true
	}
	for k, s := range r.states {
		if _, waits := waiting[k]; s.State == Finished || s.State == Never || s.State == Evicting || s.State == Lost || s.Reason == kueue.WorkloadQuotaReservedReasonSuspended || !waits && !decided[k] {
			continue
		}
		if names := e.NotModelled(k.Namespace, k.Name); len(names) > 0 {
			s.State, s.Reason, s.Message, s.NotModelled = Unknown, string(NotModelled), "", names
		}
	}
}

// settledWorld returns the world with the workloads as they are after the run.
func (r *result) settledWorld() World {
	w, jobs := r.world, r.world.podJobs()
	w.started = maps.Clone(w.started)
	if w.started == nil {
		w.started = map[types.NamespacedName]bool{}
	}
	left := map[podHolder]bool{} // jobs whose pods are as they were
	for _, s := range r.states {
		left[jobs.holder(s.object)] = left[jobs.holder(s.object)] || s.reserves()
	}
	for _, e := range r.events {
		k := types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
		switch e.Kind {
		case admission.EventAdmitted, admission.EventQuotaReserved:
			w.started[k] = true
		case admission.EventPreempted, admission.EventReplaced, admission.EventEvicted:
			delete(w.started, k)
		default:
			continue
		}
		if s := r.states[k]; s != nil {
			left[jobs.holder(s.object)] = false
		}
	}
	w.variants = r.variants
	w.Objects = make([]client.Object, 0, len(r.world.Objects))
	for _, o := range r.world.Objects {
		switch o := o.(type) {
		case *kueue.Workload:
			if s := r.states[keyOf(o)]; s != nil {
				w.Objects = append(w.Objects, s.object)
				continue
			}
		case *corev1.Pod:
			if job, known := jobs.of(o); known && !left[job] {
				w.Objects = append(w.Objects, unbound(o)) // it ended with the run
				continue
			}
		}
		w.Objects = append(w.Objects, o)
	}
	return w
}

// label returns how a workload is called in a text.
func (r *result) label(namespace, name string) string {
	return namespace + "/" + r.jobName(namespace, name)
}
