package admission

import (
	"context"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// nomination is what nominate found for a workload that Kueue tries in every cycle. It is the
// same for every Probe of one state, because it is made on the cluster as it is,
// before anybody took anything.
type nomination struct {
	ok         bool
	assignment flavorassigner.Assignment
	targets    []*preemption.Target
	message    string
}

// Prepare computes what every [Engine.Probe] needs, so the first one is as fast as the others. It is optional: Probe
// computes the same if it is missing.
func (e *Engine) Prepare(ctx context.Context) {
	_ = embedded.Guard("heads of queues", func() error { e.prepare(ctx); return nil }) // Probe meets it again
}

func (e *Engine) prepare(ctx context.Context) {
	heads := e.constantHeads(ctx)
	if len(heads) == 0 {
		return
	}
	snap, err := e.snapshot(ctx)
	if err != nil {
		return
	}
	defer embedded.WithReasons()()
	e.cycle++ // as probeOnce has it
	defer func() { e.cycle-- }()
	for _, h := range heads {
		if cq := snap.ClusterQueue(h.ClusterQueue); cq != nil && cq.HasParent() {
			e.nominateRival(ctx, h.rival(), snap)
		}
	}
}

// rivals returns the workloads that Kueue tries in every cycle and that want what cq offers: those of other queues in its
// cohort tree, or with one of its flavors and their nodes.
func (e *Engine) rivals(ctx context.Context, snap *schdcache.Snapshot, cq kueue.ClusterQueueReference, self workload.Reference) []*entry {
	mine := snap.ClusterQueue(cq)
	if mine == nil || !mine.HasParent() && len(mine.TASFlavors) == 0 {
		return nil
	}
	var out []*entry
	for _, h := range e.constantHeads(ctx) {
		theirs := snap.ClusterQueue(h.ClusterQueue)
		if theirs == nil || theirs == mine || workload.Key(h.Obj) == self || !sameTree(mine, theirs) && !sameNodes(mine, theirs) {
			continue
		}
		out = append(out, h.rival())
	}
	return out
}

func sameTree(a, b *schdcache.ClusterQueueSnapshot) bool {
	return a.HasParent() && b.HasParent() && a.Parent().Root() == b.Parent().Root()
}

// sameNodes reports whether two queues have a flavor with a topology in common.
func sameNodes(a, b *schdcache.ClusterQueueSnapshot) bool {
	for name := range a.TASFlavors {
		if b.TASFlavors[name] != nil {
			return true
		}
	}
	return false
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
	en.targets = inSnapshot(n.targets, snap)
	en.LastAssignment = &en.assignment.LastState
	return true
}

// inSnapshot returns targets that were found in another snapshot of the same state.
func inSnapshot(targets []*preemption.Target, snap *schdcache.Snapshot) []*preemption.Target {
	out := make([]*preemption.Target, len(targets))
	for i, t := range targets {
		out[i] = &preemption.Target{WorkloadInfo: t.WorkloadInfo, Reason: t.Reason, WorkloadCq: snap.ClusterQueue(t.WorkloadInfo.ClusterQueue)}
	}
	return out
}
