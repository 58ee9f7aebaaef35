package admission

import (
	"cmp"
	"context"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/workload"
)

// derived is what follows from the queues and the workloads in them, computed on demand and kept until
// something changes. The zero value is empty.
type derived struct {
	local   map[kueue.ClusterQueueReference][]string          // LocalQueues that are not stopped ("namespace/name")
	waiting map[kueue.ClusterQueueReference][]*kueue.Workload // missing: not known
	strict  []kueue.ClusterQueueReference                     // active StrictFIFO queues, by name
	found   bool                                              // strict is known
	head    map[kueue.ClusterQueueReference]*head             // nil: it has none; missing: not known
	heads   []*head                                           // nil: not known
	use     map[string]float64                                // past use of LocalQueues ("namespace/name")
}

// head is the first workload of a StrictFIFO queue.
type head struct {
	workload.Info
	rank rank
}

// rival returns the head as an entry of a Probe of another workload.
func (h *head) rival() *entry {
	return &entry{Head: qcache.Head{Info: h.Info}, rank: h.rank, rival: true}
}

// touch forgets all that was derived.
func (e *Engine) touch() { e.derived, e.nominations = derived{}, nil }

// moved forgets what was derived from the queue that a workload is in, and from the
// quota in use.
func (e *Engine) moved(w *kueue.Workload) {
	e.nominations = nil
	if lq := e.store.queueOf(w); lq != nil {
		delete(e.derived.waiting, lq.Spec.ClusterQueue)
		delete(e.derived.head, lq.Spec.ClusterQueue)
	}
	e.derived.heads = nil
}

// waitingIn returns the workloads waiting in a ClusterQueue, in no order. Those of a
// stopped LocalQueue are in none.
func (e *Engine) waitingIn(cq kueue.ClusterQueueReference) []*kueue.Workload {
	d := &e.derived
	if list, known := d.waiting[cq]; known {
		return list
	}
	if d.local == nil {
		d.local = map[kueue.ClusterQueueReference][]string{}
		for key := range e.queuesIn {
			if lq := e.store.lqs[key]; lq != nil {
				d.local[lq.Spec.ClusterQueue] = append(d.local[lq.Spec.ClusterQueue], key)
			}
		}
	}
	var list []*kueue.Workload
	for _, key := range d.local[cq] {
		for _, w := range e.store.inQueue[key] {
			if workload.IsAdmissible(w) && !e.leads(w) && e.demandOf(context.Background(), w).refused.reason == "" {
				list = append(list, w)
			}
		}
	}
	if d.waiting == nil {
		d.waiting = map[kueue.ClusterQueueReference][]*kueue.Workload{}
	}
	d.waiting[cq] = list
	return list
}

// inOrder returns the workloads waiting in a ClusterQueue as the scheduler takes them. As
// long as no workload was ever queued they are put in order without queueing all of
// them, which hashes each.
func (e *Engine) inOrder(ctx context.Context, cq kueue.ClusterQueueReference) []*kueue.Workload {
	if !e.cqs[string(cq)] {
		return nil
	}
	if !e.flushed {
		list := slices.Clone(e.waitingIn(cq))
		slices.SortFunc(list, func(a, b *kueue.Workload) int {
			return cmp.Or(e.compare(a, b), cmp.Compare(workload.Key(a), workload.Key(b)))
		})
		return list
	}
	e.flush(ctx)
	var list []*kueue.Workload
	for _, i := range e.queues.PendingWorkloadsInfo(cq) {
		if w := e.store.workloads[workload.Key(i.Obj)]; w != nil {
			list = append(list, w)
		}
	}
	return list
}

// strictHeads returns the workloads at the head of StrictFIFO queues, without taking
// them off.
func (e *Engine) strictHeads(ctx context.Context) []*head {
	d := &e.derived
	if d.heads != nil {
		return d.heads
	}
	if !d.found {
		d.found = true
		for _, name := range sortedKeys(e.store.cqs) {
			if ref := kueue.ClusterQueueReference(name); e.store.cqs[name].Spec.QueueingStrategy == kueue.StrictFIFO && e.cache.ClusterQueueActive(ref) {
				d.strict = append(d.strict, ref)
			}
		}
	}
	if d.head == nil {
		d.head = make(map[kueue.ClusterQueueReference]*head, len(d.strict))
	}
	d.heads = make([]*head, 0, len(d.strict))
	for _, cq := range d.strict {
		h, known := d.head[cq]
		if !known {
			if info := e.strictHead(ctx, cq); info != nil {
				h = &head{*info, e.rankOf(info.Obj)}
				h.ClusterQueue = cq
			}
			d.head[cq] = h
		}
		if h != nil {
			d.heads = append(d.heads, h)
		}
	}
	return d.heads
}

// strictHead returns the first of a queue, nil when there is none.
func (e *Engine) strictHead(ctx context.Context, cq kueue.ClusterQueueReference) *workload.Info {
	if e.flushed {
		e.flush(ctx)
		for _, i := range e.queues.PendingWorkloadsInfo(cq) {
			if !e.backoff[workload.Key(i.Obj)] {
				return i
			}
		}
		return nil
	}
	var first *kueue.Workload
	for _, w := range e.waitingIn(cq) {
		if first != nil && e.compare(w, first) >= 0 {
			continue
		}
		if key := workload.Key(w); e.todo[key] && !e.backoff[key] {
			first = w
		}
	}
	if first == nil {
		return nil
	}
	return e.infoOf(ctx, first)
}
