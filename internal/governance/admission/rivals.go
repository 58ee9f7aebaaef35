package admission

import (
	"context"
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"
)

// nomination is what nominate found for the head of a StrictFIFO queue. It is the
// same for every Probe of one state, because it is made on the cluster as it is,
// before anybody took anything.
type nomination struct {
	ok         bool
	assignment flavorassigner.Assignment
	targets    []*preemption.Target
	message    string
}

// prepare finds once, while loading, what every Probe asks for, so that the first
// of them is as fast as the others. An engine that has run cycles is not asked that
// often: it finds them when it is.
func (e *Engine) prepare(ctx context.Context) error {
	if e.flushed {
		return nil
	}
	e.waitingIn("")
	heads := e.strictHeads(ctx)
	if len(heads) == 0 {
		return nil
	}
	snap, err := e.cache.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("snapshot of the cluster: %w", err)
	}
	defer withReasons()()
	e.cycle++ // as probeOnce has it
	defer func() { e.cycle-- }()
	for _, h := range heads {
		if cq := snap.ClusterQueue(h.ClusterQueue); cq != nil && cq.HasParent() {
			e.nominateRival(ctx, &entry{Head: qcache.Head{Info: h}, rival: true}, snap)
		}
	}
	return nil
}

// rivals are the heads of the other StrictFIFO queues in the cohort tree of cq.
func (e *Engine) rivals(ctx context.Context, snap *schdcache.Snapshot, cq kueue.ClusterQueueReference, self workload.Reference) []*entry {
	mine := snap.ClusterQueue(cq)
	if mine == nil || !mine.HasParent() {
		return nil
	}
	var out []*entry
	for _, h := range e.strictHeads(ctx) {
		theirs := snap.ClusterQueue(h.ClusterQueue)
		if theirs == nil || theirs == mine || !theirs.HasParent() || workload.Key(h.Obj) == self ||
			theirs.Parent().Root() != mine.Parent().Root() {
			continue
		}
		out = append(out, &entry{Head: qcache.Head{Info: h}, rival: true})
	}
	return out
}

// nominateRival is nominate for a head that Probe meets again and again.
func (e *Engine) nominateRival(ctx context.Context, en *entry, snap *schdcache.Snapshot) bool {
	key := workload.Key(en.Obj)
	n, known := e.nominations[key]
	if !known {
		n.ok = e.nominate(ctx, en, snap)
		n.assignment, n.targets, n.message = en.assignment, en.targets, en.message
		if e.nominations == nil {
			e.nominations = map[workload.Reference]nomination{}
		}
		e.nominations[key] = n
		return n.ok
	}
	if !n.ok {
		return false
	}
	en.cq = snap.ClusterQueue(en.ClusterQueue)
	en.assignment, en.message = n.assignment, n.message
	en.targets = make([]*preemption.Target, len(n.targets))
	for i, t := range n.targets { // the targets' queues are of another snapshot
		en.targets[i] = &preemption.Target{WorkloadInfo: t.WorkloadInfo, Reason: t.Reason, WorkloadCq: snap.ClusterQueue(t.WorkloadInfo.ClusterQueue)}
	}
	en.LastAssignment = &en.assignment.LastState
	return true
}

// strictHeads are the workloads at the head of StrictFIFO queues, without taking
// them off. They are remembered until something changes.
func (e *Engine) strictHeads(ctx context.Context) []workload.Info {
	if e.headsOK {
		return e.heads
	}
	e.heads = nil
	for _, name := range sortedKeys(e.store.cqs) {
		ref := kueue.ClusterQueueReference(name)
		if e.store.cqs[name].Spec.QueueingStrategy != kueue.StrictFIFO || !e.cache.ClusterQueueActive(ref) {
			continue
		}
		if head := e.strictHead(ctx, ref); head != nil {
			head.ClusterQueue = ref
			e.heads = append(e.heads, *head)
		}
	}
	e.headsOK = true
	return e.heads
}

// strictHead is the first of a queue. As long as no workload was ever queued, it
// is found without queueing all of them, which hashes each.
func (e *Engine) strictHead(ctx context.Context, cq kueue.ClusterQueueReference) *workload.Info {
	if e.flushed {
		e.flush(ctx)
		for _, i := range e.queues.PendingWorkloadsInfo(cq) {
			if !e.backoff[workload.Key(i.Obj)] {
				head := *i
				return &head
			}
		}
		return nil
	}
	var first *kueue.Workload
	for _, w := range e.waitingIn(cq) {
		if first != nil && !e.before(w, first) {
			continue
		}
		if key := workload.Key(w); e.todo[key] && !e.backoff[key] {
			first = w
		}
	}
	if first == nil {
		return nil
	}
	return workload.NewInfo(e.adjusted(ctx, first), e.info...)
}
