package forecast

import (
	"context"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// estimate runs the world forward twice: once with only the targets' own queue
// competing and early ends, once with every queue competing and late ends. If the first run
// shows that nothing ends, there is no second one.
func estimate(ctx context.Context, w World, o Options, targets []*kueue.Workload, alone bool) ([]ETA, error) {
	targets = stamped(targets, o.Now)
	t := newTree(w, targets)
	everyone, err := w.present(ctx, o)
	if err != nil {
		return nil, err
	}
	out := make([]ETA, len(targets))
	open := map[key]*ETA{}
	for i, target := range targets {
		out[i] = ETA{Namespace: target.Namespace, Name: target.Name}
		if done, err := present(ctx, everyone, o, target, &out[i]); err != nil {
			return nil, err
		} else if !done {
			open[keyOf(target)] = &out[i]
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	known := learn(w.Finished, o)
	quick, err := t.run(ctx, pass{w: w, o: o, known: known, open: open, keep: t.ownQueue(targets, alone), add: targets, size: exact})
	if err != nil {
		return nil, err
	}
	if quick.endless() {
		for k, e := range open {
			conclude(e, quick, quick, k)
		}
		return out, nil
	}
	s := t.size()
	slow, err := t.run(ctx, pass{w: w, o: o, known: known, open: open, keep: t.firsts(w, s.queue), add: targets, slow: true, size: s})
	if err != nil {
		return nil, err
	}
	for k, e := range open {
		conclude(e, quick, slow, k)
	}
	return out, nil
}

// stamped gives workloads that do not exist yet a creation time of now.
func stamped(targets []*kueue.Workload, now time.Time) []*kueue.Workload {
	out := slices.Clone(targets)
	for i, w := range out {
		if w.CreationTimestamp.IsZero() {
			c := *w
			c.CreationTimestamp.Time = now
			out[i] = &c
		}
	}
	return out
}

// present answers for targets that start now or never; done is false when a run
// forward is needed.
func present(ctx context.Context, e *admission.Engine, o Options, target *kueue.Workload, out *ETA) (done bool, err error) {
	d, err := e.Probe(ctx, target)
	if err != nil {
		return true, err
	}
	switch {
	case len(d.NotModelled) > 0 && d.Outcome != admission.Never && !blocked(d.Reason):
		out.Code, out.NotModelled = queue.NotModelled, d.NotModelled
		return true, nil
	case d.Outcome.Starts():
		out.Known, out.Earliest, out.Latest = true, o.Now, o.Now
		return true, nil
	case blocked(d.Reason):
		out.Code, out.Message = queue.NotQueued, d.Message
		return true, nil
	case d.Outcome == admission.Never:
		out.Code, out.Message = queue.NeverFits, d.Message
		return true, nil
	}
	return false, nil
}

// blocked reports a reason that does not pass with time.
func blocked(reason string) bool {
	return slices.Contains([]string{
		kueue.WorkloadQuotaReservedReasonMisconfigured, kueue.WorkloadQuotaReservedReasonSuspended,
		kueue.WorkloadAdmissionGated, kueue.WorkloadDeactivated,
	}, reason)
}

// conclude joins the two runs into one range.
func conclude(e *ETA, quick, slow *forecastRun, k key) {
	first, soon := quick.started[k]
	last, late := slow.started[k]
	switch {
	case soon && late && last.at.Before(first.at):
		first = last
	case late && !soon:
		first, soon = last, true
	}
	from := slow
	if !late {
		from = quick
		slow.explain(e)
		if e.Code == queue.Overdue && !soon {
			quick.explain(e) // it does not start even if the overdue jobs end now
		}
	}
	if !soon {
		return
	}
	e.Known, e.Earliest = true, first.at
	if late {
		e.Latest = last.at
	}
	e.Basis = from.basis(from.started[k].ended)
	e.Checks = first.checks
}

// explain sets why a run ended without the workload.
func (r *forecastRun) explain(e *ETA) {
	e.Unknown, e.UnknownTotal, e.Horizon = r.unboundedNames[:min(len(r.unboundedNames), mostNames)], r.unbounded, 0
	switch {
	case r.unsettled:
		e.Code = queue.Unsettled
	case r.unbounded > 0 && r.o.Assume > 0: // only jobs that have outrun the assumption have no end
		e.Code = queue.Overdue
	case r.unbounded > 0:
		e.Code = queue.NoDuration
	default:
		if e.Code = queue.BeyondHorizon; r.exhausted {
			e.Horizon = r.o.Horizon
		}
	}
}

// mostNames is how many jobs without a known end are named.
const mostNames = 10

// size is how closely a run follows a world.
type size struct {
	cycles int // scheduling cycles after each step
	more   int // number of simultaneous ends that add one cycle (0: none)
	steps  int // maximum number of steps
	gates  int // maximum number of preemption gates that open between them
	// slack is the part of the elapsed simulated time within which ends count as
	// simultaneous.
	slack float64
	// queue is how many waiting workloads of each other queue compete (0: all).
	queue int
	strip bool // other queues start no preemption
}

var (
	// exact follows every end until the queues settle.
	exact = size{cycles: 500, steps: 4096, gates: 4096, slack: 0.05}
	// coarse is for large clusters: ends that are close together happen at once, and
	// then only the first workloads of each queue are tried. The range becomes wider.
	coarse = size{cycles: 2, more: 100, steps: 28, gates: 256, slack: 0.25, queue: 24, strip: true}
)

// tree knows which queues share a cohort tree.
type tree struct {
	localQueues map[key]string    // ClusterQueue by LocalQueue
	roots       map[string]string // root of the cohort tree by ClusterQueue
	waiting     map[string]int    // waiting workloads by ClusterQueue
	running     int
	target      string // the targets' ClusterQueue
	queuedAt    func(*kueue.Workload) time.Time
}

func newTree(w World, targets []*kueue.Workload) *tree {
	t := &tree{localQueues: map[key]string{}, roots: map[string]string{}, waiting: map[string]int{}, queuedAt: w.Config.QueuedAt}
	parents, queues := map[string]string{}, map[string]string{}
	for _, o := range w.Objects {
		switch o := o.(type) {
		case *kueue.LocalQueue:
			t.localQueues[key{Namespace: o.Namespace, Name: o.Name}] = string(o.Spec.ClusterQueue)
		case *kueue.Cohort:
			parents[o.Name] = string(o.Spec.ParentName)
		case *kueue.ClusterQueue:
			queues[o.Name] = string(o.Spec.CohortName)
		}
	}
	for q, at := range queues {
		for range len(parents) + 1 { // a cycle ends, too
			if parents[at] == "" {
				break
			}
			at = parents[at]
		}
		t.roots[q] = "cohort " + at
		if at == "" {
			t.roots[q] = "queue " + q
		}
	}
	objects, _ := admission.TakeVariants(w.Objects)
	for _, o := range objects {
		if wl, ok := o.(*kueue.Workload); ok {
			if inputs.Reserves(wl) {
				t.running++
			} else {
				t.waiting[t.queueOf(wl)]++
			}
		}
	}
	t.target = t.queueOf(targets[0])
	return t
}

// queueOf returns the ClusterQueue of a workload.
func (t *tree) queueOf(w *kueue.Workload) string {
	if w.Status.Admission != nil {
		return string(w.Status.Admission.ClusterQueue)
	}
	return t.localQueues[key{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}]
}

// size chooses how closely a world can be followed in about a second.
func (t *tree) size() size {
	if len(t.waiting)*(t.running+50) > 20_000 {
		return coarse
	}
	return exact
}

// firsts keeps, of the queues that are not the target's, the first n that wait.
func (t *tree) firsts(w World, n int) func(client.Object) bool {
	if n == 0 {
		return nil
	}
	queues := map[string][]*kueue.Workload{}
	objects, _ := admission.TakeVariants(w.Objects)
	for _, o := range objects {
		if wl, ok := o.(*kueue.Workload); ok && !inputs.Reserves(wl) {
			queues[t.queueOf(wl)] = append(queues[t.queueOf(wl)], wl)
		}
	}
	cut := map[key]bool{}
	for q, list := range queues {
		if q == t.target || len(list) <= n {
			continue
		}
		slices.SortFunc(list, func(a, b *kueue.Workload) int {
			switch {
			case t.before(a, b):
				return -1
			case t.before(b, a):
				return 1
			}
			return strings.Compare(keyOf(a).String(), keyOf(b).String())
		})
		for _, wl := range list[n:] {
			cut[keyOf(wl)] = true
		}
	}
	return func(o client.Object) bool {
		w, ok := o.(*kueue.Workload)
		return !ok || !cut[keyOf(w)]
	}
}

// ownQueue keeps the waiting workloads of the targets' queue only; of one target,
// those that come before it.
func (t *tree) ownQueue(targets []*kueue.Workload, alone bool) func(client.Object) bool {
	return func(o client.Object) bool {
		w, ok := o.(*kueue.Workload)
		if !ok || inputs.Reserves(w) {
			return true
		}
		return t.queueOf(w) == t.target && (!alone || !t.before(targets[0], w))
	}
}

// before reports the order of a ClusterQueue: priority, then the time of queueing.
func (t *tree) before(a, b *kueue.Workload) bool {
	if keyOf(a) == keyOf(b) {
		return false
	}
	if pa, pb := priority(a), priority(b); pa != pb {
		return pa > pb
	}
	return t.queuedAt(a).Before(t.queuedAt(b))
}

func priority(w *kueue.Workload) int32 {
	if w.Spec.Priority == nil {
		return 0
	}
	return *w.Spec.Priority
}
