package obstacle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

// TestObstacle: each reason why waiting is in vain is reported once, and withdrawn when it
// ends; a job that starts soon is not checked, and an unknown reason is not reported.
func TestObstacle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed []string
		asked := 0
		why, fails := "", error(nil)
		h := New(func(ctx context.Context) (string, []string, error) {
			asked++
			ended, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			cancel()
			if _, _, err := turn.Take(ended); err == nil {
				t.Error("asked beside other decisions")
			}
			return why, []string{"do this"}, fails
		}, func(lines []errs.Line) {
			text := ""
			for _, l := range lines {
				text += l.String() + "\n"
			}
			printed = append(printed, text)
		})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx); close(done) }()
		after := func(s jobs.State, d time.Duration) {
			h.See(s)
			<-time.After(d)
			synctest.Wait()
		}
		expect := func(step string, asks, says int) {
			t.Helper()
			if asked != asks || len(printed) != says {
				t.Errorf("%s: asked %d times, said %q", step, asked, printed)
			}
		}
		after(jobs.Pending, patience/2)
		after(jobs.Running, 2*patience)
		expect("a job that runs soon", 0, 0)
		after(jobs.Pending, 2*patience)
		expect("a job that can start", 1, 0)
		why = "too large"
		after(jobs.Pending, 2*patience)
		after(jobs.Pending, 2*patience)
		expect("one reason is reported once", 3, 1)
		if h.Why() != "too large" || printed[0] != "too large\n  try:   do this\n" {
			t.Errorf("%q, said %q", h.Why(), printed)
		}
		fails = errors.New("no answer")
		after(jobs.Pending, 2*patience)
		expect("no answer", 4, 1)
		why, fails = "queue stopped", nil
		after(jobs.Preempted, 2*patience)
		expect("another reason", 5, 2)
		why = ""
		after(jobs.Pending, 2*patience)
		expect("it can start again", 6, 3)
		stop()
		<-done
	})
}
