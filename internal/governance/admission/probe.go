package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/util/priority"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// tieRepeats is how often a decision that can have several results is made, and tiesApart how often once two
// results differed: where things are equal, Kueue takes them in the order of a map.
const (
	tieRepeats = 8
	tiesApart  = 16
)

// Probe answers whether the workload would be admitted in the next scheduling
// cycle, without changing anything. The workload need not be known; of a status it
// carries only evictions count, which decide its place. It competes with the heads of StrictFIFO queues of its
// cohort tree and with workloads that wait for what they preempt, which Kueue tries, and lets reserve quota, in every
// cycle, and with workloads that get a place in a topology in a second pass. Other waiting workloads are taken to be waiting for a reason, so on a state that was
// loaded with workloads that were never evaluated, call [Engine.Run] first.
//
// A workload that holds quota already is reported Admitted with what it has. The
// error is non-nil for a workload that is not valid or a snapshot that fails.
func (e *Engine) Probe(ctx context.Context, wl *kueue.Workload) (d Decision, err error) {
	if err := CheckWorkload(wl); err != nil {
		return Decision{}, err
	}
	cycle := e.cycle
	err = embedded.Guard("workload "+string(workload.Key(wl)), func() error { d, err = e.probe(ctx, wl); return err })
	e.cycle = cycle
	return d, err
}

func (e *Engine) probe(ctx context.Context, wl *kueue.Workload) (Decision, error) {
	key := workload.Key(wl)
	if known := e.store.workloads[key]; known != nil && workload.HasActiveQuotaReservation(known) && known.Status.Admission != nil {
		e.sampleUse()
		return e.holding(ctx, known)
	}
	e.sampleUse()
	if e.store.namespaces[wl.Namespace] == nil {
		before := len(e.warnings)
		e.assumeNamespace(wl.Namespace)
		defer func() {
			delete(e.store.namespaces, wl.Namespace)
			e.warnings = e.warnings[:before]
		}()
	}
	w := *wl
	w.Status = kueue.WorkloadStatus{ReclaimablePods: wl.Status.ReclaimablePods, Conditions: e.evictions(wl)}
	if w.CreationTimestamp.IsZero() {
		w.CreationTimestamp = metav1.NewTime(e.now())
	}
	if d, done := e.notQueued(ctx, &w); done {
		return d, nil
	}
	if e.leads(&w) {
		return e.probeFamily(ctx, &w)
	}
	return e.probeQueued(ctx, &w)
}

// probeQueued is probe for a workload that Kueue queues.
func (e *Engine) probeQueued(ctx context.Context, w *kueue.Workload) (Decision, error) {
	d, en, err := e.probeOnce(ctx, w, false)
	if err != nil {
		return d, err
	}
	if e.mayTie(ctx, w, en) {
		// Of several answers it is the first by its text, so that it is the same when
		// asked again.
		best, tie := answer(&d), false
		for i := 1; i < tieRepeats || tie && i < tiesApart; i++ {
			again, _, err := e.probeOnce(ctx, w, i%2 == 1)
			if err != nil {
				return d, err
			}
			text := answer(&again)
			tie = tie || text != best
			if text < best {
				best, d = text, again
			}
		}
		d.Tie = tie
	}
	if d.Outcome == Never && d.Reason == kueue.WorkloadQuotaReservedReasonExceedsMaxQuota && workload.CanBePartiallyAdmitted(w) {
		// All pods are too many, but Kueue would start it with fewer.
		if least, err := e.probe(ctx, smallest(w)); err == nil && least.Outcome != Never {
			d.Outcome = Waits // the reason stays Kueue's
		}
	}
	return d, nil
}

// evictions returns the conditions that decide a workload's place among others of its
// priority: one that was evicted may queue by the time of that, and not of its
// creation. Of a workload that is known they are as the engine has them.
func (e *Engine) evictions(w *kueue.Workload) []metav1.Condition {
	if known := e.store.workloads[workload.Key(w)]; known != nil {
		w = known
	}
	var out []metav1.Condition
	for _, c := range w.Status.Conditions {
		if c.Type == kueue.WorkloadEvicted || c.Type == kueue.WorkloadPreempted {
			out = append(out, c)
		}
	}
	return out
}

// smallest returns the workload with every pod set at its least number of pods.
func smallest(wl *kueue.Workload) *kueue.Workload {
	c := wl.DeepCopy()
	for i := range c.Spec.PodSets {
		ps := &c.Spec.PodSets[i]
		ps.Count = ptr.Deref(ps.MinCount, ps.Count)
		ps.MinCount = nil
	}
	return c
}

// mayTie reports whether Kueue may compare equal things in a decision to preempt: places in a topology; with fair sharing, the shares of cohorts beside each
// other, or of other queues whose turn it is too; workloads without a UID, which
// orders all others.
func (e *Engine) mayTie(ctx context.Context, w *kueue.Workload, en *entry) bool {
	switch {
	case len(en.targets) == 0:
		return false
	case en.cq.IsTASOnly() || workload.IsExplicitlyRequestingTAS(w.Spec.PodSets...):
		return true
	case slices.ContainsFunc(en.targets, func(t *preemption.Target) bool { return t.WorkloadInfo.Obj.UID == "" }):
		return true
	}
	return e.fair && en.cq.HasParent() && (len(e.constantHeads(ctx)) > 0 || forks(en.cq.Parent().Root()))
}

// forks reports whether a tree has cohorts beside each other.
func forks(cohort *schdcache.CohortSnapshot) bool {
	below := cohort.ChildCohorts()
	return len(below) > 1 || len(below) == 1 && forks(below[0])
}

// answer returns the part of a decision that has to be the same every time.
func answer(d *Decision) string {
	return fmt.Sprintf("%s|%s|%+v|%+v|%+v", d.Outcome, d.Reason, d.PodSets, d.Borrowed, d.Preempts)
}

// notQueued decides about a workload Kueue would not even queue.
func (e *Engine) notQueued(ctx context.Context, w *kueue.Workload) (Decision, bool) {
	devices := e.demandOf(ctx, w).refused
	switch b := e.blocker(w); {
	case b.reason != "":
		d := Decision{Outcome: outcomeFor(b.reason), Reason: b.reason, Message: b.message}
		if lq := e.store.queueOf(w); lq != nil {
			d.ClusterQueue = string(lq.Spec.ClusterQueue)
			if why := e.inactiveWhy(lq.Spec.ClusterQueue); why != "" && e.store.cqs[d.ClusterQueue] != nil {
				d.Message += ": " + why
			}
		}
		return d, true
	case !workload.IsActive(w):
		return Decision{Outcome: Waits, Reason: kueue.WorkloadDeactivated, Message: "The workload is deactivated"}, true
	case workload.HasAdmissionGate(w):
		return Decision{Outcome: Waits, Reason: kueue.WorkloadAdmissionGated, Message: "Admission is gated"}, true
	case devices.reason != "":
		return Decision{Outcome: outcomeFor(devices.reason), Reason: devices.reason, Message: devices.message, BadClaims: true,
			ClusterQueue: string(e.store.queueOf(w).Spec.ClusterQueue)}, true
	}
	return Decision{}, false
}

// NeverAdmitted reports whether waiting cannot remove a reason, so that the outcome is Never, not Waits.
func NeverAdmitted(reason string) bool { return outcomeFor(reason) == Never }

// outcomeFor says whether a reason can go away by waiting. A placement that fails
// is checked by Kueue against nodes without any workload, so it cannot.
func outcomeFor(reason string) Outcome {
	switch reason {
	case kueue.WorkloadQuotaReservedReasonExceedsMaxQuota, kueue.WorkloadQuotaReservedReasonNoMatchingFlavor,
		kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed, kueue.WorkloadQuotaReservedReasonMisconfigured:
		return Never
	}
	return Waits
}

// probeOnce decides one cycle in which the workload is the head of its queue.
func (e *Engine) probeOnce(ctx context.Context, w *kueue.Workload, flip bool) (Decision, *entry, error) {
	cqName := e.store.queueOf(w).Spec.ClusterQueue
	snap, err := e.snapshot(ctx)
	if err != nil {
		return Decision{}, nil, fmt.Errorf("snapshot of the cluster: %w", err)
	}
	own := &entry{Head: qcache.Head{Info: *e.infoOf(ctx, w)}, rank: e.rankOf(w)}
	own.ClusterQueue = cqName
	entries := append(e.secondPassBeside(ctx, own), e.rivals(ctx, snap, cqName, workload.Key(w))...)
	entries = append(entries, own)
	e.cycle++ // the decision belongs to the next cycle: remembered flavor scans of rivals age
	e.decide(ctx, entries, snap, flip, own)
	e.cycle--

	d := Decision{Reason: own.reason, Message: own.message, ClusterQueue: string(cqName), PodSets: own.podSets, Borrowed: own.borrowed}
	if own.fate == admitted || own.fate == preempting {
		d.Checks = e.missingChecks(w, own)
	}
	decides := d.Checks
	switch own.fate {
	case admitted:
		d.Outcome, d.Reason, d.Message = Admitted, "", ""
		if len(d.Checks) > 0 {
			d.Outcome = Waits
			d.Reason = kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks
			d.Message = "its quota would be reserved; then it waits for admission checks: " + strings.Join(d.Checks, ", ")
		}
	case preempting:
		d.Outcome = AdmittedByPreempting
		var more []*preemption.Target
		for _, t := range own.targets {
			if workloadevict.IsEvicted(t.WorkloadInfo.Obj) {
				d.Leaving = append(d.Leaving, string(workload.Key(t.WorkloadInfo.Obj)))
			} else {
				more = append(more, t)
			}
		}
		d.Leaving = e.nameAll(d.Leaving)
		slices.Sort(d.Leaving)
		switch d.Preempts = e.preemptions(more); {
		case len(more) == 0:
			d.Outcome, decides = Waits, nil // until their pods have ended
		case slices.ContainsFunc(d.Checks, e.remote) && len(d.Checks) > 1:
			// Kueue sends it to worker clusters after the others have passed.
			d.Outcome, d.Reason = Waits, kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks
			d.Message = "it would preempt other jobs to reserve its quota; then it waits for admission checks: " + strings.Join(d.Checks, ", ")
		}
	case migrating:
		d.Outcome = AdmittedByPreempting
		d.Preempts = e.preemptions([]*preemption.Target{{WorkloadInfo: own.migrates, Reason: kueue.WorkloadEvictedByFlavorMigration, WorkloadCq: own.cq}})
	case blocked:
		d.Outcome, d.NotReady = Waits, e.nameAll(own.waitsFor)
	default:
		d.Outcome = outcomeFor(own.reason)
		if own.cq != nil {
			d.PodSets = e.podSets(&own.Info, &own.assignment)
		}
	}
	d.NotModelled = e.notModelled(w, e.store.cqs[string(cqName)], decides)
	if slices.Contains(d.NotModelled, NotModelledClaims) {
		d.Warnings = append(d.Warnings, Warning{Code: OwnClaims})
	}
	var first int
	d.Ahead, first = e.ahead(w, cqName)
	if cq := e.store.cqs[string(cqName)]; cq.Spec.QueueingStrategy == kueue.StrictFIFO && first > 0 && d.Outcome != Never {
		d.Outcome, d.Reason = Waits, kueue.WorkloadQuotaReservedReasonWaitingForQuota
		d.Message = fmt.Sprintf("ClusterQueue %s is StrictFIFO: %d workload(s) ahead of it must start first", cqName, first)
		d.Borrowed, d.Preempts = nil, nil
		d.Behind = first
	}
	if d.Outcome == Never {
		return d, own, nil
	}
	d = e.besideEquivalent(ctx, w, cqName, own, d)
	d, err = e.behindPreemptor(ctx, w, cqName, d)
	return d, own, err
}

// missingChecks returns the admission checks the entry's flavors ask for.
func (e *Engine) missingChecks(w *kueue.Workload, en *entry) []string {
	c := *w
	c.Status.Admission = &kueue.Admission{ClusterQueue: en.ClusterQueue, PodSetAssignments: en.assignment.ToAPI(e.log)}
	if workload.HasAllRequiredChecks(e.log, &c, en.cq.AdmissionChecks) {
		return nil
	}
	var names []string
	for name := range workload.AdmissionChecksForWorkload(e.log, &c, e.store.cqs[string(en.ClusterQueue)]) {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// compare compares in the order of a queue (queueOrderingFunc in cluster_queue.go), whoever preempts.
func (e *Engine) compare(a, b *kueue.Workload) int { return e.compareIn(nil, a, b) }

// compareIn is compare in a queue whose preemptor Kueue tries first; nil is none.
func (e *Engine) compareIn(preemptor, a, b *kueue.Workload) int {
	if c := e.compareUse(a, b); c != 0 {
		return c
	}
	if preemptor != nil {
		if c := first(same(preemptor, a), same(preemptor, b)); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(priority.EffectivePriority(e.log, b), priority.EffectivePriority(e.log, a)); c != 0 {
		return c
	}
	ta, tb := e.ordering.GetQueueOrderTimestamp(a), e.ordering.GetQueueOrderTimestamp(b)
	return cmp.Or(ta.Compare(tb.Time), cmp.Compare(a.UID, b.UID))
}

// compareUse compares the past use of the queues of two workloads.
func (e *Engine) compareUse(a, b *kueue.Workload) int {
	if e.use == nil || queueKey(a) == queueKey(b) {
		return 0
	}
	return cmp.Compare(e.pastUse(a), e.pastUse(b))
}

// same reports whether two workloads have the same name.
func same(a, b *kueue.Workload) bool { return a.Name == b.Name && a.Namespace == b.Namespace }

// ahead counts the waiting workloads of the queue that stand before w, and those of
// them that the scheduler takes before it: not while their back-off lasts.
func (e *Engine) ahead(w *kueue.Workload, cq kueue.ClusterQueueReference) (all, first int) {
	mine := *w
	if mine.UID == "" {
		mine.UID = "~" // not created yet: behind those of the same second
	}
	seen := map[*kueue.Workload]bool{} // families
	own, preemptor := e.headOf(w), e.preemptorIn(cq)
	for _, o := range e.waitingIn(cq) {
		if same(o, w) || e.compareIn(preemptor, o, &mine) >= 0 {
			continue
		}
		if h := e.headOf(o); h != o {
			if seen[h] || h == own || workload.HasQuotaReservation(h) {
				continue
			}
			seen[h] = true
		}
		all++
		if !e.backoff[workload.Key(o)] {
			first++
		}
	}
	return all, first
}

// holding describes a workload that has its quota.
func (e *Engine) holding(ctx context.Context, w *kueue.Workload) (Decision, error) {
	a := w.Status.Admission
	d := Decision{Outcome: Admitted, Message: "Its quota is already reserved", ClusterQueue: string(a.ClusterQueue)}
	info := counted(w)
	for i := range info.TotalRequests {
		ps := &info.TotalRequests[i]
		p := PodSetDecision{Name: string(ps.Name), Count: ps.Count, Flavors: map[string]string{}}
		for res, f := range ps.Flavors {
			p.Flavors[string(res)] = string(f)
		}
		one := workload.Info{Obj: w, TotalRequests: info.TotalRequests[i : i+1]}
		p.Requests = e.quantities(one.FlavorResourceUsage())
		d.PodSets = append(d.PodSets, p)
	}
	switch {
	case !workload.NeedsSecondPass(w):
		return d, nil
	case e.leads(w):
		// A variant gets another node, but Kueue never gives it to the job: it tries to place the job itself, and fails, again and
		// again, as long as it runs.
		d.NotModelled = []string{NotModelledConcurrent}
		return d, nil
	}
	return d, e.place(ctx, w, &d)
}

// counted returns what a workload holds, without a hash.
func counted(w *kueue.Workload) *workload.Info {
	defer embedded.WithoutHashes()()
	return workload.NewInfo(w)
}
