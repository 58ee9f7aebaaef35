package admission

import (
	"context"
	"fmt"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
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
		withReasons()()
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
