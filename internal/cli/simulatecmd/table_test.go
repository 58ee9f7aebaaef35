package simulatecmd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// What Kueue says at length.
const (
	short1 = "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor ml.p5.48xlarge, 24 more needed"
	never1 = "couldn't assign flavors to pod set worker: insufficient quota for nvidia.com/gpu in flavor ml.p5.48xlarge, previously considered podsets requests (0) + current podset request (96) > maximum capacity (64)"
	other1 = "the workload is gated by example.com/waits-for-data-set"
)

func gpus(n quota.Base) []simulate.Amount {
	return []simulate.Amount{{Flavor: "ml.p5.48xlarge", Resource: "nvidia.com/gpu", Amount: n}}
}

// before is a report of the change of a world in which much happens at once.
func before() *simulate.Report {
	team := func(used, borrowed quota.Base, waiting, preempted, never int) *simulate.TeamState {
		return &simulate.TeamState{Nominal: gpus(32), Used: gpus(used), Borrowed: gpus(borrowed), Counts: simulate.Counts{Waiting: waiting, Preempted: preempted, Never: never}}
	}
	set := []simulate.PodSet{{Name: "worker", Pods: 4, Flavors: map[string]string{"nvidia.com/gpu": "ml.p5.48xlarge"}}}
	return &simulate.Report{
		KueueRules: "v0.19.2", Settled: true, CyclesRun: 7,
		Teams: []simulate.Team{
			{Team: "researchers", ClusterQueue: "researchers", Before: team(40, 8, 2, 0, 0), After: team(32, 0, 12, 3, 1)},
			{Team: "interns", ClusterQueue: "interns", Before: team(8, 0, 0, 0, 0)},
		},
		Jobs: []simulate.Job{
			{Namespace: "researchers", Name: "vit-huge-pretraining", Before: &simulate.JobState{State: simulate.Admitted, Holds: gpus(32), Borrowed: gpus(8)},
				After: &simulate.JobState{State: simulate.Preempted, By: "hyperpod-ns-ml-engineers/llama-3-70b-fine-tuning-with-a-long-name"}},
			{Namespace: "researchers", Name: "dino-giant", Before: &simulate.JobState{State: simulate.Admitted, Holds: gpus(8)},
				After: &simulate.JobState{State: simulate.Waiting, Reason: "WaitingForQuota", Message: short1}},
			{Namespace: "researchers", Name: "too-large", After: &simulate.JobState{State: simulate.Never, Reason: "ExceedsMaxQuota", Message: never1}},
			{Namespace: "researchers", Name: "gated", After: &simulate.JobState{State: simulate.Waiting, Reason: "AdmissionGated", Message: other1}},
			{Namespace: "researchers", Name: "checked", After: &simulate.JobState{State: simulate.QuotaReserved, Holds: gpus(32), Borrowed: gpus(4), PodSets: set}},
		},
		Preempted: []simulate.Preemption{{Namespace: "researchers", Name: "vit-huge-pretraining", By: "hyperpod-ns-ml-engineers/llama", Reason: "InCohortReclamation"}},
	}
}

// single is a report of single cycles.
func single() *simulate.Report {
	r := before()
	set := []simulate.PodSet{
		{Name: "launcher", Pods: 1, Flavors: map[string]string{"cpu": "ml.m5.large"}},
		{Name: "worker", Pods: 4, Flavors: map[string]string{"cpu": "ml.p5.48xlarge", "nvidia.com/gpu": "ml.p5.48xlarge"},
			Topology: []simulate.Domain{{Levels: []string{"block-1", "rack-3"}, Pods: 3}, {Levels: []string{"block-1", "rack-4"}, Pods: 1}}},
	}
	pending := func(name, reason, message string) simulate.Unscheduled {
		return simulate.Unscheduled{Namespace: "hyperpod-ns-researchers", Name: name, Reason: reason, Message: message}
	}
	r.Settled, r.CyclesRun = false, 2
	r.Cycles = []simulate.Cycle{
		{Cycle: 1, Scheduled: []simulate.Scheduled{{Namespace: "hyperpod-ns-ml-engineers", Name: "llama", Admitted: true, Holds: gpus(32), Borrowed: gpus(4), PodSets: set}},
			Preempted: []simulate.Preemption{{Namespace: "hyperpod-ns-researchers", Name: "vit-huge", By: "hyperpod-ns-ml-engineers/llama", Reason: "InCohortReclaimWhileBorrowing"}},
			Pending:   []simulate.Unscheduled{pending("dino-giant", "WaitingForQuota", short1)}},
		{Cycle: 2},
		{Cycle: 3, Inadmissible: []simulate.Unscheduled{pending("too-large", "ExceedsMaxQuota", never1)}},
	}
	return r
}

// TestTables: no text is cut, whatever the width of the terminal.
func TestTables(t *testing.T) {
	for name, r := range map[string]*simulate.Report{"changes": before(), "cycles": single()} {
		in := lettersOf(table(r, false))
		for _, width := range []int{0, 80, 120, 200} { // 0: a pipe
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				s, b := output.Test()
				s.OutTTY, s.Width = width > 0, width
				if err := output.Print(s, output.Format{Name: output.TableFormat}, r, func() output.Table { return table(r, false) }, nil); err != nil {
					t.Fatal(err)
				}
				text := b.Out.String()
				golden.Check(t, fmt.Sprintf("testdata/%s-%d.golden", name, width), text)
				rows, _, _ := strings.Cut(text, "researchers/vit-huge-pretraining is preempted for") // the notes
				for line := range strings.Lines(rows) {
					if w := displaywidth.String(strings.TrimSuffix(line, "\n")); width > 0 && w > width {
						t.Errorf("%d columns: %s", w, line)
					}
				}
				if out := letters(rows); len(out) != len(in) { // wrapped lines are in another order
					t.Errorf("%d letters are shown of %d:\n%s", len(out), len(in), text)
				}
			})
		}
	}
}

// lettersOf are the letters of a table's titles and cells.
func lettersOf(t output.Table) string {
	var b strings.Builder
	for _, c := range t.Columns {
		b.WriteString(c.Title)
	}
	for _, row := range t.Rows {
		for _, c := range row {
			b.WriteString(c.Text)
		}
	}
	return letters(b.String())
}

// letters is a text without blanks.
func letters(s string) string { return strings.Join(strings.Fields(s), "") }

// A job that keeps quota which nobody lends any more looks different after a change.
func TestOvercommittedJob(t *testing.T) {
	before := simulate.JobState{State: simulate.Admitted, Holds: gpus(8)}
	after := before
	after.Overcommit = gpus(2)
	for want, s := range map[string]*simulate.JobState{"Admitted: 8 gpu, 0 borrowed": &before, "Admitted: 8 gpu, 0 borrowed, 2 overcommitted": &after} {
		if got := jobText(s, "nvidia.com/gpu"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestManyTeams: of many teams that change, the first have rows; -o wide has all.
func TestManyTeams(t *testing.T) {
	r := &simulate.Report{Settled: true}
	waiting := func(n int) *simulate.TeamState { return &simulate.TeamState{Counts: simulate.Counts{Waiting: n}} }
	for i := range 300 {
		r.Teams = append(r.Teams, simulate.Team{Team: fmt.Sprint("t", i), Before: waiting(1), After: waiting(2)})
	}
	short, wide := table(r, false), table(r, true)
	if len(short.Rows) != output.MostRows || !slices.Contains(short.Notes, "260 more teams change (see -o wide)") || len(wide.Rows) != 300 {
		t.Errorf("%d rows, wide %d, %q", len(short.Rows), len(wide.Rows), short.Notes)
	}
}

// TestManyJobs: a change of everything stays readable; -o wide and JSON have all of it.
func TestManyJobs(t *testing.T) {
	r := before()
	for i := range 1000 {
		r.Jobs = append(r.Jobs, simulate.Job{Namespace: "n", Name: fmt.Sprintf("job-%03d", i), Before: &simulate.JobState{State: simulate.Admitted}, After: &simulate.JobState{State: simulate.Waiting}})
		r.Problems = append(r.Problems, simulate.Problem{Change: simulate.Added, Problem: quota.Problem{Message: fmt.Sprintf("problem %d", i)}})
	}
	short, wide := table(r, false), table(r, true)
	notes := strings.Join(short.Notes, "\n")
	if len(short.Rows) != len(r.Teams)+output.MostRows || len(short.Notes) > 30 || !strings.Contains(notes, "965 more jobs change (see -o wide)") || !strings.Contains(notes, "PROBLEM: 988 more (-o json)") {
		t.Errorf("%d rows\n%s", len(short.Rows), notes)
	}
	if len(wide.Rows) != len(r.Teams)+len(r.Jobs) || strings.Contains(strings.Join(wide.Notes, "\n"), "more jobs change") {
		t.Errorf("-o wide: %d rows\n%s", len(wide.Rows), strings.Join(wide.Notes, "\n"))
	}
}
