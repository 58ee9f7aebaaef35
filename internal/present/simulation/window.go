package simulation

import (
	"fmt"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Window returns what a time without nodes does, in lines.
func Window(w *simulate.Window) []string {
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	out := []string{fmt.Sprintf("WINDOW of %s, from %s to %s", words.Age(w.End.Sub(w.Start)), at(w.Start), at(w.End))}
	if len(w.Stopped) == 0 {
		out = append(out, "  no job stops because of it")
	} else {
		out = append(out, fmt.Sprintf("  %s because of it: %s", words.Count(len(w.Stopped), "job does not run", "jobs do not run"), words.Some(w.Stopped, mostNames)))
	}
	out = append(out, fmt.Sprintf("  %s, %s", words.Count(len(w.Ended), "job ends in it", "jobs end in it"), words.Count(len(w.Started), "starts", "start")))
	if len(w.NoEnd) > 0 {
		out = append(out, fmt.Sprintf("  %s no known end (--assume-duration): %s", words.Count(len(w.NoEnd), "job has", "jobs have"), words.Some(w.NoEnd, mostNames)))
	}
	if len(w.Jobs) == 0 {
		return append(out, "  afterwards every job is in the same state as without the window")
	}
	const shown = 8
	for i, j := range w.Jobs {
		if i == shown {
			out = append(out, fmt.Sprintf("  and %d more (-o json)", len(w.Jobs)-shown))
			break
		}
		out = append(out, fmt.Sprintf("  afterwards %s/%s %s; without the window it %s", j.Namespace, j.Name, is(j.After), would(j.Before)))
	}
	return out
}

// is says how a job is at the end of a window.
func is(s *simulate.JobState) string {
	switch {
	case s == nil:
		return "is gone"
	case s.State == simulate.Finished:
		return "has ended"
	case s.State == simulate.Admitted, s.State == simulate.QuotaReserved:
		return "runs"
	case s.State == simulate.WaitsForNodes:
		return "waits for nodes"
	}
	return "waits"
}

// would says how a job would be without the window.
func would(s *simulate.JobState) string {
	return map[string]string{"is gone": "would be gone", "has ended": "would have ended", "runs": "would run", "waits for nodes": "would wait for nodes", "waits": "would wait"}[is(s)]
}
