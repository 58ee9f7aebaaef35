package admission

import (
	"context"
	"fmt"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// big is the size the budgets are set for: 100 queues in one cohort, 1,000
// admitted and 5,000 waiting workloads.
func big(policy queueOption) *fixture {
	f := newFixture()
	for q := range 100 {
		team := fmt.Sprintf("team-%02d", q)
		f.team(team, "all", "40", policy)
		for i := range 10 {
			f.add(f.job(team, fmt.Sprint("run-", i), 4, prio(int32(i%3)), running))
		}
		for i := range 50 {
			f.add(f.job(team, fmt.Sprint("wait-", i), 1+i%8, prio(int32(i%3))))
		}
	}
	return f
}

func settled(b *testing.B, cfg Config, policy queueOption) (*fixture, *Engine) {
	b.Helper()
	f := big(policy)
	return f, f.engine(b, cfg)
}

func BenchmarkLoad(b *testing.B) {
	f := big(preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyNever))
	b.ResetTimer()
	for b.Loop() {
		f.engine(b, Config{})
	}
}

func BenchmarkProbe(b *testing.B) {
	never, lower, anyPrio := kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny
	cases := []struct {
		name   string
		cfg    Config
		policy queueOption
	}{
		{"NoPreemption", Config{}, preempts(never, never)},
		{"Preemption", Config{}, preempts(lower, anyPrio)},
		{"FairSharing", Config{FairSharing: true}, preempts(lower, anyPrio)},
		{"StrictFIFO", Config{}, func(cq *kueue.ClusterQueue) { preempts(lower, anyPrio)(cq); strict(cq) }},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			f, e := settled(b, c.cfg, c.policy)
			w := f.job("team-42", "new", 16, prio(9))
			b.ReportAllocs()
			for b.Loop() {
				probe(b, e, w)
			}
		})
	}
}

// BenchmarkFirstProbe is the first verdict after a load, of a prepared engine, where
// every queue is StrictFIFO, so that the heads of all of them compete: one that is
// tried before all others, and one that is tried last. Take -benchtime 20x: every run
// loads.
func BenchmarkFirstProbe(b *testing.B) {
	f := big(func(cq *kueue.ClusterQueue) {
		preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny)(cq)
		strict(cq)
	})
	for name, prior := range map[string]int32{"Urgent": 9, "Last": -1} {
		b.Run(name, func(b *testing.B) {
			w := f.job("team-42", "new", 16, prio(prior))
			for range b.N {
				b.StopTimer()
				e := f.engine(b, Config{})
				e.Prepare(context.Background())
				b.StartTimer()
				probe(b, e, w)
			}
		})
	}
}

func BenchmarkCycle(b *testing.B) {
	_, e := settled(b, Config{}, preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyNever))
	start := time.Now()
	t, err := e.Run(context.Background(), 5000)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(max(t.Cycles, 1))/1000, "ms/cycle")
	b.ReportMetric(float64(t.Cycles), "cycles")
}

func BenchmarkReasonsGate(b *testing.B) {
	for b.Loop() {
		embedded.WithReasons()()
	}
}

// BenchmarkLoadAndQueue includes what Run needs and Probe does not.
func BenchmarkLoadAndQueue(b *testing.B) {
	f := big(preempts(kueue.PreemptionPolicyNever, kueue.PreemptionPolicyNever))
	b.ResetTimer()
	for b.Loop() {
		f.engine(b, Config{}).flush(context.Background())
	}
}

// TestProbeRemembersRivals: what Probe remembers of the heads of other StrictFIFO
// queues changes no answer.
func TestProbeRemembersRivals(t *testing.T) {
	for _, fair := range []bool{false, true} {
		f := newFixture()
		for q := range 6 {
			team := fmt.Sprint("team-", q)
			f.team(team, "all", "10", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny), strict)
			f.add(f.job(team, "run-0", 4+q, prio(1), running), f.job(team, "run-1", 2+q%3, prio(3), running))
			f.add(f.job(team, "wait-0", 3+q, prio(int32(q%3))), f.job(team, "wait-1", 1, prio(1)))
		}
		e := f.engine(t, Config{FairSharing: fair})
		for i := range 24 {
			w := f.job(fmt.Sprint("team-", i%6), fmt.Sprint("new-", i), 1+i, prio(int32(i%5)))
			remembered := probe(t, e, w)
			e.touch()
			fresh := probe(t, e, w)
			if answer(&remembered) != answer(&fresh) {
				t.Errorf("fair %t, job %d:\n%s\nnot\n%s", fair, i, answer(&remembered), answer(&fresh))
			}
			queued := f.engine(t, Config{FairSharing: fair})
			queued.flush(context.Background())
			if d := probe(t, queued, w); answer(&d) != answer(&fresh) {
				t.Errorf("fair %t, job %d, queued before:\n%s\nnot\n%s", fair, i, answer(&d), answer(&fresh))
			}
		}
	}
}

// TestPrepare: the first Probe of a prepared engine finds no head of another
// StrictFIFO queue itself.
func TestPrepare(t *testing.T) {
	f := newFixture()
	for q := range 4 {
		team := fmt.Sprint("team-", q)
		f.team(team, "all", "10", strict)
		f.add(f.job(team, "run", 8, running), f.job(team, "wait", 4))
	}
	f.team("alone", "", "10", strict).add(f.job("alone", "wait", 4))
	f.team("other", "all", "10").add(f.job("other", "wait", 4))
	e := f.engine(t, Config{})
	e.Prepare(context.Background())
	for range 2 {
		if len(e.nominations) != 4 {
			t.Errorf("%d heads are nominated, not those of the 4 StrictFIFO queues with a cohort", len(e.nominations))
		}
		probe(t, e, f.job("team-1", "new", 4, prio(-1)))
	}
}
