package scheduler

import (
	"fmt"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/casebook"
	"sigs.k8s.io/kueue/pkg/workload"
)

func (s *Scheduler) casebook() func() {
	dump := func(f func() map[kueue.ClusterQueueReference][]workload.Reference) func() map[string][]string {
		return func() map[string][]string {
			out := map[string][]string{}
			for q, list := range f() {
				for _, w := range list {
					out[string(q)] = append(out[string(q)], fmt.Sprint(w))
				}
			}
			return out
		}
	}
	return casebook.Start(casebook.Settings{
		Fair: s.fairSharing, ByUse: s.admissionFairSharing, QuotaCheck: s.quotaCheckStrategy, Now: s.clock.Now(),
		CreationOrders: s.workloadOrdering.PodsReadyRequeuingTimestamp == config.CreationTimestamp,
	}, dump(s.queues.Dump), dump(s.queues.DumpInadmissible), s.recorder)
}
