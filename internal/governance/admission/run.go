package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// defaultMaxCycles is the limit of [Engine.Run] if the caller sets none.
const defaultMaxCycles = 1000

// Run repeats scheduling cycles until a cycle changes nothing. If it reaches maxCycles (0 or less: defaultMaxCycles)
// first, Settled is false. Preempted workloads are queued again at once, as if their pods ended without delay; see
// [Engine.KeepEvictions] for those that were being evicted when they were loaded. A cancelled context ends the run with
// what happened so far and its error.
func (e *Engine) Run(ctx context.Context, maxCycles int) (t Timeline, err error) {
	if maxCycles <= 0 {
		maxCycles = defaultMaxCycles
	}
	e.touch()
	e.asFound = false
	err = embedded.Guard("scheduling", func() error { return e.run(ctx, maxCycles, &t) })
	return t, err
}

func (e *Engine) run(ctx context.Context, maxCycles int, t *Timeline) error {
	e.beforeRun(ctx)
	reported := map[workload.Reference]string{}
	seen := map[string]bool{} // heads tried since the last change
	for t.Cycles < maxCycles {
		if err := ctx.Err(); err != nil {
			return err
		}
		heads := e.popHeads(ctx)
		if len(heads) == 0 {
			if e.requeueLate(ctx) {
				continue
			}
			t.Settled = true
			return nil
		}
		// A StrictFIFO head goes straight back, so the queues never run empty.
		// The same heads at the same flavors as before cannot do better.
		state := signature(heads)
		t.Cycles++
		events, changed, err := e.runCycle(ctx, heads)
		if err != nil {
			return err
		}
		for _, ev := range events {
			ev.Cycle = t.Cycles
			key := workload.NewReference(ev.Namespace, ev.Name)
			if !e.translate(&ev) {
				continue
			}
			if ev.Kind == EventPending || ev.Kind == EventSkipped {
				if reported[key] == string(ev.Kind)+ev.Message {
					continue
				}
				reported[key] = string(ev.Kind) + ev.Message
			} else {
				delete(reported, key)
			}
			t.Events = append(t.Events, ev)
		}
		if changed || e.requeueLate(ctx) {
			clear(seen)
			continue
		}
		if seen[state] {
			t.Settled = true
			return nil
		}
		seen[state] = true
	}
	return nil
}

// beforeRun finishes what was under way when the state was loaded: evictions whose
// quota is still held, back-offs that are over by now.
func (e *Engine) beforeRun(ctx context.Context) {
	e.sampleUse()
	e.flush(ctx)
	for _, key := range sortedKeys(e.backoff) {
		e.allowRequeue(ctx, key)
	}
	e.wakeFamilies()
	e.follow(ctx)
	if !e.keep {
		for _, w := range e.Evicting() {
			e.endEviction(ctx, w)
		}
		e.follow(ctx)
	}
	e.refill(ctx)
}

// refill puts into the queues what waits for them, and what was put aside and can be tried again, unless that is delayed.
func (e *Engine) refill(ctx context.Context) {
	e.flush(ctx)
	if !e.late {
		e.requeue(ctx)
	}
}

// KeepEvictions makes [Engine.Run] leave evictions in progress as they are: these
// workloads hold their quota until [Engine.EndEviction]. Otherwise Run ends them
// before its first cycle.
func (e *Engine) KeepEvictions() { e.keep = true }

// DelayRequeues makes [Engine.Run] try the workloads that were put aside only when nothing else changes any more, and not in the
// next cycle after quota became free. Kueue collects such changes for a second (requeueBatchPeriod in inadmissible_workloads.go),
// so a workload that preempts gets the quota before others see it.
func (e *Engine) DelayRequeues() { e.late = true }

// requeueLate tries the workloads that were put aside, if that was delayed. It reports whether there are any.
func (e *Engine) requeueLate(ctx context.Context) bool { return e.late && e.requeue(ctx) > 0 }

// Evicting returns the workloads that are being evicted and still hold quota, by name.
func (e *Engine) Evicting() []*kueue.Workload {
	var out []*kueue.Workload
	for _, key := range sortedKeys(e.store.workloads) {
		if w := e.store.workloads[key]; evicting(w) && e.parentOf(w) == nil {
			out = append(out, w)
		}
	}
	return out
}

func evicting(w *kueue.Workload) bool {
	return workload.HasQuotaReservation(w) && workloadevict.IsEvicted(w)
}

// EndEviction ends the eviction of a workload, as the end of its pods does: the workload releases its quota and queues
// again.
func (e *Engine) EndEviction(ctx context.Context, namespace, name string) {
	if w := e.store.workloads[workload.NewReference(namespace, name)]; w != nil && evicting(w) {
		e.touch()
		e.endEviction(ctx, w)
		e.follow(ctx)
		e.refill(ctx)
	}
}

func (e *Engine) endEviction(ctx context.Context, w *kueue.Workload) {
	key := workload.Key(w)
	reason, message := evictedBecause(w)
	e.evict(e.writable(key), reason, message, "")
	e.reconcile(ctx, key)
}

// popHeads takes what needs a second pass, and the head of every active ClusterQueue in the order of the
// queues' names. The context is cancelled because Heads waits otherwise when all
// queues are empty.
func (e *Engine) popHeads(ctx context.Context) []qcache.Head {
	for _, key := range sortedKeys(e.queuesIn) {
		lq := e.store.lqs[key]
		if cq := e.store.cqs[string(lq.Spec.ClusterQueue)]; e.byPastUse(cq) {
			// Use changes many places at once. After each of its workloads was moved, the first one is at the head.
			_ = e.queues.RebuildClusterQueue(cq, lq.Name)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	heads := e.queues.Heads(done)
	slices.SortFunc(heads, func(a, b qcache.Head) int { return cmp.Compare(a.ClusterQueue, b.ClusterQueue) })
	return append(e.secondPass(ctx), heads...)
}

func signature(heads []qcache.Head) string {
	var b strings.Builder
	for i := range heads {
		h := &heads[i]
		fmt.Fprintf(&b, "%s=%s", h.ClusterQueue, workload.Key(h.Obj))
		if h.LastAssignment != nil {
			for _, idx := range h.LastAssignment.LastTriedFlavorIdx {
				for _, res := range sortedKeys(idx) {
					fmt.Fprintf(&b, ",%s:%d", res, idx[res])
				}
			}
		}
		b.WriteByte(';')
	}
	return b.String()
}

// runCycle is schedule in scheduler.go: decide about the heads, then do it.
// changed is true when something was admitted or evicted.
func (e *Engine) runCycle(ctx context.Context, heads []qcache.Head) (events []Event, changed bool, err error) {
	e.cycle++
	snap, err := e.snapshot(ctx)
	if err != nil {
		for i := range heads {
			if !workload.NeedsSecondPass(heads[i].Obj) {
				e.queues.RequeueWorkload(ctx, &heads[i].Info, qcache.RequeueReasonFailedAfterNomination, "")
			}
		}
		return nil, false, fmt.Errorf("snapshot of the cluster: %w", err)
	}
	entries := make([]*entry, 0, len(heads))
	for _, h := range heads {
		if e.cache.IsAdded(h.Info) && !workload.NeedsSecondPass(h.Obj) {
			continue // holds its quota already
		}
		entries = append(entries, &entry{Head: h, rank: e.rankOf(h.Obj)})
	}
	decided := e.decide(ctx, entries, snap, false, nil)
	lost := evictionsOf(decided)
	for _, en := range decided {
		ev := e.event(en)
		if _, loses := lost[workload.Key(en.Obj)]; loses && en.fate == admitted {
			continue // a second pass of what loses its quota in the same cycle
		}
		if en.fate == admitted && e.admit(ctx, en, &ev) {
			changed = true
			events = append(events, ev)
			continue
		}
		if en.fate == evicted {
			continue
		}
		if en.fate != undecided {
			events = append(events, ev)
		}
		e.putBack(ctx, en) // before the evictions, which wake up the others
	}
	for _, en := range decided {
		switch en.fate {
		case admitted:
			if en.replaces != nil {
				events = append(events, e.replace(ctx, en))
			}
		case preempting:
			for _, t := range en.targets {
				if lost[workload.Key(t.WorkloadInfo.Obj)] != en {
					continue
				}
				more := e.preemptOne(ctx, en, t)
				changed = changed || len(more) > 0
				events = append(events, more...)
			}
		}
	}
	for _, en := range decided { // after the preemptions
		if stored := e.store.workloads[workload.Key(en.Obj)]; lost[workload.Key(en.Obj)] == en && en.fate == evicted && stored != nil && workload.HasQuotaReservation(stored) {
			events = append(events, e.evictUnreplaced(ctx, en))
			changed = true
		}
		if en.fate == migrating && lost[workload.Key(en.migrates.Obj)] == en {
			more := e.evictSibling(ctx, en)
			changed = changed || len(more) > 0
			events = append(events, more...)
		}
	}
	changed = e.follow(ctx) || changed
	events = append(events, e.store.replaced...)
	e.refill(ctx)
	return events, changed, nil
}

// evictionsOf returns, by workload, the entry of a cycle that evicts it: one that preempts it, one that migrates from it, or its
// own if no node replaces a failed one. If there are several, Kueue evicts it each time, and the reason is the one of the last.
func evictionsOf(decided []*entry) map[workload.Reference]*entry {
	out := map[workload.Reference]*entry{}
	for _, en := range decided {
		switch en.fate {
		case preempting:
			for _, t := range en.targets {
				out[workload.Key(t.WorkloadInfo.Obj)] = en
			}
		case migrating:
			out[workload.Key(en.migrates.Obj)] = en
		case evicted:
			out[workload.Key(en.Obj)] = en
		}
	}
	return out
}

func (e *Engine) event(en *entry) Event {
	ev := Event{
		Namespace: en.Obj.Namespace, Name: en.Obj.Name, ClusterQueue: string(en.ClusterQueue),
		Reason: en.reason, Message: en.message, Kind: EventPending,
	}
	switch en.fate {
	case skipped, gated:
		ev.Kind = EventSkipped
	case preempting, migrating:
		ev.Kind, ev.Flavors, ev.Borrowed = EventPreempting, en.podSets, en.borrowed
	case admitted:
		ev.Kind, ev.Flavors, ev.Borrowed = EventAdmitted, en.podSets, en.borrowed
	}
	return ev
}

// admit reserves quota for the entry and, unless admission checks are missing,
// admits it (admit, assumeWorkload and prepareWorkload in scheduler.go).
// It returns false when the caches refuse the workload.
func (e *Engine) admit(ctx context.Context, en *entry, ev *Event) bool {
	key := workload.Key(en.Obj)
	if e.store.workloads[key] == nil {
		return false
	}
	old, w := e.store.workloads[key], e.writable(key)
	fresh := !workload.HasQuotaReservation(w)
	workload.SetQuotaReservation(w, &kueue.Admission{
		ClusterQueue:      en.ClusterQueue,
		PodSetAssignments: en.assignment.ToAPI(e.log),
	}, e.clock)
	if !slices.ContainsFunc(en.Obj.Status.Conditions, notRequeued) { // it was queued without, see push
		w.Status.Conditions = slices.DeleteFunc(w.Status.Conditions, notRequeued)
	}
	w.Status.ResourceRequests = nil // the admission says it now
	w.Status.UnhealthyNodes = nil
	if cq := e.store.cqs[string(en.ClusterQueue)]; cq != nil {
		e.syncChecks(w, cq)
	}
	if workload.HasAllRequiredChecks(e.log, w, en.cq.AdmissionChecks) {
		workload.SyncAdmittedCondition(w, e.now())
	}
	if unmoved(old, w) {
		ev.Kind = EventPending
		return false
	}
	counted := *en.Obj // spec with completed requests
	counted.Status = w.Status
	if !e.count(&counted) {
		en.fate = skipped
		en.message = fmt.Sprintf("Failed to admit workload: workload %s could not be added to the cache", key)
		ev.Kind, ev.Message = EventSkipped, en.message
		return false
	}
	e.store.put(w)
	e.started[key] = true
	// The update event of the admission. Counting the workload a second time
	// advances the queue's generation, which ends remembered flavor scans.
	e.queues.DeleteWorkload(e.log, key)
	delete(e.unlisted, key)
	e.count(&counted)
	if fresh {
		e.reserveUse(w, e.store.cqs[string(en.ClusterQueue)])
	}
	if workload.IsAdmitted(w) && !workload.IsAdmitted(old) {
		e.settleUse(w)
	}
	delete(e.verdicts, key)
	switch {
	case !fresh:
		ev.Kind = EventPlaced
	case !workload.IsAdmitted(w):
		ev.Kind = EventQuotaReserved
		ev.Reason = kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks
		ev.Message = "waits for admission checks: " + strings.Join(waitingChecks(w), ", ")
	}
	return true
}

func waitingChecks(w *kueue.Workload) []string {
	var names []string
	for _, c := range w.Status.AdmissionChecks {
		if c.State != kueue.CheckStateReady {
			names = append(names, string(c.Name))
		}
	}
	return names
}

// putBack returns a head to its queue and writes why it waits (requeueAndUpdate).
func (e *Engine) putBack(ctx context.Context, en *entry) {
	key := workload.Key(en.Obj)
	if (en.fate == skipped || en.fate == admitted) && en.requeue == qcache.RequeueReasonGeneric {
		en.requeue = qcache.RequeueReasonFailedAfterNomination
	}
	stored := e.store.workloads[key]
	held := stored != nil && workload.HasQuotaReservation(stored)
	if workload.NeedsSecondPass(en.Obj) {
		return // and its status is left alone
	}
	if waitsForPreempted(en) {
		e.preemptors[en.ClusterQueue] = key
	}
	// This blanks the Info's ClusterQueue: whatever needs it was done before.
	e.requeueHead(ctx, en, stored)
	if stored == nil || en.keepStatus {
		return
	}
	e.verdicts[key] = verdict{en.reason, en.message}
	condition := e.pendingReason(en.reason)
	if en.fate == blocked {
		//lint:ignore SA1019 Kueue's own fallback, in force as long as the gate is off
		condition = workload.UnadmittedWorkloadReasonWithFallback(en.reason, kueue.WorkloadWaiting)
	}
	if !held && en.fate != gated && e.toldAlready(stored, condition, en.message) {
		return
	}
	w := e.writable(key)
	changed := workload.UnsetQuotaReservationWithCondition(w, condition, en.message, e.now())
	if workload.PropagateResourceRequests(w, &en.Info, e.format) {
		changed = true
	}
	if en.fate == gated {
		changed = workload.SetBlockedOnPreemptionGatesCondition(w, e.now(), kueue.PreemptionGated, en.message)
	}
	if !changed {
		e.tell(stored)
		return
	}
	e.store.put(w)
	e.tell(w)
	// The update event puts it into the queue once more. That matters where the queue
	// looks at what changed; without FlavorFungibilityPreserveScanProgress the workload
	// also loses its place in the flavor scan. It is tried again if it uses devices and is not requeued: see push. Else the
	// queue has it as it is.
	backsOff := w.Status.RequeueState != nil && w.Status.RequeueState.RequeueAt != nil
	again := slices.ContainsFunc(w.Status.Conditions, notRequeued) && e.needsDevices(w)
	if held || backsOff || again || en.fate == gated || !features.Enabled(features.FlavorFungibilityPreserveScanProgress) {
		e.enqueue(w)
	}
}

// preemptOne evicts one target of the entry, unless it is on its way out already.
func (e *Engine) preemptOne(ctx context.Context, en *entry, t *preemption.Target) []Event {
	key := workload.Key(t.WorkloadInfo.Obj)
	stored := e.store.workloads[key]
	if stored == nil || !workload.HasQuotaReservation(stored) || workloadevict.IsEvicted(stored) {
		return nil
	}
	message := preemptionMessage(en, t)
	ev := Event{
		Kind: EventPreempted, Namespace: stored.Namespace, Name: stored.Name,
		ClusterQueue: string(t.WorkloadInfo.ClusterQueue), Reason: t.Reason, Message: message,
		By: en.Obj.Namespace + "/" + en.Obj.Name, Lost: e.loses(stored),
	}
	e.evict(e.writable(key), kueue.WorkloadEvictedByPreemption, message, t.Reason)
	e.verdicts[key] = verdict{kueue.WorkloadQuotaReservedReasonPendingEvaluation, message}
	e.reconcile(ctx, key) // its queue may be gone
	return []Event{ev}
}

// preemptionMessage returns the text Kueue puts into the Preempted condition
// (preemptionMessage in preemption.go).
func preemptionMessage(en *entry, t *preemption.Target) string {
	return fmt.Sprintf("Preempted to accommodate a workload (UID: %s, JobUID: %s) due to %s; preemptor path: %s; preemptee path: %s",
		cmp.Or(string(en.Obj.UID), "UNKNOWN"),
		cmp.Or(en.Obj.Labels[constants.JobUIDLabel], "UNKNOWN"),
		preemption.HumanReadablePreemptionReasons[t.Reason],
		cohortPath(en.cq), cohortPath(t.WorkloadCq))
}

func cohortPath(cq *schdcache.ClusterQueueSnapshot) string {
	if cq == nil {
		return "UNKNOWN"
	}
	path := "/" + string(cq.Name)
	for up := range cq.PathParentToRoot() {
		path = "/" + string(up.GetName()) + path
	}
	return path
}

// replace finishes the old slice of an elastic job (replaceWorkloadSlice).
func (e *Engine) replace(ctx context.Context, en *entry) Event {
	key := workload.Key(en.replaces.WorkloadInfo.Obj)
	message := fmt.Sprintf("Replaced to accommodate a workload (UID: %s, JobUID: %s) due to workload slice aggregation", en.Obj.UID, en.Obj.Labels[constants.JobUIDLabel])
	ev := Event{
		Kind: EventReplaced, Namespace: en.replaces.WorkloadInfo.Obj.Namespace, Name: en.replaces.WorkloadInfo.Obj.Name,
		ClusterQueue: string(en.replaces.WorkloadInfo.ClusterQueue), Reason: kueue.WorkloadSliceReplaced, Message: message,
		By: en.Obj.Namespace + "/" + en.Obj.Name,
	}
	if e.store.workloads[key] != nil {
		w := e.writable(key)
		e.setCondition(w, kueue.WorkloadFinished, kueue.WorkloadSliceReplaced, message, true)
		e.applyWorkload(ctx, w)
	}
	return ev
}
