package factory

import (
	"context"
	"time"
)

// Deadline is the end of --timeout, which covers the requests and all waiting of a run together.
type Deadline struct {
	// Given is the value of --timeout; nil means no limit.
	Given *time.Duration
	end   time.Time
	now   func() time.Time
}

// Deadline returns the deadline of a timeout that starts now.
func (f *Factory) Deadline(given *time.Duration) Deadline {
	d := Deadline{Given: given, now: f.Now}
	if d.limits() {
		d.end = f.Now().Add(*given)
	}
	return d
}

// limits reports whether there is a time after which the wait ends.
func (d Deadline) limits() bool { return d.Given != nil && *d.Given > 0 }

// Once reports a timeout of 0: look once, and do not wait.
func (d Deadline) Once() bool { return d.Given != nil && *d.Given == 0 }

// Limit returns the timeout as it was given; 0 if there is no limit.
func (d Deadline) Limit() time.Duration {
	if !d.limits() {
		return 0
	}
	return *d.Given
}

// Left returns what is left of the timeout: 0 if there is no limit, and never 0 once it is over.
func (d Deadline) Left() time.Duration {
	if !d.limits() {
		return 0
	}
	return max(d.end.Sub(d.now()), time.Nanosecond)
}

// Bound returns a context for requests and waiting: it ends with the timeout.
func (d Deadline) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.BoundCause(ctx, nil)
}

// BoundCause is Bound for a caller that has to tell the end of the timeout by its cause.
func (d Deadline) BoundCause(ctx context.Context, cause error) (context.Context, context.CancelFunc) {
	if !d.limits() {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d.Left(), cause)
}
