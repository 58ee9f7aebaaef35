package jobtext

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

func TestMismatch(t *testing.T) {
	pods := [2]string{"a", "b"}
	for want, m := range map[string]kinds.GroupMismatch{
		"pods a and b have different sizes of the group (kueue.x-k8s.io/pod-group-total-count): 2 and 3": {Pods: pods, Values: [2]string{"2", "3"}},
		"pods a and b have different queues: x and y":                                                    {Pods: pods, Queues: true, Values: [2]string{"x", "y"}},
		"pods a and b have different queues: none and y":                                                 {Pods: pods, Queues: true, Values: [2]string{"", "y"}},
	} {
		if got := Mismatch(&m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A time that is not known is left out.
func TestLasting(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		state jobs.State
		since time.Time
		want  string
	}{
		{jobs.Running, now.Add(-2 * time.Hour), "x has been running for 2h"},
		{jobs.Running, time.Time{}, "x is running"},
		{jobs.Failed, now.Add(-time.Minute), "x failed 1m ago"},
		{jobs.Succeeded, time.Time{}, "x succeeded"},
	} {
		if got := Lasting("x", c.state, c.since, now, words.Age); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
