package forecast

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// pass is one run forward.
type pass struct {
	w       World
	o       Options
	lengths *lengths
	open    map[key]*ETA // whose start is looked for
	keep    func(client.Object) bool
	add     []*kueue.Workload // targets that may not be in the world yet
	slow    bool              // late ends instead of early ones
	size    size
}

// start is when a target started.
type start struct {
	at     time.Time
	ends   int // workloads that had ended by then
	checks bool
}

// course is a pass under way, and its result.
type course struct {
	pass
	t   *tree
	e   *admission.Engine
	now time.Time

	objects map[key]*kueue.Workload
	running map[key]bool
	due     ends
	ended   []Source
	started map[key]start

	endlessNames []string
	endless      int // running workloads of the target's tree that have no end here
	unsettled    bool
	exhausted    bool
}

// end is a workload that ends.
type end struct {
	at     time.Time
	key    key
	source Source
}

// ends is a heap, the earliest first; equal times by name.
type ends []end

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, j int) bool {
	return cmp.Or(e[i].at.Compare(e[j].at), cmp.Compare(e[i].key.namespace, e[j].key.namespace), cmp.Compare(e[i].key.name, e[j].key.name)) < 0
}
func (e ends) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)   { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// run goes forward until every target has started, nothing more ends, or the
// horizon is reached.
func (t *tree) run(ctx context.Context, p pass) (*course, error) {
	c := &course{pass: p, t: t, now: p.o.Now, objects: map[key]*kueue.Workload{}, running: map[key]bool{}, started: map[key]start{}}
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	if err := c.schedule(ctx, 0); err != nil {
		return nil, err
	}
	for step := 0; len(c.started) < len(c.open) && !c.unsettled; step++ {
		batch := c.next(step)
		if len(batch) == 0 || step >= c.size.steps {
			c.exhausted = len(batch) > 0
			break
		}
		// Early ends happen with the first of a batch, late ones with the last.
		c.now = batch[0].at
		if c.slow {
			c.now = batch[len(batch)-1].at
		}
		if c.now.Sub(c.o.Now) > c.o.Horizon {
			c.exhausted = true
			break
		}
		for _, e := range batch {
			delete(c.running, e.key)
			c.ended = append(c.ended, e.source)
			if err := c.e.Remove(ctx, e.key.namespace, e.key.name); err != nil {
				return nil, err
			}
		}
		if err := c.schedule(ctx, len(batch)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// load makes the engine and finds out what runs.
func (c *course) load(ctx context.Context) error {
	world := c.w
	if c.size.strip {
		world.Objects = withoutPreemption(world.Objects, c.t.target)
	}
	keep := func(o client.Object) bool {
		if c.keep != nil && !c.keep(o) {
			return false
		}
		if w, ok := o.(*kueue.Workload); ok {
			c.objects[keyOf(w)] = w
		}
		return true
	}
	var err error
	if c.e, err = world.engine(func() time.Time { return c.now }, keep); err != nil {
		return err
	}
	for _, w := range c.add {
		if c.objects[keyOf(w)] == nil {
			c.objects[keyOf(w)] = w
			if err := c.e.Load(ctx, w); err != nil {
				return err
			}
		}
	}
	for _, w := range c.objects {
		if inputs.Reserves(w) {
			c.begin(keyOf(w), elapsed(w, c.now))
		}
	}
	slices.Sort(c.endlessNames)
	return nil
}

// begin notes that a workload runs, for a while already.
func (c *course) begin(k key, elapsed time.Duration) {
	c.running[k] = true
	w := c.objects[k]
	s := c.lengths.remaining(w, elapsed)
	if !s.known || c.slow && s.source == PastAssumed {
		if c.t.roots[c.t.queueOf(w)] == c.t.roots[c.t.target] {
			c.endless++
			name, _ := inputs.JobOf(w)
			c.endlessNames = append(c.endlessNames, key{w.Namespace, name}.String())
		}
		return
	}
	left := s.low
	if c.slow {
		left = s.high
	}
	heap.Push(&c.due, end{c.now.Add(left), k, s.source})
}

// schedule lets the engine give away what n ends have freed, and notes who got it.
func (c *course) schedule(ctx context.Context, n int) error {
	cycles := c.size.cycles
	if c.size.more > 0 {
		cycles += min(n/c.size.more, c.size.cycles)
	}
	tl, err := c.e.Run(ctx, cycles)
	if err != nil {
		return err
	}
	c.unsettled = !tl.Settled && !c.size.strip
	for _, ev := range tl.Events {
		k := key{ev.Namespace, ev.Name}
		switch ev.Kind {
		case admission.EventAdmitted, admission.EventQuotaReserved:
			if _, wanted := c.open[k]; wanted {
				if _, again := c.started[k]; !again {
					c.started[k] = start{c.now, len(c.ended), ev.Kind == admission.EventQuotaReserved}
				}
			}
			c.begin(k, 0)
		case admission.EventPreempted, admission.EventReplaced:
			delete(c.running, k)
			c.due = slices.DeleteFunc(c.due, func(e end) bool { return e.key == k })
			heap.Init(&c.due)
		}
	}
	return nil
}

// few is how many known ends are taken one by one.
const few = 64

// next takes the ends that happen next. Where there are many, those close together
// are one step: within a part of the time looked ahead, and as many as the steps
// that are left require.
func (c *course) next(step int) []end {
	if len(c.due) == 0 {
		return nil
	}
	batch := []end{heap.Pop(&c.due).(end)}
	slack := time.Duration(0)
	if len(c.due) > few {
		slack = time.Duration(float64(batch[0].at.Sub(c.o.Now)) * c.size.slack)
	}
	least := (len(c.due) + 1) / max(c.size.steps-step, 1)
	for len(c.due) > 0 && (!c.due[0].at.After(batch[0].at.Add(slack)) || len(batch) < least) {
		batch = append(batch, heap.Pop(&c.due).(end))
	}
	return batch
}

// unknown are the running jobs of which no end is known, at most ten.
func (c *course) unknown() []string { return c.endlessNames[:min(len(c.endlessNames), 10)] }

// basis counts what the first n ends rest on.
func (c *course) basis(n int) []Basis {
	counts := map[Source]int{}
	for _, s := range c.ended[:n] {
		counts[s]++
	}
	var out []Basis
	for s, n := range counts {
		out = append(out, Basis{s, n})
	}
	slices.SortFunc(out, func(a, b Basis) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Source, b.Source)) })
	return out
}

// withoutPreemption takes the right to preempt away from all queues but one.
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
