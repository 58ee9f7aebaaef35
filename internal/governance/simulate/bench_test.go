package simulate_test

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// BenchmarkRun is a change of one team on the cluster of the budgets: 1,000 admitted
// and 5,000 waiting workloads in 100 queues.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"BestEffortFIFO", "StrictFIFO", "FairSharing"} {
		strategy := ""
		if name == "StrictFIFO" {
			strategy = `"queueingStrategy":"StrictFIFO"`
		}
		s := fixture.Big(strategy)
		if name == "FairSharing" {
			s.Add(fixture.Rules(fixture.FairSharing))
		}
		in, err := inputs.Load(b.Context(), s.Client(), inputs.Options{}, fixture.Noon)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := run(b, simulate.Of(in), 0, change(b, simulate.Set, "team-42.quota/nvidia.com/gpu=48"))
				b.ReportMetric(float64(r.CyclesRun), "cycles")
				b.ReportMetric(float64(len(r.Preempted)), "preempted")
				b.Logf("%d cycles, %d preempted, before %+v after %+v", r.CyclesRun, len(r.Preempted), r.Before, r.After)
			}
		})
	}
}
