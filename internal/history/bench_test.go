package history

import (
	"os"
	"testing"
)

// BenchmarkRead reads the store in the folder that HYPERPOD_STORE names.
func BenchmarkRead(b *testing.B) {
	dir := os.Getenv("HYPERPOD_STORE")
	if dir == "" {
		b.Skip("HYPERPOD_STORE names no store")
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(dir, start, start.AddDate(0, 0, 31)); err != nil {
			b.Fatal(err)
		}
	}
}
