package sweeptext

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Jobs of a large sweep that were not checked count as undecided, also in the summary.
func TestUnchecked(t *testing.T) {
	verdicts := []*check.Verdict{{Verdict: check.Admitted}, {Verdict: check.Admitted}}
	for _, tt := range []struct {
		unchecked int
		verdict   check.Outcome
		summary   string
	}{
		{0, check.Admitted, "all 2 jobs run now"},
		{1, check.Unknown, "2 of 3 jobs run now, 1 was not checked"},
		{9998, check.Unknown, "2 of 10000 jobs run now, 9998 were not checked"},
	} {
		d := New(Of{Sweep: "s"}, make([]sweep.Point, len(verdicts)), verdicts, 0, 0, tt.unchecked, words.Age)
		if d.Verdict != tt.verdict || d.Summary != tt.summary || d.Undecided != tt.unchecked {
			t.Errorf("%d: %s, %q, %d", tt.unchecked, d.Verdict, d.Summary, d.Undecided)
		}
	}
}
