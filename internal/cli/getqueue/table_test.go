package getqueue

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestWidths: no line passes the edge, and at 80 columns a reason is whole, down to
// that the task was preempted.
func TestWidths(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	item := func(team, job string, preempted bool) queue.Item {
		return queue.Item{Job: job, Team: team, ClusterQueue: team, Position: 1, Priority: 40, PriorityClass: "training-priority", Size: state.Amounts{"nvidia.com/gpu": 32},
			Since: now.Add(-97 * time.Minute), Preempted: preempted, Reason: queue.Reason{Code: queue.WaitingForQuota, Words: "4 more gpu needed"}}
	}
	estimated := item("inference", "batch-score", true)
	estimated.ETA = &queue.ETA{EarliestSeconds: seconds(86 * 60)}
	v := view{io: &output.IO{}, state: &state.State{Taken: now}, report: &quota.Report{}, teams: []quota.Team{{Name: "inference"}, {Name: "researchers"}}, order: queue.Computed,
		items: []queue.Item{item("inference", "batch-score", true), item("researchers", "画像認識", false)}}
	for _, width := range []int{60, 80, 120, 200} {
		for _, utf8 := range []bool{true, false} {
			io, b := output.Test()
			io.OutTTY, io.Width, io.UTF8 = true, width, utf8
			if err := io.PrintTable(v.table(false, false)); err != nil {
				t.Fatal(err)
			}
			out := b.Out.String()
			for line := range strings.Lines(out) {
				if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > width {
					t.Errorf("at %d columns: %d wide: %s", width, w, line)
				}
			}
			if width >= 80 && !strings.Contains(out, "4 more gpu needed (preempted)\n") || !strings.Contains(out, "画像認識") {
				t.Errorf("at %d columns:\n%s", width, out)
			}
			if strings.Contains(out, "training (40)") != (width > 80) {
				t.Errorf("the priority at %d columns:\n%s", width, out)
			}
		}
	}
	// Estimates that were asked for stay, beside reasons of which no word is lost.
	v.eta, v.items = true, []queue.Item{estimated}
	io, b := output.Test()
	io.OutTTY, io.Width = true, 80
	if err := io.PrintTable(v.table(false, false)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ETA\n", "1h26m or later\n", "4 more", "needed", "(preempted)", "hidden columns: PRIORITY (see -o wide)\n"} {
		if !strings.Contains(b.Out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.Out)
		}
	}
	for line := range strings.Lines(b.Out.String()) {
		if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > 80 {
			t.Errorf("%d wide: %s", w, line)
		}
	}
}

// TestManyPending: a terminal shows the jobs that are next in their queues, those that have waited longest, and how to see all. A
// pipe, -o wide and --watch have all.
func TestManyPending(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	v := view{io: &output.IO{OutTTY: true}, state: &state.State{Taken: now}, report: &quota.Report{}}
	for i := range 100 { // 50 queues of two jobs; the later a queue, the longer its jobs wait
		v.items = append(v.items, queue.Item{Job: fmt.Sprintf("job-%02d", i), Team: fmt.Sprintf("team-%02d", i/2), Position: 1 + i%2, Since: now.Add(-time.Duration(i) * time.Minute)})
	}
	v.items[98].Position = 0       // not in the order
	v.items[0].Since = time.Time{} // unknown
	v.teams = []quota.Team{{Name: "team-00"}, {Name: "team-01"}}
	short := v.table(false, false)
	if n := len(short.Rows); n != output.MostRows || short.Rows[0][2].Text != "job-18" || short.Rows[n-1][2].Text != "job-96" || len(short.Keys) != n {
		t.Errorf("%d rows, %v to %v", n, short.Rows[0], short.Rows[n-1])
	}
	if last, want := short.Notes[len(short.Notes)-1], "the 40 jobs with the lowest POS and the longest WAITING have rows (-o wide: all 100)"; last != want {
		t.Errorf("%q, want %q", last, want)
	}
	wide, live := v.table(true, false), v.table(false, true)
	v.io = &output.IO{}
	pipe := v.table(false, false)
	for name, table := range map[string]output.Table{"wide": wide, "live": live, "pipe": pipe} {
		if len(table.Rows) != 100 || strings.Contains(strings.Join(table.Notes, "\n"), "have rows") {
			t.Errorf("%s: %d rows, notes %q", name, len(table.Rows), table.Notes)
		}
	}
}

func seconds(n int64) *int64 { return &n }

// A job without a priority has "-", as in list-jobs; one with a value and no class keeps the value.
func TestPriority(t *testing.T) {
	for want, it := range map[string]queue.Item{"-": {}, "7": {Priority: 7}, "none (0)": {PriorityClass: "none"}, "training (40)": {PriorityClass: "training-priority", Priority: 40}} {
		if got := priority(&it); got != want {
			t.Errorf("%+v: %s, want %s", it, got, want)
		}
	}
}
