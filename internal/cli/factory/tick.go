package factory

import (
	"context"
	"time"
)

// Ticks returns the clock of a command that repeats a request: given if it is not nil (tests), else a ticker. The
// caller calls stop at the end.
func Ticks(given <-chan time.Time, pace time.Duration) (tick <-chan time.Time, stop func()) {
	if given != nil {
		return given, func() {}
	}
	t := time.NewTicker(pace)
	return t.C, t.Stop
}

// Next waits for the next tick. It returns false when the clock has ended, and the context's error when that has.
func Next(ctx context.Context, tick <-chan time.Time) (bool, error) {
	select {
	case _, more := <-tick:
		return more, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
