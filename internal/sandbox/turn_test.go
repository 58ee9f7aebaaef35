package sandbox

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

// TestTurn: while another part of the process makes decisions of Kueue, a sandbox makes none, and holds no lock. Requests of
// that part are served.
func TestTurn(t *testing.T) {
	b := newBench(t, "john-smith")
	has, release, err := turn.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.s.Advance(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("advanced beside another decision: %v", err)
	}
	if _, err := Create(ended, filepath.Join(t.TempDir(), "other.json"), "john-smith", b.options()); !errors.Is(err, context.Canceled) {
		t.Errorf("created beside another decision: %v", err)
	}
	if err := b.s.Advance(has, time.Hour); err != nil {
		t.Error(err)
	}
	release()
	if err := b.s.Advance(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
}
