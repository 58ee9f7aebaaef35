package execcmd

import (
	"context"
	"time"
)

// sizeChanges tells that the terminal's size may have changed: Windows has no
// signal for it, so it is looked at every quarter of a second.
func sizeChanges(ctx context.Context) <-chan time.Time {
	t := time.NewTicker(250 * time.Millisecond)
	context.AfterFunc(ctx, t.Stop)
	return t.C
}
