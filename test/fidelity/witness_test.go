package fidelity

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// passedOver waits until Kueue has demonstrably had its chance with a workload
// about which it writes nothing. The workload is in the ClusterQueue's count of
// pending workloads first. Then a later workload is admitted:
//
//   - from the same queue with a lower priority, if that queue is not strict. Kueue
//     takes it only after it tried the one before it and put it aside.
//   - from a queue of its own, if the queue is strict. Each scheduling cycle takes
//     the head of every queue, so Kueue has looked at this queue again.
func (b *bench) passedOver(m maker, j job) error {
	if err := b.queued(m, j); err != nil {
		return err
	}
	witness, in := job{team: j.team, name: "witness", priority: j.priority - 1, gpus: 1}, m
	if m.strict(j) {
		in = b.witnesses()
		witness = job{team: in.teams[0].name, name: m.prefix, gpus: 1}
	}
	if err := b.create(in.workload(witness)); err != nil {
		return err
	}
	return b.bed.WaitFor(b.t.Context(), in.at(witness.team)+"/"+witness.name+" to be admitted", func(context.Context) error {
		w, err := b.get(in, witness)
		if err != nil {
			return err
		}
		if c := live.QuotaOf(w); c.Status != "True" {
			return fmt.Errorf("QuotaReserved is %q %q", c.Status, c.Reason)
		}
		return nil
	})
}

// witnesses is a queue of its own in which everything is admitted.
func (b *bench) witnesses() maker {
	s := scenario{name: "witnesses", flavors: one, teams: []team{{name: "a", quota: nominal(1000)}}}
	return maker{s, b.makers[0].version, "witnesses"}
}

// queued waits until Kueue counts a workload, and all others of its queue without
// quota, as pending.
func (b *bench) queued(m maker, j job) error {
	path := "/apis/kueue.x-k8s.io/" + m.version + "/clusterqueues/" + m.at(j.team)
	return b.bed.WaitFor(b.t.Context(), m.at(j.team)+"/"+j.name+" to be queued", func(ctx context.Context) error {
		want := 1
		for _, other := range m.running {
			if other.team != j.team {
				continue
			}
			w, err := b.get(m, other)
			if kube.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			if c := live.QuotaOf(w); c.Status != "True" {
				want++
			}
		}
		var cq struct {
			Status struct{ PendingWorkloads int }
		}
		if err := b.bed.Get(ctx, path, &cq); err != nil {
			return err
		}
		if cq.Status.PendingWorkloads != want {
			return fmt.Errorf("%d workloads are pending, not %d", cq.Status.PendingWorkloads, want)
		}
		return nil
	})
}
