package admission

import (
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/classical"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/workload"
)

// fairMemory is what searches for targets keep from one snapshot to the next: most queues hold the same workloads in both.
type fairMemory struct {
	slots   *slots
	holders map[kueue.ClusterQueueReference]*holders
}

// holders are the admitted workloads of a queue in Kueue's order of candidates.
type holders struct {
	list []holder
	// using are the numbers of those that use a flavor's resource; missing: not known.
	using map[resources.FlavorResource][]int
}

// holder is an admitted workload and what it holds.
type holder struct {
	*workload.Info
	key   workload.Reference
	holds []held
}

func newFairMemory() *fairMemory {
	return &fairMemory{slots: newSlots(), holders: map[kueue.ClusterQueueReference]*holders{}}
}

// of returns the holders of a queue.
func (m *fairMemory) of(e *Engine, cq *fairQueue) *holders {
	known, ok := m.holders[cq.Name]
	if ok && sameHolders(known.list, cq.Workloads) {
		return known
	}
	list := make([]holder, 0, len(cq.Workloads))
	timeless := true
	for key, w := range cq.Workloads {
		list = append(list, holder{w, key, m.slots.holds(w)})
		timeless = timeless && apimeta.IsStatusConditionTrue(w.Obj.Status.Conditions, kueue.WorkloadQuotaReserved)
	}
	now := e.clock.Now()
	slices.SortFunc(list, func(a, b holder) int {
		return preemptioncommon.CandidatesOrdering(e.log, false, a.Info, b.Info, cq.Name, now)
	})
	out := &holders{list: list, using: map[resources.FlavorResource][]int{}}
	if delete(m.holders, cq.Name); timeless { // else the order depends on the time
		m.holders[cq.Name] = out
	}
	return out
}

// users are the numbers of the holders that use a flavor's resource.
func (h *holders) users(fr resources.FlavorResource) []int {
	list, known := h.using[fr]
	if !known {
		one := sets.New(fr)
		for i := range h.list {
			if classical.WorkloadUsesResources(h.list[i].Info, one) {
				list = append(list, i)
			}
		}
		h.using[fr] = list
	}
	return list
}

// sameHolders reports whether a queue holds exactly these workloads. An Info in Kueue's cache never changes: a workload
// that does gets another one.
func sameHolders(list []holder, now map[workload.Reference]*workload.Info) bool {
	if len(list) != len(now) {
		return false
	}
	for i := range list {
		if now[list[i].key] != list[i].Info {
			return false
		}
	}
	return true
}
