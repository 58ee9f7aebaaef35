// Package present has the tests of its packages that word values of the admission check and the simulation: one program, because
// each one links Kueue.
package present_test

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/present/sweeptext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Two jobs are "both" or "neither", a negation of more is "none".
func TestAllJobs(t *testing.T) {
	for _, tt := range []struct {
		jobs    int
		verdict check.Outcome
		summary string
	}{
		{1, check.Unknown, "the job cannot be decided"},
		{2, check.Unknown, "neither job can be decided"},
		{3, check.Unknown, "none of the 3 jobs can be decided"},
		{2, check.Admitted, "both jobs run now"},
		{3, check.Admitted, "all 3 jobs run now"},
	} {
		verdicts := make([]*check.Verdict, tt.jobs)
		for i := range verdicts {
			verdicts[i] = &check.Verdict{Verdict: tt.verdict}
		}
		if d := sweeptext.New(sweeptext.Of{Sweep: "s"}, make([]sweep.Point, tt.jobs), verdicts, 0, 0, 0, words.Age); d.Summary != tt.summary {
			t.Errorf("%q, want %q", d.Summary, tt.summary)
		}
	}
}

// Jobs of a large sweep that were not checked count as undecided, also in the summary.
func TestUnchecked(t *testing.T) {
	verdicts := []*check.Verdict{{Verdict: check.Admitted}, {Verdict: check.Admitted}}
	for _, tt := range []struct {
		unchecked int
		verdict   check.Outcome
		summary   string
	}{
		{0, check.Admitted, "both jobs run now"},
		{1, check.Unknown, "2 of 3 jobs run now, 1 was not checked"},
		{9998, check.Unknown, "2 of 10000 jobs run now, 9998 were not checked"},
	} {
		d := sweeptext.New(sweeptext.Of{Sweep: "s"}, make([]sweep.Point, len(verdicts)), verdicts, 0, 0, tt.unchecked, words.Age)
		if d.Verdict != tt.verdict || d.Summary != tt.summary || d.Undecided != tt.unchecked {
			t.Errorf("%d: %s, %q, %d", tt.unchecked, d.Verdict, d.Summary, d.Undecided)
		}
	}
}
