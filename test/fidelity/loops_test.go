package fidelity

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// looped is a scenario whose target may begin a loop of preemptions.
type looped struct {
	scenario
	loops bool
}

// loops are two scenarios in which a job preempts another one and borrows. The guest could take what becomes free, and would lose
// it to the preempted job again. A strict queue tries the guest in every cycle, so it does. Another queue put the guest aside, and
// tries it a second after the quota became free.
func loops() []looped {
	with := func(name string, strict bool) looped {
		of := func(name string, n int, strict bool) team {
			return team{name: name, cohort: "pool", quota: nominal(n), within: lower, reclaim: every, strict: strict}
		}
		return looped{loops: strict, scenario: scenario{name: name, flavors: one, teams: []team{of("a", 6, false), of("b", 2, false), of("c", 0, strict)},
			running: []job{{team: "a", name: "base", priority: 4, gpus: 2}, {team: "a", name: "small", gpus: 4}, {team: "c", name: "guest", priority: 5, gpus: 4}},
			target:  job{team: "a", name: "big", priority: 2, gpus: 2, pods: 3}}}
	}
	return []looped{with("loop-strict-guest", true), with("loop-guest-put-aside", false)}
}

// follow submits the target of a scenario, after the dry run and the simulation answered whether a loop begins, and
// waits until Kueue has done the same.
func (b *bench) follow(t *testing.T, m maker, loops bool) {
	in := b.atRest()
	cfg := in.Rules().Config
	cfg.Gates = b.gates
	e, err := admission.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(t.Context(), in.Objects()...); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(m.workload(m.target))
	if err != nil {
		t.Fatal(err)
	}
	target, err := decode.Objects(raw)
	if err != nil {
		t.Fatal(err)
	}
	after, err := e.Submit(t.Context(), target[0].(*kueue.Workload))
	if err != nil || len(after.Loop) > 0 != loops {
		t.Fatalf("the dry run: %+v, %v", after, err)
	}
	submitted := m.batchJob(m.target)
	submitted["metadata"].(object)["namespace"] = m.at(m.target.team)
	data, err := json.Marshal(submitted)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(t.Context(), simulate.Of(in), []simulate.Change{simulate.NewJob("big.json", data, "")}, simulate.Options{})
	if err != nil || (r.Loop != nil) != loops || r.Settled == loops {
		t.Fatalf("the simulation: settled %v, loop %+v, %v", r.Settled, r.Loop, err)
	}
	if err := b.submit(submitted, m.at(m.target.team)); err != nil {
		t.Fatal(err)
	}
	all := m
	all.running = append(slices.Clone(m.running), m.target)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	err = b.bed.WaitFor(ctx, "Kueue to do the same", func(ctx context.Context) error {
		if loops {
			return b.evictedOften(ctx, m)
		}
		return b.as(ctx, all, r)
	})
	if err != nil {
		t.Error(err)
	}
	if loops { // it ends without the target
		_, err := b.bed.Request(t.Context(), http.MethodDelete, "/apis/batch/v1/namespaces/"+m.at(m.target.team)+"/jobs/"+m.target.name, "application/json", []byte(`{"propagationPolicy":"Background"}`))
		if err != nil {
			t.Error(err)
		}
	}
}

// evictedOften returns an error unless the last two jobs of a scenario were evicted three times each.
func (b *bench) evictedOften(ctx context.Context, m maker) error {
	for _, j := range m.running[1:] {
		w, err := b.workloadOf(ctx, m, j)
		if err != nil {
			return err
		}
		n := int32(0)
		if s := w.Status.SchedulingStats; s != nil {
			for _, e := range s.Evictions {
				n += e.Count
			}
		}
		if n < 3 {
			return fmt.Errorf("%s was evicted %d times", j.name, n)
		}
	}
	return nil
}
