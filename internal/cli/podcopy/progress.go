package podcopy

import (
	"context"
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// refresh is how often the progress line changes.
const refresh = 250 * time.Millisecond

// Show keeps a progress line on a terminal until the function that it returns is called.
func (c *Copy) Show(ctx context.Context) (stop func()) {
	if !c.Factory.IO.ErrTTY || c.Factory.Global.Quiet {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running crash.Group
	start := time.Now()
	running.Go(func() {
		tick := time.NewTicker(refresh)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				fmt.Fprint(c.Factory.IO.Err, "\r\x1b[K")
				return
			case <-tick.C:
				fmt.Fprint(c.Factory.IO.Err, "\r\x1b[K"+progress(c.Moved.Done(), c.Moved.Total(), time.Since(start)))
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

// progress returns the progress line. A total of 0 is unknown.
func progress(done, total int64, after time.Duration) string {
	text := "copied " + Size(done)
	if total > 0 {
		text += fmt.Sprintf(" of %s (%d%%)", Size(max(total, done)), min(100, 100*done/total))
	}
	if s := after.Seconds(); s >= 1 {
		text += ", " + Size(int64(float64(done)/s)) + "/s"
	}
	return text
}
