package estimate

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

func TestFill(t *testing.T) {
	for want, e := range map[string]queue.ETA{
		"no known end for a/x":                                      {Reason: string(queue.NoDuration), Jobs: []string{"a/x"}, JobsTotal: 1},
		"no known end for a/x and 1 other job":                      {Reason: string(queue.NoDuration), Jobs: []string{"a/x", "a/y"}, JobsTotal: 2},
		"a/x and 2 other jobs have run longer than assumed":         {Reason: string(queue.Overdue), Jobs: []string{"a/x"}, JobsTotal: 3},
		"the preemption policies never converge":                    {Reason: string(queue.Unsettled)},
		"later than the horizon of the estimate (30 days)":          {Reason: string(queue.BeyondHorizon), Horizon: 30 * 24 * time.Hour},
		"not even after every running job ends":                     {Reason: string(queue.BeyondHorizon)},
		"Kueue's text":                                              {Reason: string(queue.NeverFits), Message: "Kueue's text"},
		"then its admission checks must pass":                       {Checks: true},
		"no known end for a/x; then its admission checks must pass": {Reason: string(queue.NoDuration), Jobs: []string{"a/x"}, JobsTotal: 1, Checks: true},
		"": {},
	} {
		Fill(&e)
		if e.Message != want {
			t.Errorf("got %q, want %q", e.Message, want)
		}
	}
	Fill(nil)
}

func TestBasis(t *testing.T) {
	for want, got := range map[string]string{
		"1 job's deadline":                                                 Basis(string(queue.ActiveDeadline), 1),
		"2 jobs' usual run time in the team":                               Basis(string(queue.TeamHistory), 2),
		"1 job past the assumed run time":                                  Basis(string(queue.PastAssumed), 1),
		"1 job that its operator has not ended after its deadline":         Basis(string(queue.PastDeadline), 1),
		"2 jobs that their operators have not ended after their deadlines": Basis(string(queue.PastDeadline), 2),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
