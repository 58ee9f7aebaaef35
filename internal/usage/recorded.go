package usage

import (
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Deleted is the state of a job that only a recorder knows, and whose end it did not see.
const Deleted = "Deleted"

// WithRecorded completes jobs with what a recorder wrote: up to its last sample the samples
// count, and what the cluster knows after that. It adds recorded jobs that the cluster no longer
// has, if wanted chooses them.
func WithRecorded(list []Job, d *history.Data, wanted func(history.Job) bool) []Job {
	tracks := map[string]*history.Track{}
	for _, t := range d.Jobs {
		tracks[t.UID] = t
	}
	out := make([]Job, 0, len(list))
	for _, j := range list {
		if t := tracks[j.UID]; t != nil && len(t.Changes) > 0 {
			delete(tracks, j.UID)
			then := recorded(t, d)
			after := Span{From: d.Until}
			j.Held = append(then.Held, cut(j.Held, after)...)
			j.Waited = append(then.Waited, cut(j.Waited, after)...)
			for _, l := range j.Loans {
				if rest := cut([]Span{l.Span}, after); len(rest) > 0 {
					then.Loans = append(then.Loans, Loan{rest[0], l.Devices})
				}
			}
			j.Loans, j.Incomplete = then.Loans, false
		}
		out = append(out, j)
	}
	for _, t := range d.Jobs {
		if tracks[t.UID] != nil && len(t.Changes) > 0 && wanted(t.Job) {
			out = append(out, recorded(t, d))
		}
	}
	return out
}

// cut returns the parts of spans from a time on.
func cut(list []Span, after Span) (out []Span) {
	for _, s := range list {
		if s.From.Before(after.From) {
			s.From = after.From
		}
		if s.To.After(s.From) {
			out = append(out, s)
		}
	}
	return out
}

// recorded returns a job as the samples have it.
func recorded(t *history.Track, d *history.Data) Job {
	j := Job{UID: t.UID, Namespace: t.Namespace, Name: t.Name, Kind: t.Kind, Team: t.Team, Owner: t.Owner, State: Deleted, Devices: accelerators(t.Devices)}
	for i, c := range t.Changes {
		span := Span{c.Time, d.Until}
		if i+1 < len(t.Changes) {
			span.To = t.Changes[i+1].Time
		}
		switch {
		case c.Phase == history.Succeeded:
			j.State = string(jobs.Succeeded)
		case c.Phase == history.Failed:
			j.State = string(jobs.Failed)
		case !span.To.After(span.From):
		case c.Phase.Waits():
			j.Waited = append(j.Waited, span)
		case c.Phase == history.Holding:
			j.Held = append(j.Held, span)
			if devices := accelerators(c.Borrowed); len(devices) > 0 {
				j.Loans = append(j.Loans, Loan{span, devices})
			}
		}
	}
	return j
}

// accelerators leaves out other resources, which samples have too.
func accelerators(amounts map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for name, n := range amounts {
		if kinds.Accelerator(name) {
			out[name] = n
		}
	}
	return out
}
