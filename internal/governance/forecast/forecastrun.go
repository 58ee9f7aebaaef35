package forecast

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// pass is one run forward.
type pass struct {
	w     World
	o     Options
	known *durations
	open  map[key]*ETA // targets without a known start
	keep  func(client.Object) bool
	add   []*kueue.Workload // targets that may not be in the world yet
	slow  bool              // workloads end late instead of early
	size  size
}

// start is when a target started.
type start struct {
	at     time.Time
	ended  int // workloads that had ended by then
	checks bool
}

// forecastRun is a pass under way, and its result.
type forecastRun struct {
	pass
	t   *tree // nil in Advance
	e   *admission.Engine
	now time.Time

	objects map[key]*kueue.Workload
	running map[key]bool
	// evicting are workloads whose eviction ends when they are due: until then they hold
	// their quota, and then they queue again.
	evicting map[key]bool
	due      endings
	ended    []queue.DurationSource
	started  map[key]start // targets
	begun    []key         // all that were admitted, in that order

	jobOf          func(*kueue.Workload) (name, kind string) // see inputs.JobsOf
	unboundedNames []string
	unbounded      int // running workloads of the target's tree without a known end
	steps          int // in which something ended
	gates          int // that were opened
	unsettled      bool
	exhausted      bool
}

// ending is a workload that ends at a time.
type ending struct {
	at     time.Time
	key    key
	source queue.DurationSource
}

// endings is a heap, the earliest first; equal times by name.
type endings []ending

func (e endings) Len() int { return len(e) }
func (e endings) Less(i, j int) bool {
	return cmp.Or(e[i].at.Compare(e[j].at), cmp.Compare(e[i].key.Namespace, e[j].key.Namespace), cmp.Compare(e[i].key.Name, e[j].key.Name)) < 0
}
func (e endings) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)   { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// run goes forward until every target has started, no workload has an end left, or
// the horizon is reached.
func (t *tree) run(ctx context.Context, p pass) (*forecastRun, error) {
	r := &forecastRun{pass: p, t: t, now: p.o.Now, objects: map[key]*kueue.Workload{}, running: map[key]bool{}, evicting: map[key]bool{}, started: map[key]start{}}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	if err := r.schedule(ctx, 0); err != nil {
		return nil, err
	}
	for len(r.started) < len(r.open) && !r.unsettled {
		if r.openGate(r.o.Now.Add(r.o.Horizon)) {
			if err := r.schedule(ctx, 0); err != nil {
				return nil, err
			}
			continue
		}
		batch := r.next(r.steps)
		if len(batch) == 0 || r.steps >= r.size.steps {
			r.exhausted = len(batch) > 0
			break
		}
		// Early ends happen with the first of a batch, late ones with the last.
		r.now = batch[0].at
		if r.slow {
			r.now = batch[len(batch)-1].at
		}
		if r.now.Sub(r.o.Now) > r.o.Horizon {
			r.exhausted = true
			break
		}
		err := r.end(ctx, batch, func(e ending) { r.ended = append(r.ended, e.source) })
		if err != nil {
			return nil, err
		}
		if err := r.schedule(ctx, len(batch)); err != nil {
			return nil, err
		}
		r.steps++
	}
	return r, nil
}

// endless reports a run in which no target started and nothing has a known end, not even by an assumption: no running
// workload, no eviction, and no gate. Time changes nothing then, and all that is left to say is which workloads have no
// known end.
func (r *forecastRun) endless() bool {
	return r.o.Assume == 0 && len(r.due) == 0 && r.steps == 0 && r.gates == 0 && len(r.started) == 0 && !r.exhausted && !r.unsettled
}

// openGate goes forward to when Kueue lets a variant of a workload preempt. It reports whether that is before anything ends,
// and not after a time.
func (r *forecastRun) openGate(until time.Time) bool {
	at, ok := r.e.NextGate()
	if !ok || at.After(until) || len(r.due) > 0 && !at.Before(r.due[0].at) || r.gates >= r.size.gates {
		return false
	}
	r.gates++
	r.now = at
	return true
}

// end ends a batch: evictions under way, and running workloads, which are reported to ended.
func (r *forecastRun) end(ctx context.Context, batch []ending, ended func(ending)) error {
	for _, e := range batch {
		if r.evicting[e.key] {
			delete(r.evicting, e.key)
			r.e.EndEviction(ctx, e.key.Namespace, e.key.Name)
			continue
		}
		delete(r.running, e.key)
		ended(e)
		if err := r.e.Remove(ctx, e.key.Namespace, e.key.Name); err != nil {
			return err
		}
	}
	return nil
}

// load makes the engine and collects the running workloads.
func (r *forecastRun) load(ctx context.Context) error {
	world := r.w
	if r.size.strip {
		world.Objects = withoutPreemption(world.Objects, r.t.target)
	}
	keep := func(o client.Object) bool {
		if r.keep != nil && !r.keep(o) {
			return false
		}
		if w, ok := o.(*kueue.Workload); ok {
			r.objects[keyOf(w)] = w
		}
		return true
	}
	var err error
	if r.e, err = world.engine(ctx, func() time.Time { return r.now }, keep); err != nil {
		return err
	}
	for _, w := range r.add {
		if r.objects[keyOf(w)] == nil {
			r.objects[keyOf(w)] = w
			if err := r.e.Load(ctx, w); err != nil {
				return err
			}
		}
	}
	r.e.KeepEvictions()
	r.e.DelayRequeues()
	r.e.AssumeReady()
	for _, w := range r.e.Evicting() {
		k, at := keyOf(w), inputs.EvictionEnd(w, r.now)
		r.evicting[k] = true
		heap.Push(&r.due, ending{at: at, key: k})
	}
	r.jobOf = inputs.JobsOf(func() (pods []*corev1.Pod) {
		for _, o := range r.w.Objects {
			if p, ok := o.(*corev1.Pod); ok {
				pods = append(pods, p)
			}
		}
		return pods
	})
	for _, w := range r.objects {
		if inputs.Reserves(w) && !r.evicting[keyOf(w)] {
			r.begin(keyOf(w), elapsed(w, r.now))
		}
	}
	slices.Sort(r.unboundedNames)
	r.unboundedNames = slices.Compact(r.unboundedNames) // a Deployment has a workload for each pod
	return nil
}

// begin records that a workload runs, and for how long it has been running.
func (r *forecastRun) begin(k key, elapsed time.Duration) {
	r.running[k] = true
	if r.o.Held[k] {
		return
	}
	w := r.objects[k]
	s := r.known.remaining(w, elapsed)
	if !s.known || r.slow && s.source == queue.PastAssumed {
		if r.t != nil && r.t.roots[r.t.queueOf(w)] == r.t.roots[r.t.target] {
			r.unbounded++
			name, _ := r.jobOf(w)
			r.unboundedNames = append(r.unboundedNames, key{Namespace: w.Namespace, Name: name}.String())
		}
		return
	}
	left := s.low
	if r.slow {
		left = s.high
	}
	heap.Push(&r.due, ending{r.now.Add(left), k, s.source})
}

// schedule lets the engine admit workloads to what n ends have freed, and records
// the starts.
func (r *forecastRun) schedule(ctx context.Context, n int) error {
	cycles := r.size.cycles
	if r.size.more > 0 {
		cycles += min(n/r.size.more, r.size.cycles)
	}
	tl, err := r.e.Run(ctx, cycles)
	if err != nil {
		return err
	}
	r.unsettled = !tl.Settled && !r.size.strip
	for _, ev := range tl.Events {
		k := key{Namespace: ev.Namespace, Name: ev.Name}
		switch ev.Kind {
		case admission.EventAdmitted, admission.EventQuotaReserved:
			if _, wanted := r.open[k]; wanted {
				if _, again := r.started[k]; !again {
					r.started[k] = start{r.now, len(r.ended), ev.Kind == admission.EventQuotaReserved}
				}
			}
			r.begun = append(r.begun, k)
			r.begin(k, 0)
		case admission.EventPreempted, admission.EventReplaced, admission.EventEvicted:
			delete(r.running, k)
			r.due = slices.DeleteFunc(r.due, func(e ending) bool { return e.key == k })
			heap.Init(&r.due)
		}
	}
	return nil
}

// few is the number of known ends up to which each is one step.
const few = 64

// next takes the ends of the next step. Among many, those close together are one
// step: all within a part of the simulated time, and as many as the remaining steps
// require.
func (r *forecastRun) next(step int) []ending {
	if len(r.due) == 0 {
		return nil
	}
	batch := []ending{heap.Pop(&r.due).(ending)}
	slack := time.Duration(0)
	if len(r.due) > few {
		slack = time.Duration(float64(batch[0].at.Sub(r.o.Now)) * r.size.slack)
	}
	least := (len(r.due) + 1) / max(r.size.steps-step, 1)
	for len(r.due) > 0 && (!r.due[0].at.After(batch[0].at.Add(slack)) || len(batch) < least) {
		batch = append(batch, heap.Pop(&r.due).(ending))
	}
	return batch
}

// basis counts the sources of the first n ends.
func (r *forecastRun) basis(n int) []Basis {
	counts := map[queue.DurationSource]int{}
	for _, s := range r.ended[:n] {
		counts[s]++
	}
	var out []Basis
	for s, n := range counts {
		out = append(out, Basis{s, n})
	}
	slices.SortFunc(out, func(a, b Basis) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Source, b.Source)) })
	return out
}

// withoutPreemption turns preemption off in all queues but one.
func withoutPreemption(objects []client.Object, but string) []client.Object {
	out := slices.Clone(objects)
	for i, o := range out {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Name != but && q.Spec.Preemption != nil {
			c := *q
			c.Spec.Preemption = nil
			out[i] = &c
		}
	}
	return out
}
