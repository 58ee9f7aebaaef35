package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestLasted(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) *time.Time { out := noon.Add(time.Duration(minutes) * time.Minute); return &out }
	text := func(d *time.Duration) string {
		if d == nil {
			return "-"
		}
		return d.String()
	}
	for _, c := range []struct {
		name              string
		state             jobs.State
		since             *time.Time
		start, completion *time.Time
		want              string
		requeued          *time.Time
	}{
		{"a pending job waits", jobs.Pending, at(-50), nil, nil, "- 50m0s", nil},
		{"a preempted job waits since it was preempted", jobs.Preempted, at(-5), at(-50), nil, "- 5m0s", nil},
		{"a suspended job does neither", jobs.Suspended, at(-5), nil, nil, "- -", nil},
		{"a running job has waited before", jobs.Running, at(-30), at(-40), nil, "40m0s 20m0s", nil},
		{"a kind without start time runs since its state", jobs.Running, at(-30), nil, nil, "30m0s 30m0s", nil},
		{"a finished job ran until its completion", jobs.Succeeded, at(-1), at(-40), at(-10), "30m0s 20m0s", nil},
		{"a finished job without start time", jobs.Failed, at(-1), nil, nil, "- -", nil},
		{"a job that runs again has waited since it was queued again", jobs.Running, at(-30), at(-20), nil, "20m0s 5m0s", at(-25)},
		{"a job that is queued again after its start", jobs.Running, at(-30), at(-20), nil, "20m0s -", at(-10)},
		{"a job that runs again, queued at an unknown time", jobs.Running, at(-30), at(-20), nil, "20m0s -", new(time.Time)},
		{"clocks that differ", jobs.Running, at(-30), at(5), nil, "- 1h5m0s", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := state.Job{Meta: state.Meta{CreationTimestamp: *at(-60)}, Start: c.start, Completion: c.completion}
			status := jobs.Status{State: c.state, Since: *c.since}
			if c.requeued != nil {
				status.Evicted, status.Requeued = true, *c.requeued
			}
			ran, waited := jobs.RunTimes(j, status, noon)
			if got := text(ran) + " " + text(waited); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDevices(t *testing.T) {
	j := state.Job{Roles: []state.RoleCount{{Name: "launcher", Replicas: 1}, {Name: "worker", Replicas: 3, Requests: map[string]int64{"nvidia.com/gpu": 8}}, {Name: "none", Replicas: 0, Requests: map[string]int64{"nvidia.com/gpu": 8}}}}
	if got := fmt.Sprint(jobs.Devices(j)); got != "map[nvidia.com/gpu:24]" {
		t.Error(got)
	}
}
