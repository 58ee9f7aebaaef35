package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// submitCycles bounds the cycles that follow a preemption in [Engine.Submit]: policies may
// never converge.
const submitCycles = 64

// useCycles bounds them where each start counts as use: workloads that preempt each other may settle late.
const useCycles = 1000

// Submitted is what follows the submission of a workload.
type Submitted struct {
	// Evicted are the workloads that lost their quota and did not get it back, without what they release.
	Evicted []Preemption
	// Loop are the workloads ("namespace/name") that preempt each other without end, by name. It is empty if scheduling
	// settles.
	Loop []string
	// By is the workload ("namespace/name") that preempts the new one at once. It is empty if the new one keeps its quota, or if
	// scheduling does not settle.
	By string
}

// Submit adds a new workload and does with it what [Engine.Probe] says about it: it reserves
// quota or is queued. The next Probe finds it there. Where it preempts others, scheduling goes
// on until nothing changes, because others may get what they leave.
//
// Without a preemption the other waiting workloads are not tried: as in Probe, they wait for a
// reason.
func (e *Engine) Submit(ctx context.Context, wl *kueue.Workload) (after Submitted, err error) {
	if err := e.Load(ctx, wl); err != nil {
		return after, err
	}
	e.touch()
	defer e.touch()
	key := workload.Key(wl)
	preempts := false
	err = embedded.Guard("workload "+string(key), func() error { preempts, err = e.submitOnce(ctx, key); return err })
	if err != nil || !preempts {
		return after, err
	}
	defer func(keep, late bool) { e.keep, e.late = keep, late }(e.keep, e.late)
	e.keep, e.late = true, true // evictions that others began go on, and Kueue tries later what it put aside
	t, err := e.Run(ctx, submitCycles)
	if err != nil {
		return after, err
	}
	if !t.Settled {
		after.Loop = inLoop(t)
	}
	for cycles := t.Cycles; len(after.Loop) > 0 && cycles < useCycles && e.ByPastUse(after.Loop...); cycles += submitCycles { // use may end the loop
		more, err := e.Run(ctx, submitCycles)
		if err != nil {
			return after, err
		}
		t.Events = append(t.Events, more.Events...)
		if after.Loop = nil; !more.Settled {
			after.Loop = inLoop(more)
		}
	}
	seen := map[workload.Reference]bool{}
	for _, ev := range t.Events {
		target := workload.NewReference(ev.Namespace, ev.Name)
		w := e.store.workloads[target]
		if ev.Kind == EventPreempted && target == key && w != nil && !workload.HasQuotaReservation(w) && len(after.Loop) == 0 {
			after.By = ev.By
		}
		if ev.Kind != EventPreempted || seen[target] || w == nil || workload.HasQuotaReservation(w) {
			continue
		}
		seen[target] = true
		after.Evicted = append(after.Evicted, Preemption{Namespace: ev.Namespace, Name: ev.Name, ClusterQueue: ev.ClusterQueue, Reason: ev.Reason})
	}
	return after, nil
}

// inLoop returns the workloads that preempt or are preempted in the second half of a run that does not settle, by name.
func inLoop(t Timeline) []string {
	in := map[string]bool{}
	for _, ev := range t.Events {
		if ev.Kind == EventPreempted && ev.Cycle > t.Cycles/2 {
			in[ev.By], in[ev.Namespace+"/"+ev.Name] = true, true
		}
	}
	delete(in, "") // the preemptor is unknown
	return slices.Sorted(maps.Keys(in))
}

// submitOnce runs one cycle in which the workload is the head of its queue. It reports whether others have to
// be preempted.
func (e *Engine) submitOnce(ctx context.Context, key workload.Reference) (preempts bool, err error) {
	w := e.store.workloads[key]
	if w == nil || workload.HasQuotaReservation(w) {
		return false, nil
	}
	if e.leads(w) {
		return e.submitFamily(ctx, w)
	}
	if _, done := e.notQueued(ctx, w); done {
		return false, nil
	}
	name := e.store.queueOf(w).Spec.ClusterQueue
	if e.equivalent(ctx, w, name) != nil {
		return false, nil
	}
	if _, first := e.ahead(w, name); first > 0 && e.store.cqs[string(name)].Spec.QueueingStrategy == kueue.StrictFIFO {
		return false, nil
	}
	snap, err := e.snapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("snapshot of the cluster: %w", err)
	}
	own := &entry{Head: qcache.Head{Info: *e.infoOf(ctx, w)}, rank: e.rankOf(w)}
	own.ClusterQueue = name
	e.cycle++
	e.decide(ctx, append(e.rivals(ctx, snap, name, key), own), snap, false, own)
	switch own.fate {
	case admitted:
		ev := e.event(own)
		e.admit(ctx, own, &ev)
	case gated: // until its gate opens
		e.queues.DeleteWorkload(e.log, key)
		e.putBack(ctx, own)
	}
	return own.fate == preempting, nil
}

// submitFamily does the same with the variants of a workload, as [Engine.Probe] tries them.
func (e *Engine) submitFamily(ctx context.Context, parent *kueue.Workload) (preempts bool, err error) {
	list := e.ordered(parent)
	for _, v := range list {
		if preempts, err = e.submitOnce(ctx, workload.Key(v)); preempts || err != nil {
			return preempts, err
		}
		if v := e.store.workloads[workload.Key(v)]; v == nil || workload.HasQuotaReservation(v) {
			break
		}
	}
	e.follow(ctx)
	k := kin{parent: workload.Key(parent)}
	for _, v := range list {
		k.variants = append(k.variants, workload.Key(v))
	}
	if !e.openGate(ctx, &k, nil, true) {
		return false, nil
	}
	for _, v := range e.ordered(parent) {
		if workload.IsAdmissible(v) && !workload.HasClosedPreemptionGate(v) {
			if preempts, err = e.submitOnce(ctx, workload.Key(v)); preempts || err != nil {
				return preempts, err
			}
		}
	}
	return false, nil
}
