package turn

import (
	"context"
	"errors"
	"testing"
)

// TestTake: one has the turn at a time, with all that has its context, and waiting for it ends with the context.
func TestTake(t *testing.T) {
	has, release, err := Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, again, err := Take(has); err != nil {
		t.Error(err)
	} else {
		again() // the turn stays with the first
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Take(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("taken twice: %v", err)
	}
	next := make(chan func())
	go func() {
		_, release, _ := Take(context.WithoutCancel(t.Context()))
		next <- release
	}()
	release()
	(<-next)()
}
