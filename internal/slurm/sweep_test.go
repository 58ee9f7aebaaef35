package slurm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TestSweepComment: a comment is a plain word for sbatch, and has all values again.
func TestSweepComment(t *testing.T) {
	want := Sweep{Name: "tune", Sum: "ab12", Point: sweep.Point{{Name: "lr", Value: "1e-4"}, {Name: "opt", Value: "adam w~&=%\n\"'$x é"}}}
	comment := want.Comment()
	if !Plain(comment) {
		t.Errorf("%q is not plain", comment)
	}
	got, ok := SweepOf(comment)
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(ok, diff)
	}
	job, _ := Job{Comment: comment}.Values()
	if job.Labels[kinds.SweepLabel] != "tune" || job.Labels[kinds.SweepParameterPrefix+"lr"] != "1e-4" {
		t.Errorf("%v", job.Labels)
	}
}

// TestOtherComments: comments of users name no sweep.
func TestOtherComments(t *testing.T) {
	for _, comment := range []string{"", "lr=1&opt=2", "cli.hyperpod/sweep=", "cli.hyperpod/sweep=a&x=%zz", "see cli.hyperpod/sweep=a"} {
		if s, ok := SweepOf(comment); ok {
			t.Errorf("%q is of sweep %+v", comment, s)
		}
	}
}
