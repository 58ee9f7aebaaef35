package listjobs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestManyJobs: a terminal shows the first jobs and counts the others by their state. A pipe and -o wide have all.
func TestManyJobs(t *testing.T) {
	var rows []row
	for i := range 100 {
		r := row{job: state.Job{}, status: jobs.Status{State: jobs.Running}}
		r.job.Name = fmt.Sprintf("job-%02d", i)
		if i%3 == 0 {
			r.status.State = jobs.Pending
		}
		rows = append(rows, r)
	}
	o := &Options{Factory: &factory.Factory{IO: &output.IO{OutTTY: true}}}
	table, wide := output.Format{Name: output.TableFormat}, output.Format{Name: output.Wide}
	shown, hidden := o.few(rows, table)
	if len(shown) != output.MostRows || shown[39].job.Name != "job-39" || !slices.Equal(hidden, []string{"hidden jobs: 20 Pending, 40 Running (see -o wide, --state)"}) {
		t.Errorf("%d rows, %q", len(shown), hidden)
	}
	if shown, hidden := o.few(rows, wide); len(shown) != 100 || hidden != nil {
		t.Errorf("wide: %d rows, %q", len(shown), hidden)
	}
	if shown, hidden := o.few(rows[:output.MostRows+1], table); len(shown) != output.MostRows+1 || hidden != nil {
		t.Errorf("one more than the limit: %d rows, %q", len(shown), hidden)
	}
	o.Factory.IO.OutTTY = false
	if shown, hidden := o.few(rows, table); len(shown) != 100 || hidden != nil {
		t.Errorf("pipe: %d rows, %q", len(shown), hidden)
	}
}

// TestWaitUnknown: the wait of a running job is ? where Kueue keeps no time for it.
func TestWaitUnknown(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status jobs.Status
		want   string
	}{
		{jobs.Status{State: jobs.Running, Evicted: true, Since: now.Add(-time.Hour)}, "?"},
		{jobs.Status{State: jobs.Running, Evicted: true, Since: now.Add(-time.Hour), Requeued: now.Add(-3 * time.Hour)}, "2h"},
		{jobs.Status{State: jobs.Suspended, Evicted: true}, "-"},
	} {
		if got := cells(row{status: c.status}, now, false)[5].Text; got != c.want {
			t.Errorf("%+v: %s, want %s", c.status, got, c.want)
		}
	}
}
