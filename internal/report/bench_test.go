package report

import (
	"os"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// BenchmarkBuild sums up the store in the folder that HYPERPOD_STORE names.
func BenchmarkBuild(b *testing.B) {
	dir := os.Getenv("HYPERPOD_STORE")
	if dir == "" {
		b.Skip("HYPERPOD_STORE names no store")
	}
	o := Options{From: start, To: start.AddDate(0, 0, 31), Source: Recorded}
	d, err := history.Read(dir, o.From, o.To)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Build(d, o)
	}
}
