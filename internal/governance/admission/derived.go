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
	sticky  map[kueue.ClusterQueueReference]*kueue.Workload   // see preemptorIn; nil: it has none; missing: not known
	waiting map[kueue.ClusterQueueReference][]*kueue.Workload // missing: not known
	active  []kueue.ClusterQueueReference                     // active queues, by name
	found   bool                                              // active is known
	head    map[kueue.ClusterQueueReference]*head             // nil: it has none; missing: not known
	heads   []*head                                           // nil: not known
	use     map[string]float64                                // past use of LocalQueues ("namespace/name")
	hashes  map[*kueue.Workload]workload.EquivalenceHash      // see storedHash
}

// head is a workload that Kueue tries in every cycle: the first of a StrictFIFO queue, or one that preempts.
type head struct {
	workload.Info
	rank     rank
	preempts bool
}

// rival returns the head as an entry of a Probe of another workload.
func (h *head) rival() *entry {
	return &entry{Head: qcache.Head{Info: h.Info, IsPreemptor: h.preempts}, rank: h.rank, rival: true}
}

// touch forgets all that was derived.
func (e *Engine) touch() { e.derived, e.nominations, e.stuck = derived{}, nil, nil }

// moved forgets what was derived from the queue that a workload is in, and from the
// quota in use.
func (e *Engine) moved(w *kueue.Workload) {
	e.nominations, e.stuck = nil, nil
	if lq := e.store.queueOf(w); lq != nil {
		delete(e.derived.waiting, lq.Spec.ClusterQueue)
		delete(e.derived.head, lq.Spec.ClusterQueue)
		delete(e.derived.sticky, lq.Spec.ClusterQueue)
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
	var list []*kueue.Workload
	for _, key := range e.localQueues(cq) {
		for _, w := range e.store.inQueue[key] {
			if e.isQueued(w) {
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

// localQueues returns the LocalQueues of a ClusterQueue that are not stopped.
func (e *Engine) localQueues(cq kueue.ClusterQueueReference) []string {
	d := &e.derived
	if d.local == nil {
		d.local = map[kueue.ClusterQueueReference][]string{}
		for key := range e.queuesIn {
			if lq := e.store.lqs[key]; lq != nil {
				d.local[lq.Spec.ClusterQueue] = append(d.local[lq.Spec.ClusterQueue], key)
			}
		}
	}
	return d.local[cq]
}

// isQueued reports whether Kueue queues a workload of a queue that is not stopped.
func (e *Engine) isQueued(w *kueue.Workload) bool {
	return workload.IsAdmissible(w) && !e.leads(w) && e.demandOf(context.Background(), w).refused.reason == ""
}

// inOrder returns the workloads waiting in a ClusterQueue as the scheduler takes them. As
// long as no workload was ever queued they are put in order without queueing all of
// them, which hashes each.
func (e *Engine) inOrder(ctx context.Context, cq kueue.ClusterQueueReference) []*kueue.Workload {
	if !e.cqs[string(cq)] {
		return nil
	}
	if !e.flushed {
		list, first := slices.Clone(e.waitingIn(cq)), e.preemptorIn(cq)
		slices.SortFunc(list, func(a, b *kueue.Workload) int {
			return cmp.Or(e.compareIn(first, a, b), cmp.Compare(workload.Key(a), workload.Key(b)))
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

// constantHeads returns the workloads that Kueue tries in every cycle, without taking them off: the heads of StrictFIFO
// queues, and in other queues those that preempt.
func (e *Engine) constantHeads(ctx context.Context) []*head {
	d := &e.derived
	if d.heads != nil {
		return d.heads
	}
	if !d.found {
		d.found = true
		for _, name := range sortedKeys(e.store.cqs) {
			if ref := kueue.ClusterQueueReference(name); e.cache.ClusterQueueActive(ref) {
				d.active = append(d.active, ref)
			}
		}
	}
	if d.head == nil {
		d.head = make(map[kueue.ClusterQueueReference]*head, len(d.active))
	}
	d.heads = []*head{}
	for _, cq := range d.active {
		h, known := d.head[cq]
		if !known {
			if e.store.cqs[string(cq)].Spec.QueueingStrategy != kueue.StrictFIFO {
				if w := e.preemptorIn(cq); w != nil {
					h = &head{*e.infoOf(ctx, w), e.rankOf(w), true}
				}
			} else if info := e.strictHead(ctx, cq); info != nil {
				h = &head{Info: *info, rank: e.rankOf(info.Obj)}
			}
			if h != nil {
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
