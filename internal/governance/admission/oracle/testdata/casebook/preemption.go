package preemption

import (
	"context"
	"fmt"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/util/casebook"
	"sigs.k8s.io/kueue/pkg/workload"
)

// GetTargets is what Kueue's function of this name was.
func (p *Preemptor) GetTargets(ctx context.Context, wl workload.Info, assignment flavorassigner.Assignment, snapshot *schdcache.Snapshot) []*Target {
	targets := p.getTargetsOfKueue(ctx, wl, assignment, snapshot)
	d := casebook.Direct{Queue: string(wl.ClusterQueue), Targets: map[string]string{}}
	d.Now = p.clock.Now()
	if p.enableFairSharing {
		d.Fair = casebook.LastFair()
	}
	d.CreationOrders = p.workloadOrdering.PodsReadyRequeuingTimestamp == config.CreationTimestamp
	for _, ps := range assignment.PodSets {
		of := map[string]string{}
		for r, f := range ps.Flavors {
			of[string(r)] = fmt.Sprintf("%s %v", f.Name, f.Mode)
		}
		d.Flavors, d.Counts = append(d.Flavors, of), append(d.Counts, ps.Count)
	}
	for _, t := range targets {
		d.Targets[string(workload.Key(t.WorkloadInfo.Obj))] = t.Reason
	}
	casebook.Targets(d, wl.Obj)
	return targets
}
