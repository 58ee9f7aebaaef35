package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// A maintenance window: the nodes are gone for a time, then they are back. Two (2 GPUs) and
// low (4) run in a, four (4) in b, and each of two nodes has 8 GPUs.
func TestWindow(t *testing.T) {
	states := func(w *simulate.Window) string {
		var out []string
		state := func(s *simulate.JobState) string {
			if s == nil {
				return "-"
			}
			return s.State
		}
		for _, j := range w.Jobs {
			out = append(out, fmt.Sprintf("%s: %s > %s", j.Name, state(j.Before), state(j.After)))
		}
		return strings.Join(out, "; ")
	}
	for _, c := range []struct {
		name        string
		pods        []string
		changes     []simulate.Change
		after       time.Duration
		stopped     string
		ended, jobs string
	}{
		{"a job without nodes makes no progress, and starts again", []string{"n0 a/two 2", "n1 b/four 4", "n0 x/other 4"},
			[]simulate.Change{change(t, simulate.RemoveJob, "low"), change(t, simulate.RemoveNodes, "n1")}, 6 * time.Hour,
			"[b/four]", "[a/two]", "four: Finished > Admitted"},
		{"a short window changes nothing at its end", []string{"n0 a/two 2", "n1 b/four 4", "n0 x/other 4"},
			[]simulate.Change{change(t, simulate.RemoveJob, "low"), change(t, simulate.RemoveNodes, "n1")}, time.Minute,
			"[b/four]", "[]", ""},
		{"other nodes take the pods", []string{"n0 a/two 2", "n1 b/four 4"},
			[]simulate.Change{change(t, simulate.RemoveJob, "low"), change(t, simulate.RemoveNodes, "n1")}, 6 * time.Hour,
			"[]", "[a/two b/four]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := simulate.Run(context.Background(), withNodes(world(t, "lend-three.yaml"), 2, c.pods...), c.changes,
				simulate.Options{Ahead: &simulate.Ahead{For: c.after, Assume: 5 * time.Hour}})
			if err != nil {
				t.Fatal(err)
			}
			w := r.Window
			if w == nil || !w.Start.Equal(noon) || !w.End.Equal(noon.Add(c.after)) {
				t.Fatalf("%+v", w)
			}
			if got := fmt.Sprint(w.Stopped); got != c.stopped {
				t.Errorf("stopped %s, want %s", got, c.stopped)
			}
			if got := fmt.Sprint(w.Ended); got != c.ended {
				t.Errorf("ended %s, want %s", got, c.ended)
			}
			if got := states(w); got != c.jobs {
				t.Errorf("at the end %s, want %s", got, c.jobs)
			}
		})
	}
}
