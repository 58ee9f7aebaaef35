package slurmjob

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
)

// Slurm reports no changes, so jobs are read again and again: soon after the start, then
// every few seconds, which is what Slurm's manual asks of scripts.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
)

// Pauses are the times between two reads.
type Pauses struct{ next time.Duration }

// Wait waits for the time of the next read.
func (p *Pauses) Wait(ctx context.Context) error {
	p.next = min(max(p.next*3/2, firstPause), longestPause)
	t := time.NewTimer(p.next)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// MostFailures is how many reads in a row may fail: a controller that restarts, or is
// replaced by its backup, does not end a wait.
const MostFailures = 20

// Follow reads a job again and again, and calls see with each state until it returns false.
func Follow(ctx context.Context, c *client.Client, j Job, now func() time.Time, see func(Job) (more bool, err error)) error {
	var pauses Pauses
	failures := 0
	for {
		more, err := see(j)
		if err != nil || !more {
			return err
		}
		for {
			if err := pauses.Wait(ctx); err != nil {
				return err
			}
			next, err := byID(ctx, c, j.Slurm.ID, now())
			if err == nil {
				j, failures = next, 0
				break
			}
			if failures++; ctx.Err() != nil || failures > MostFailures || !Temporary(err) {
				return err
			}
		}
	}
}

// Temporary reports an error that may pass.
func Temporary(err error) bool { return client.Is(err, client.Down) || client.Is(err, client.TimedOut) }
