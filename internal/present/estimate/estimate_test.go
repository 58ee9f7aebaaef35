package estimate

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

func TestFill(t *testing.T) {
	for want, e := range map[string]queue.ETA{
		"no known end for a/x":                                      {Reason: string(forecast.NoDuration), Jobs: []string{"a/x"}, JobsTotal: 1},
		"no known end for a/x and 1 other job":                      {Reason: string(forecast.NoDuration), Jobs: []string{"a/x", "a/y"}, JobsTotal: 2},
		"a/x and 2 other jobs have run longer than assumed":         {Reason: string(forecast.Overdue), Jobs: []string{"a/x"}, JobsTotal: 3},
		"the preemption policies never converge":                    {Reason: string(forecast.Unsettled)},
		"later than the horizon of the estimate (30 days)":          {Reason: string(forecast.BeyondHorizon), Horizon: 30 * 24 * time.Hour},
		"not even after every running job ends":                     {Reason: string(forecast.BeyondHorizon)},
		"Kueue's text":                                              {Reason: string(forecast.NeverFits), Message: "Kueue's text"},
		"then its admission checks must pass":                       {Checks: true},
		"no known end for a/x; then its admission checks must pass": {Reason: string(forecast.NoDuration), Jobs: []string{"a/x"}, JobsTotal: 1, Checks: true},
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
		"1 job's deadline":                   Basis(string(forecast.ActiveDeadline), 1),
		"2 jobs' usual run time in the team": Basis(string(forecast.TeamHistory), 2),
		"1 job past the assumed run time":    Basis(string(forecast.PastAssumed), 1),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
