package jobs

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// RunTimes returns how long a job has run and how long it waited before, or how long it has been waiting. The runs before a
// job was queued again do not count. A duration is nil if it is not recorded or does not apply to the state.
func RunTimes(j state.Job, s Status, now time.Time) (ran, waited *time.Duration) {
	span := func(from, to time.Time) *time.Duration {
		if from.IsZero() || to.Before(from) {
			return nil
		}
		d := to.Sub(from)
		return &d
	}
	switch s.State {
	case Pending, Preempted:
		return nil, span(s.Since, now)
	case Suspended:
		return nil, nil
	}
	start, end := time.Time{}, now
	if j.Start != nil {
		start = *j.Start
	}
	if s.State.Finished() {
		end = s.Since
		if j.Completion != nil {
			end = *j.Completion
		}
	} else if start.IsZero() {
		start = s.Since
	}
	queued := j.CreationTimestamp
	if s.Evicted {
		queued = s.Requeued
	}
	return span(start, end), span(queued, start)
}

// Devices returns the accelerators that all pods of a job request, by resource.
func Devices(j state.Job) map[string]int64 {
	out := map[string]int64{}
	for _, r := range j.Roles {
		for name, n := range r.Requests {
			if kinds.Accelerator(name) && n > 0 && r.Replicas > 0 {
				out[name] += n * r.Replicas
			}
		}
	}
	return out
}
