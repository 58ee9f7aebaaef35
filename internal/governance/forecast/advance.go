package forecast

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Later is the state of a world after a time.
type Later struct {
	// Workloads are those that are left, as Kueue's decisions leave them.
	Workloads map[key]*kueue.Workload
	// Variants are those of Workloads, one for each flavor, by name.
	Variants []*kueue.Workload
	// Ended have run to their end, Started were admitted on the way, by name.
	Ended, Started []key
	// NoEnd are workloads that hold quota and whose end is not known, by name: they still
	// run.
	NoEnd []key
	// Unsettled: the preemption policies never converge.
	Unsettled bool
}

// Advance runs the world on until a time. Running workloads end as late as their known
// durations allow, and Kueue admits others to what they free.
func Advance(ctx context.Context, w World, o Options, until time.Time) (*Later, error) {
	o = o.withDefaults()
	r := &forecastRun{pass: pass{w: w, o: o, known: learn(w.Finished, o), slow: true, size: exact}, now: o.Now, objects: map[key]*kueue.Workload{},
		running: map[key]bool{}, evicting: map[key]bool{}, started: map[key]start{}}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	if err := r.schedule(ctx, 0); err != nil {
		return nil, err
	}
	out := &Later{Workloads: map[key]*kueue.Workload{}}
	for step := 0; ; {
		if r.openGate(until) {
			if err := r.schedule(ctx, 0); err != nil {
				return nil, err
			}
			continue
		}
		if len(r.due) == 0 || r.due[0].at.After(until) {
			break
		}
		batch := r.next(step)
		if n := slices.IndexFunc(batch, func(e ending) bool { return e.at.After(until) }); n > 0 {
			for _, e := range batch[n:] {
				heap.Push(&r.due, e)
			}
			batch = batch[:n]
		}
		r.now = batch[len(batch)-1].at
		err := r.end(ctx, batch, func(e ending) { out.Ended = append(out.Ended, e.key) })
		if err != nil {
			return nil, err
		}
		if err := r.schedule(ctx, len(batch)); err != nil {
			return nil, err
		}
		step++
	}
	out.Unsettled = r.unsettled
	dated := map[key]bool{}
	for _, e := range r.due {
		dated[e.key] = true
	}
	for k := range r.objects {
		if now := r.e.Stored(k.Namespace, k.Name); now != nil {
			out.Workloads[k] = now
			out.Variants = append(out.Variants, r.e.Variants(k.Namespace, k.Name)...)
		}
		if r.running[k] && !dated[k] && !r.o.Held[k] {
			out.NoEnd = append(out.NoEnd, k)
		}
	}
	slices.SortFunc(out.Variants, func(a, b *kueue.Workload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out.Started = slices.Clone(r.begun)
	for _, list := range [][]key{out.Ended, out.Started, out.NoEnd} {
		slices.SortFunc(list, func(a, b key) int { return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) })
	}
	out.Started = slices.Compact(out.Started)
	return out, nil
}
