package inputs_test

import (
	"context"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// BenchmarkLoad reads the cluster of the budgets and makes an engine of it.
// Budget: 300 ms for 1,000 admitted and 5,000 waiting workloads in 100 queues.
func BenchmarkLoad(b *testing.B) {
	c := fixture.Big("").Client()
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			load(b, c)
		}
	})
	b.Run("engine", func(b *testing.B) {
		in := load(b, c)
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := in.Engine(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func load(t testing.TB, c *kube.Client) *inputs.Inputs {
	t.Helper()
	in, err := inputs.Load(context.Background(), c, inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	return in
}
