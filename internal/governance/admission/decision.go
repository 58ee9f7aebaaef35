package admission

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// Outcome is the short answer of [Engine.Probe].
type Outcome string

const (
	// Admitted: it fits and would start in the next scheduling cycle.
	Admitted Outcome = "Admitted"
	// AdmittedByPreempting: it would start once the listed workloads are gone.
	AdmittedByPreempting Outcome = "AdmittedByPreempting"
	// Waits: it would start later, when other workloads finish, a queue is started or a check passes.
	Waits Outcome = "Waits"
	// Never: it cannot start with the current queues, quotas, flavors and nodes, even if nothing else ran.
	Never Outcome = "Never"
)

// Starts reports whether the workload would get its quota now, with or without preempting others.
func (o Outcome) Starts() bool { return o == Admitted || o == AdmittedByPreempting }

// EventKind says what happened to a workload in a cycle.
type EventKind string

const (
	// EventAdmitted: quota reserved and, as no admission check is missing, admitted.
	EventAdmitted EventKind = "Admitted"
	// EventQuotaReserved: quota reserved, admission checks are still to pass.
	EventQuotaReserved EventKind = "QuotaReserved"
	// EventPreempted: evicted to free quota for By, and queued again.
	EventPreempted EventKind = "Preempted"
	// EventPreempting: waits for the workloads that it preempted in this cycle.
	EventPreempting EventKind = "Preempting"
	// EventSkipped: would have fit, but another workload of the same cycle came first.
	EventSkipped EventKind = "Skipped"
	// EventPending: evaluated and not admitted. Written once per workload and message.
	EventPending EventKind = "Pending"
	// EventPlaced: it already held quota, and got its topology assignment in a second pass.
	EventPlaced EventKind = "Placed"
	// EventEvicted: it lost its quota because no node replaces a failed one or its variant By with a better flavor
	// fits, and was queued again.
	EventEvicted EventKind = "Evicted"
	// EventReplaced: an elastic job's old slice, finished because the new one started.
	EventReplaced EventKind = "Replaced"
)

// Quantity is an amount of one resource in one flavor.
type Quantity struct {
	Flavor   string
	Resource string
	// Amount is the Kubernetes notation ("1500m", "64Gi", "3").
	Amount string
	// Value is the same in Kueue's base unit: thousandths of a core for cpu,
	// bytes for memory and storage, whole numbers for devices and pods.
	// math.MaxInt64 means unlimited.
	Value int64
}

// Event is one line of a [Timeline].
type Event struct {
	Cycle     int // 1 is the first cycle of the run
	Kind      EventKind
	Namespace string
	Name      string
	// Variant is the name of the variant that this happened to, of the workload Name; empty without concurrent admission.
	Variant      string
	ClusterQueue string
	// Reason is Kueue's constant: a preemption reason (InClusterQueue, InCohortReclamation, ...) for EventPreempted, a
	// WorkloadQuotaReservedReason for workloads that wait, otherwise empty.
	Reason  string
	Message string
	By      string // EventPreempted: "namespace/name" of the preemptor
	Lost    bool   // EventPreempted, EventEvicted: its pods are deleted and nothing makes them again
	Flavors []PodSetDecision
	// Borrowed is what the admission took beyond the ClusterQueue's nominal quota:
	// max(0, usage+request-nominal) - max(0, usage-nominal), zero amounts left out.
	Borrowed []Quantity
}

// Timeline is the result of [Engine.Run].
type Timeline struct {
	Events []Event
	// Settled is false if the run reached its limit of cycles while workloads were still being admitted and preempted.
	Settled bool
	Cycles  int
}

// PodSetDecision is what one pod set gets.
type PodSetDecision struct {
	Name  string
	Count int32 // pods; lower than requested when partially admitted
	// Flavors maps a resource to its flavor.
	Flavors map[string]string
	// Requests are the totals of the pod set over all its pods.
	Requests []Quantity
	// Domains are the topology placements, empty without topology-aware scheduling.
	Domains []Domain
}

// Domain is a number of pods placed in one topology domain.
type Domain struct {
	Levels []string // label values from the highest level down; the last is the node when the lowest level is the host name
	Count  int32
}

// Preemption is a workload that would be preempted.
type Preemption struct {
	Namespace    string
	Name         string
	ClusterQueue string
	Reason       string // InClusterQueue, InCohortReclamation, InCohortFairSharing, InCohortReclaimWhileBorrowing
	Priority     int32
	// Lost reports that its pods would be deleted and nothing makes them again.
	Lost bool
	// Releases is what it holds now.
	Releases []Quantity
}

// Decision says whether a workload would be admitted now, and why.
type Decision struct {
	Outcome Outcome
	// Reason is a WorkloadQuotaReservedReason of Kueue's v1beta2 API, or
	// UnsatisfiedAdmissionChecks, AdmissionGated, Deactivated; empty when admitted.
	Reason string
	// Message is Kueue's own text; empty if Kueue would write none.
	Message      string
	ClusterQueue string
	PodSets      []PodSetDecision
	Borrowed     []Quantity
	Preempts     []Preemption
	// NotReady are the workloads ("namespace/name") whose pods must be ready before Kueue admits another one (Reason
	// WaitingForPodsReady).
	NotReady []string
	// Leaving are the workloads ("namespace/name") that are already being evicted and must end first. If no other
	// workload must be preempted, the outcome is Waits (Reason WaitingForPreemptedWorkloads).
	Leaving []string
	// Checks are the admission checks that it has to pass once it has its quota, those of its flavors.
	Checks []string
	// GateOpens is when Kueue lets the next variant of the workload preempt others (Reason PreemptionGated).
	GateOpens time.Time
	// Ahead is the number of pending workloads of the same ClusterQueue that come before it.
	Ahead int
	// Behind is the number of those that must start first because the ClusterQueue is StrictFIFO; 0 if the workload
	// waits for something else.
	Behind int
	// Preemptor is the workload ("namespace/name") that preempts others and that Kueue tries before any other of its
	// BestEffortFIFO queue until those in Leaving have ended; empty if that does not keep the workload waiting.
	Preemptor string
	// Equivalent is the workload ("namespace/name") that Kueue put aside in the same BestEffortFIFO queue because it did not fit.
	// Kueue tries neither before something changes, although this one would fit. It may be the workload itself. Otherwise empty.
	Equivalent string
	// BadClaims is true when Kueue does not queue the workload because it cannot count the
	// devices of its resource claims.
	BadClaims bool
	// Tie is true if repeated evaluations of the same state gave different answers, as with fair sharing and equal
	// shares. The answer whose text sorts first is reported, so results repeat. A tie can go unnoticed.
	Tie      bool
	Warnings []Warning
	// NotModelled names the parts of Kueue that affect this decision and that this package does not follow: NotModelled
	// constants, sorted. If there are any, the outcome rests on the other parts alone.
	NotModelled []string
}

// What is not modelled.
const (
	NotModelledClaims     = "ResourceClaims"       // DRA: what counts their devices could not be read
	NotModelledMultiKueue = "MultiKueue"           // what other clusters decide
	NotModelledConcurrent = "ConcurrentAdmission"  // variants of a workload, where they are not followed
	NotModelledAdmission  = "AdmissionFairSharing" // the order in a queue by past use
)

// notModelled names what would take part in a decision about w in cq. Other clusters decide only about what has passed all
// other admission checks of those that it needs.
func (e *Engine) notModelled(w *kueue.Workload, cq *kueue.ClusterQueue, checks []string) []string {
	var out []string
	if e.ordersByUse(cq) {
		out = append(out, NotModelledAdmission)
	}
	if e.unsureVariants(w, cq) {
		out = append(out, NotModelledConcurrent)
	}
	if len(checks) > 0 && !slices.ContainsFunc(checks, func(name string) bool { return !e.remote(name) }) {
		out = append(out, NotModelledMultiKueue)
	}
	if e.demandOf(context.Background(), w).unknown {
		out = append(out, NotModelledClaims)
	}
	return out
}

// remote reports whether an admission check is one of MultiKueue.
func (e *Engine) remote(check string) bool {
	c := e.store.checks[check]
	return c != nil && c.Spec.ControllerName == kueue.MultiKueueControllerName
}

// unsureVariants reports whether what Kueue does about the variants of a workload in a queue is not known: Kueue's
// configuration could not be read, or it is a part of concurrent admission that is not followed.
func (e *Engine) unsureVariants(w *kueue.Workload, cq *kueue.ClusterQueue) bool {
	switch {
	case cq.Spec.ConcurrentAdmissionPolicy == nil || concurrentadmission.IsVariant(w) && !variantsOn():
		return false
	case !variantsOn():
		return e.byUse == nil
	}
	// Kueue changes the numbers of pods of an elastic job, and not those of its variants.
	p := e.parentOf(w)
	return p != nil && !workload.ExtractPodSetCountsFromWorkload(p).EqualTo(workload.ExtractPodSetCountsFromWorkload(w))
}

// PendingWorkload is one line of [Engine.Pending].
type PendingWorkload struct {
	Namespace string
	Name      string
	Priority  int64
	Reason    string // see Decision.Reason; PendingEvaluation when it was never evaluated
	Message   string
	// BacksOff is true until status.requeueState.requeueAt; Kueue does not evaluate the workload before that time.
	BacksOff bool
}

// Placed returns the topology domains of a pod set from the status of its workload; nil without topology-aware
// scheduling.
func Placed(a *kueue.PodSetAssignment) []Domain {
	if a.TopologyAssignment == nil || misplaced(a.TopologyAssignment) != "" {
		return nil
	}
	var out []Domain
	for d := range utiltas.InternalSeqFrom(a.TopologyAssignment) {
		out = append(out, Domain{Levels: slices.Clone(d.Values), Count: d.Count})
	}
	return out
}

func (e *Engine) quantity(fr resources.FlavorResource, a resources.Amount) Quantity {
	return Quantity{
		Flavor: string(fr.Flavor), Resource: string(fr.Resource),
		Amount: e.format.AmountQuantityString(fr.Resource, a), Value: a.Int64(),
	}
}

// quantities turns Kueue's map into a sorted list without zero amounts.
func (e *Engine) quantities(m resources.FlavorResourceQuantities) []Quantity {
	var out []Quantity
	for fr, a := range m {
		if a.CmpInt64(0) != 0 {
			out = append(out, e.quantity(fr, a))
		}
	}
	slices.SortFunc(out, func(a, b Quantity) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// borrowed computes what usage takes beyond the nominal quota of cq, given the
// usage in the snapshot. Kueue's own number (Assignment.Borrows) is a level, not an amount.
func borrowed(cq *schdcache.ClusterQueueSnapshot, usage resources.FlavorResourceQuantities) resources.FlavorResourceQuantities {
	zero := resources.NewAmount(0)
	out := resources.FlavorResourceQuantities{}
	for fr, req := range usage {
		nominal, used := cq.QuotaFor(fr).Nominal, cq.ResourceNode.Usage[fr]
		before := resources.MaxAmount(zero, used.Sub(nominal))
		after := resources.MaxAmount(zero, used.Add(req).Sub(nominal))
		out[fr] = after.Sub(before)
	}
	return out
}

// podSets describes an assignment. Pod sets and resources that got no flavor are
// included, with an empty one.
func (e *Engine) podSets(wl *workload.Info, a *flavorassigner.Assignment) []PodSetDecision {
	out := make([]PodSetDecision, 0, len(wl.TotalRequests))
	for i := range wl.TotalRequests {
		total := &wl.TotalRequests[i]
		d := PodSetDecision{Name: string(total.Name), Count: total.Count, Flavors: map[string]string{}}
		if i >= len(a.PodSets) { // an earlier pod set failed already
			one := workload.Info{Obj: wl.Obj, TotalRequests: wl.TotalRequests[i : i+1]}
			d.Requests = e.quantities(one.FlavorResourceUsage())
			out = append(out, d)
			continue
		}
		ps := &a.PodSets[i]
		d.Count = ps.Count
		amounts := resources.FlavorResourceQuantities{}
		for res, q := range ps.Requests {
			fr := resources.FlavorResource{Resource: res}
			if f := ps.Flavors[res]; f != nil {
				fr.Flavor = f.Name
				d.Flavors[string(res)] = string(f.Name)
			}
			amounts[fr] = resources.AmountFromQuantity(res, q)
		}
		d.Requests = e.quantities(amounts)
		if t := ps.TopologyAssignment; t != nil {
			for _, dom := range t.Domains {
				d.Domains = append(d.Domains, Domain{Levels: slices.Clone(dom.Values), Count: dom.Count})
			}
		}
		out = append(out, d)
	}
	return out
}

func (e *Engine) preemptions(targets []*preemption.Target) []Preemption {
	out := make([]Preemption, 0, len(targets))
	for _, t := range targets {
		w := t.WorkloadInfo.Obj
		p := Preemption{
			Namespace: w.Namespace, Name: e.headOf(w).Name, ClusterQueue: string(t.WorkloadInfo.ClusterQueue),
			Reason: t.Reason, Lost: e.loses(e.headOf(w)), Releases: e.quantities(t.WorkloadInfo.FlavorResourceUsage()),
		}
		if w.Spec.Priority != nil {
			p.Priority = *w.Spec.Priority
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Preemption) int {
		return cmp.Or(cmp.Compare(a.ClusterQueue, b.ClusterQueue), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}
