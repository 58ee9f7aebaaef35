package snapshot_test

import (
	"context"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// BenchmarkRead goes from the file to an engine that can decide, at the size of
// the budgets. Budget: 700 ms for the whole process of a dry run.
func BenchmarkRead(b *testing.B) {
	s := capture(b, fixture.Big("").Client(), snapshot.Options{})
	for _, name := range []string{"s.json", "s.json.gz"} {
		path := save(b, s, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				in := load(b, client(open(b, path)))
				if _, _, err := in.Engine(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/open", func(b *testing.B) {
			for b.Loop() {
				open(b, path)
			}
		})
	}
}
