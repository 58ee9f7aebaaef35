package quota

import (
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Kueue's conditions of a workload.
const (
	QuotaReserved = "QuotaReserved"
	Admitted      = "Admitted"
	Finished      = "Finished"
)

func is(w *state.Workload, condition string) bool {
	c, _ := state.Find(w.Conditions, condition)
	return c.True()
}

// Holds reports whether a workload has reserved quota (Kueue's HasActiveQuotaReservation).
func Holds(w *state.Workload) bool {
	return w.Admission != nil && w.Active && is(w, QuotaReserved) && !is(w, Finished)
}

// Waits reports whether a workload needs quota and has none.
func Waits(w *state.Workload) bool {
	return w.Active && !is(w, QuotaReserved) && !is(w, Finished) && !Lost(w)
}

// Lost reports the workload of pods without a controller that Kueue has evicted and deleted. It is in no queue until somebody
// makes new pods (IsAdmissible in Kueue's pkg/workload, v0.19).
func Lost(w *state.Workload) bool {
	return !is(w, QuotaReserved) && is(w, "WaitingForReplacementPods") &&
		!slices.ContainsFunc(w.Owners, func(o state.Owner) bool { return o.Kind != kinds.Pod.Kind })
}

// Replaced reports a finished workload that was no job of its own: another workload of the job follows it, or the job is gone.
func Replaced(finished state.Condition) bool {
	return slices.Contains([]string{"OutOfSync", "WorkloadSliceReplaced", "OwnerNotFound"}, finished.Reason)
}

// Failed reports a finished workload whose job did not succeed.
func Failed(finished state.Condition) bool {
	return slices.Contains([]string{"Failed", "AdmissionChecksRejected", "FailedToStart"}, finished.Reason)
}

// Requeued reports whether Kueue has evicted a workload before, and when it queued the workload again, zero if that is not known:
// preemptions leave the condition Requeued as it is, so that its time is that of the first of them.
func Requeued(w *state.Workload) (evicted bool, at time.Time) {
	if _, ok := state.Find(w.Conditions, "Evicted"); !ok {
		return false, time.Time{}
	}
	times := 0
	for _, e := range w.Evictions {
		times += e.Count
	}
	c, _ := state.Find(w.Conditions, "Requeued")
	if c.True() && (times == 1 || c.Reason == "Reactivated" || c.Reason == "BackoffFinished") {
		at = c.LastTransitionTime
	}
	return true, at
}

// eachUse calls put for what every pod set of a workload with quota holds. Pods that
// have given their quota back do not count (Kueue's totalRequestsFromAdmission).
func eachUse(w *state.Workload, put func(Key, int64)) {
	for _, set := range w.Admission.PodSets {
		count, left := set.Count, set.Count
		for _, p := range w.PodSets {
			if p.Name != set.Name {
				continue
			}
			if count == 0 {
				count = p.Count
			}
			left = min(count, max(0, p.Count-w.Reclaimable[p.Name]))
		}
		for resource, text := range set.Usage {
			n, ok := state.Amount(resource, text)
			flavor := set.Flavors[resource]
			if !ok || flavor == "" {
				continue
			}
			if left < count {
				n = n / count * left
			}
			put(Key{flavor, resource}, n)
		}
	}
}

// demandOf returns the requests of a pending workload.
func demandOf(w *state.Workload) state.Amounts {
	if !Waits(w) {
		return nil
	}
	return RequestsOf(w)
}

// RequestsOf returns what all pods of a workload request.
func RequestsOf(w *state.Workload) state.Amounts {
	out := state.Amounts{}
	for _, p := range w.PodSets {
		for resource, n := range p.Requests {
			out[resource] = add(out[resource], times(n, p.Count))
		}
	}
	return out
}

func times(n, count int64) int64 {
	if count != 0 && n > Unlimited/max(count, 1) {
		return Unlimited
	}
	return n * count
}

// usages sums what workloads hold, by ClusterQueue: reserved, and of that what is
// admitted.
func usages(workloads []state.Workload) (reserved, used map[string]Usage) {
	reserved, used = map[string]Usage{}, map[string]Usage{}
	of := func(in map[string]Usage, queue string) Usage {
		u := in[queue]
		if u == nil {
			u = Usage{}
			in[queue] = u
		}
		return u
	}
	for i := range workloads {
		w := &workloads[i]
		if !Holds(w) {
			continue
		}
		r, u := of(reserved, w.Admission.ClusterQueue), Usage(nil)
		if is(w, Admitted) {
			u = of(used, w.Admission.ClusterQueue)
		}
		eachUse(w, func(k Key, n int64) {
			r[k] = add(r[k], n)
			if u != nil {
				u[k] = add(u[k], n)
			}
		})
	}
	return reserved, used
}

// statusUsage returns what a ClusterQueue's own status says.
func statusUsage(flavors []state.FlavorUsage) Usage {
	out := Usage{}
	for _, f := range flavors {
		for _, r := range f.Resources {
			out[Key{f.Name, r.Name}] = AmountOf(r.Name, r.Total)
		}
	}
	return out
}
