package queue

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// The codes of a Reason: Kueue's words where it has one.
const (
	WaitingForQuota   = "WaitingForQuota"
	ExceedsMaxQuota   = "ExceedsMaxQuota"
	NoMatchingFlavor  = "NoMatchingFlavor"
	WaitingForOthers  = "WaitingForOthers"  // it would fit, or the order is strict; others come first
	PendingEvaluation = "PendingEvaluation" // it would fit, and is about to be evaluated
	Misconfigured     = "Misconfigured"     // its queue leads nowhere
	QueueStopped      = "Suspended"
	QueueInactive     = "QueueInactive"
	Requeued          = "WaitingForRequeue" // evicted, and not to be tried before a time
	Other             = "Other"             // what Kueue says
)

// ReasonCodes returns the codes of reasons, the most frequent first.
func ReasonCodes() []string {
	return []string{WaitingForQuota, ExceedsMaxQuota, NoMatchingFlavor, WaitingForOthers, PendingEvaluation, Misconfigured, QueueStopped, QueueInactive, Requeued, Other}
}

// Detail distinguishes reasons with the same code.
type Detail string

// The details of reasons.
const (
	LocalQueueUnread    Detail = "LocalQueueUnread"    // of Other: Object, a LocalQueue, could not be read
	LocalQueueMissing   Detail = "LocalQueueMissing"   // of Misconfigured: Object, a LocalQueue, does not exist
	ClusterQueueMissing Detail = "ClusterQueueMissing" // of Misconfigured: Object, a ClusterQueue, does not exist
	ClusterQueueInvalid Detail = "ClusterQueueInvalid" // of Misconfigured: Faults say what is wrong
	ReportedByKueue     Detail = "ReportedByKueue"     // of WaitingForQuota and ExceedsMaxQuota: from Kueue's message, which may be old
)

// Reason says why a workload waits. Package present/queuetext words it.
type Reason struct {
	Code   string
	Detail Detail
	// Words are the reason in a few words, "" until present/queuetext fills them in.
	Words string
	// Message is Kueue's own sentence, "" when it has written none.
	Message string
	// Resource and Missing are how much of what is missing for WaitingForQuota, or is
	// beyond the limit for ExceedsMaxQuota, in the units of package quota.
	Resource string
	Missing  int64
	// Object is what the reason is about: a queue, the condition of an inactive queue, or
	// for WaitingForOthers the job before it.
	Object string
	// Faults are those of its ClusterQueue, for ClusterQueueInvalid.
	Faults []quota.Fault
	// Flavors are those that the queue has, for NoMatchingFlavor.
	Flavors []string
	// In is the time until the next try, for WaitingForRequeue.
	In time.Duration
}

// reason works out why a workload waits. Kueue seldom tries most waiting workloads, and
// writes no reason for those it has not tried.
func (b *builder) reason(w *state.Workload, it *Item, ahead string) Reason {
	r := Reason{}
	if c, ok := state.Find(w.Conditions, quota.QuotaReserved); ok && !c.True() {
		r.Message = c.Message
	}
	is := func(code string, detail Detail, object string) Reason {
		r.Code, r.Detail, r.Object = code, detail, object
		return r
	}
	if l := b.local[w.Namespace+"/"+w.QueueName]; l != nil && stopped(l.StopPolicy) {
		return is(QueueStopped, "", w.QueueName)
	}
	q := b.queues[it.ClusterQueue]
	switch {
	case it.ClusterQueue == "" && len(b.s.MissingOf(kinds.LocalQueue)) > 0:
		return is(Other, LocalQueueUnread, w.QueueName)
	case it.ClusterQueue == "":
		return is(Misconfigured, LocalQueueMissing, w.QueueName)
	case q == nil && b.r.Complete:
		return is(Misconfigured, ClusterQueueMissing, it.ClusterQueue)
	case q == nil:
		return b.told(r, it.Size)
	case len(b.faults[q.Name]) > 0:
		r.Faults = b.faults[q.Name]
		return is(Misconfigured, ClusterQueueInvalid, q.Name)
	case stopped(q.StopPolicy):
		return is(QueueStopped, "", q.Name)
	}
	if c, ok := state.Find(q.Conditions, "Active"); ok && c.Status == "False" {
		return is(QueueInactive, "", c.Reason)
	}
	if t := w.Requeue; t != nil && t.At != nil && t.At.After(b.s.Taken) {
		r.In = t.At.Sub(b.s.Taken).Round(time.Second)
		return is(Requeued, "", "")
	}
	if code, resource, missing := b.shortage(w, it, r.Message); code != "" {
		if code == WaitingForQuota && q.QueueingStrategy == "StrictFIFO" && ahead != "" {
			return is(WaitingForOthers, "", ahead) // Kueue does not try it before
		}
		r.Resource, r.Missing = resource, missing
		if code == NoMatchingFlavor {
			for _, f := range b.flavorsOf(it.ClusterQueue, resource) {
				r.Flavors = append(r.Flavors, f.Flavor)
			}
		}
		return is(code, "", "")
	}
	if told := b.told(r, it.Size); told.Detail == ReportedByKueue && !b.r.Complete {
		return told // the use of other teams cannot be read
	}
	switch {
	case r.Message != "" && informative(r.Message):
		return is(Other, "", "")
	case ahead != "":
		return is(WaitingForOthers, "", ahead)
	case !b.r.Complete:
		return is(Other, "", "")
	}
	return is(PendingEvaluation, "", "")
}

// Decide gives an item that Kueue can never admit its deciding reason: a requested
// resource that the queue has no quota for decides before quota that others use.
func Decide(it *Item, q *state.ClusterQueue) {
	if it.Reason.Code == NoMatchingFlavor || it.Reason.Code == ExceedsMaxQuota {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(it.Size)) {
		covered := slices.ContainsFunc(q.ResourceGroups, func(g state.ResourceGroup) bool { return slices.Contains(g.CoveredResources, name) })
		if it.Size[name] > 0 && !covered {
			it.Reason = Reason{Code: NoMatchingFlavor, Message: it.Reason.Message, Resource: name, Missing: it.Size[name]}
			return
		}
	}
}

// told returns the reason that Kueue's message gives, the same that explain-job gives. It may be old: the time of the
// condition is not that of its message.
func (b *builder) told(r Reason, size state.Amounts) Reason {
	all, never := quota.DecidingShortages(r.Message)
	if len(all) == 0 {
		r.Code = Other
		return r
	}
	r.Code, r.Detail, r.Resource = WaitingForQuota, ReportedByKueue, all[0].Resource
	if never {
		r.Code = ExceedsMaxQuota
	}
	for i, s := range all {
		missing, _ := state.Amount(s.Resource, s.Missing)
		if never { // Kueue may count less than the whole job against the limit
			most, _ := state.Amount(s.Resource, s.Most)
			missing = max(0, size[s.Resource]-most)
		}
		if i == 0 || missing < r.Missing {
			r.Missing = missing
		}
	}
	return r
}

func stopped(policy string) bool { return policy != "" && policy != "None" }

// shortage compares what a workload asks for with what its queue could get: per
// resource from the flavor that has most, of those whose nodes the task's pods can
// go to: by their node selector, and by what Kueue's message rules out.
// Accelerators come first, because they are scarce.
func (b *builder) shortage(w *state.Workload, it *Item, message string) (code, resource string, missing int64) {
	names := slices.Sorted(maps.Keys(it.Size))
	slices.SortStableFunc(names, func(x, y string) int {
		switch {
		case kinds.Accelerator(x) == kinds.Accelerator(y):
			return 0
		case kinds.Accelerator(x):
			return -1
		}
		return 1
	})
	// A resource without quota decides whatever else is short. Only Kueue's message says
	// whether its configuration counts the resource.
	if name := words.Uncovered(message); it.Size[name] > 0 && len(b.flavorsOf(it.ClusterQueue, name)) == 0 {
		return NoMatchingFlavor, name, it.Size[name]
	}
	known := b.r.Complete || b.queues[it.ClusterQueue].Cohort == ""
	for _, name := range names {
		size := it.Size[name]
		if size == 0 {
			continue
		}
		flavors := b.flavorsOf(it.ClusterQueue, name)
		var fitting []quota.Availability
		for _, f := range flavors {
			if !words.RulesOut(message, f.Flavor) && b.selects(w, name, f) {
				fitting = append(fitting, f.Availability)
			}
		}
		if len(fitting) == 0 {
			if len(flavors) > 0 || kinds.Accelerator(name) {
				return NoMatchingFlavor, name, size
			}
			continue // whether it counts is up to Kueue's configuration
		}
		if !known {
			continue
		}
		short := quota.LeastShort(fitting, size)
		// One role gets one flavor; several may get several.
		ofOne := quota.LeastShort(fitting, largest(w, name))
		switch {
		case short.Beyond > 0 && len(fitting) == 1:
			return ExceedsMaxQuota, name, short.Beyond
		case ofOne.Beyond > 0:
			return ExceedsMaxQuota, name, ofOne.Beyond
		case short.Missing > 0 && code == "":
			code, resource, missing = WaitingForQuota, name, short.Missing
		}
	}
	return code, resource, missing
}

// selects reports a flavor that a pod set which asks for a resource can go to, by
// its node selector.
func (b *builder) selects(w *state.Workload, resource string, f flavor) bool {
	asks := false
	for _, p := range w.PodSets {
		if p.Requests[resource] == 0 || p.Count == 0 {
			continue
		}
		asks = true
		if quota.Selects(p.NodeSelector, b.labels[f.Flavor], f.keys) {
			return true
		}
	}
	return !asks
}

// largest returns what the role that asks for most of a resource asks for, with the
// fewest pods it may be started with.
func largest(w *state.Workload, resource string) int64 {
	most := int64(0)
	for _, ps := range w.PodSets {
		if ps.MinCount != nil {
			ps.Count = *ps.MinCount
		}
		most = max(most, quota.RequestsOf(&state.Workload{PodSets: []state.PodSet{ps}})[resource])
	}
	return most
}

// flavor is what a queue can get of a resource in a flavor.
type flavor struct {
	quota.Availability
	keys map[string]bool // of the labels of all flavors of its resource group
}

// flavorsOf returns what a queue can get of a resource in each of its flavors, in the
// order of the queue. The result is kept, because many workloads request the same.
func (b *builder) flavorsOf(clusterQueue, resource string) []flavor {
	k := [2]string{clusterQueue, resource}
	if out, ok := b.flavors[k]; ok {
		return out
	}
	var out []flavor
	for _, g := range b.queues[clusterQueue].ResourceGroups {
		keys := map[string]bool{}
		for _, f := range g.Flavors {
			for key := range b.labels[f.Name] {
				keys[key] = true
			}
		}
		for _, f := range g.Flavors {
			if slices.ContainsFunc(f.Resources, func(r state.ResourceQuota) bool { return r.Name == resource }) {
				out = append(out, flavor{b.r.Tree.Availability(clusterQueue, f.Name, resource), keys})
			}
		}
	}
	b.flavors[k] = out
	return out
}

// informative reports a message of Kueue's that says more than that it waits, or than
// a shortage of quota that has passed since.
func informative(message string) bool {
	for _, s := range []string{"insufficient unused quota", "insufficient quota", "Waiting", "no new capacity"} {
		if strings.Contains(message, s) {
			return false
		}
	}
	return true
}
