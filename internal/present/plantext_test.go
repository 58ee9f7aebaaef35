package present_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/present/plantext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// shown is the number of lines of one kind in a plan.
const shown = 12

// TestManyChanges: a plan with many changes shows what it takes away first, and counts the rest by what it does.
func TestManyChanges(t *testing.T) {
	p := &plan.Plan{Target: plan.Kueue, Changes: true}
	for i := range 1000 {
		p.Actions = append(p.Actions, policy.Change{Action: policy.Create, Team: fmt.Sprintf("t%04d", i)})
	}
	p.Actions = append(p.Actions,
		policy.Change{Action: policy.Update, Team: "vision", Field: "borrowLimit", From: 0.0, To: 100.0},
		policy.Change{Action: policy.Update, Team: "speech", Field: "kueue.spec.resourceGroups[0].flavors", From: []any{}, To: []any{}},
		policy.Change{Action: policy.Update, Team: "audio", Field: "kueue.spec.resourceGroups[0].flavors[g5].resources[nvidia.com/gpu].nominalQuota", From: "1k", To: "16"},
		policy.Change{Action: policy.Update, Team: "interns", Field: "quota[ml.g5.8xlarge].count", From: 4.0, To: 2.0},
		policy.Change{Action: policy.Delete, Team: "gone"})
	for i := range 20 {
		p.Actions = append(p.Actions, policy.Change{Action: policy.Update, Team: fmt.Sprintf("less%02d", i), Field: "quota[ml.g5.8xlarge].count", From: 4.0, To: 2.0})
	}
	p.Operations = []policy.Operation{{Action: policy.Update, Kind: "ClusterQueue", Name: "hyperpod-ns-speech-clusterqueue", Lowers: true}}
	got := plantext.Changes(p)
	if len(got) != shown+1 || !strings.HasPrefix(got[0], "- gone") || !strings.HasPrefix(got[1], "~ speech") || !strings.HasPrefix(got[2], "~ audio") || !strings.HasPrefix(got[3], "~ interns") {
		t.Errorf("not the losses first:\n%s", strings.Join(got, "\n"))
	}
	if want := "and 1013 more: 12 reductions, 1000 new teams, 1 other change (-o json)"; got[len(got)-1] != want {
		t.Errorf("got %q, want %q", got[len(got)-1], want)
	}
	p.Actions = p.Actions[990:1004]
	if got := plantext.Changes(p); len(got) != 14 || !strings.HasPrefix(got[0], "+ t0990") {
		t.Errorf("a short plan changed its order:\n%s", strings.Join(got, "\n"))
	}
}

// TestManyRows: the figures of many teams are cut, and the teams that lose quota or jobs come first.
func TestManyRows(t *testing.T) {
	c := &plan.Consequences{}
	state := func(gpus quota.Base, running int) *simulate.TeamState {
		return &simulate.TeamState{Nominal: []simulate.Amount{{Flavor: "g5", Resource: "nvidia.com/gpu", Amount: gpus}}, Counts: simulate.Counts{Admitted: running}}
	}
	for i := range 100 {
		c.Teams = append(c.Teams, simulate.Team{Team: fmt.Sprintf("t%03d", i), After: state(1, 0)})
	}
	c.Teams = append(c.Teams, simulate.Team{Team: "up", Before: state(1, 1), After: state(2, 1)}, simulate.Team{Team: "stops", Before: state(1, 2), After: state(1, 1)},
		simulate.Team{Team: "down", Before: state(4, 1), After: state(2, 1)}, simulate.Team{Team: "gone", Before: state(1, 1)})
	all, more := plantext.Rows(c, 0)
	if len(all) != 104 || more != 0 || all[0].Team != "t000" {
		t.Errorf("all: %d rows, %d more, first %s", len(all), more, all[0].Team)
	}
	rows, more := plantext.Rows(c, 40)
	var first []string
	for _, r := range rows[:4] {
		first = append(first, r.Team)
	}
	if len(rows) != 40 || more != 64 || !slices.Equal(first, []string{"stops", "down", "gone", "t000"}) {
		t.Errorf("%d rows, %d more, first %q", len(rows), more, first)
	}
}

// TestSpilledRows: of many teams, those whose free and borrowable quota alone moves are left out; the same in a wide table.
func TestSpilledRows(t *testing.T) {
	c := &plan.Consequences{}
	state := func(nominal, free quota.Base) *simulate.TeamState {
		amount := func(n quota.Base) []simulate.Amount {
			return []simulate.Amount{{Flavor: "g5", Resource: "nvidia.com/gpu", Amount: n}}
		}
		return &simulate.TeamState{Nominal: amount(nominal), Free: amount(free)}
	}
	add := func(n int) {
		for range n {
			c.Teams = append(c.Teams, simulate.Team{Team: fmt.Sprintf("t%03d", len(c.Teams)), Before: state(8, 8), After: state(8, 7)})
		}
	}
	add(12)
	if rows, more := plantext.Rows(c, 40); len(rows) != 12 || more != 0 {
		t.Errorf("few teams: %d rows, %d more", len(rows), more)
	}
	add(88)
	if rows, more := plantext.Rows(c, 40); len(rows) != 40 || more != 60 {
		t.Errorf("where nothing else changes: %d rows, %d more", len(rows), more)
	}
	c.Teams[50].After = state(16, 16)
	if rows, more := plantext.Rows(c, 40); len(rows) != 1 || more != 99 || rows[0].Team != "t050" {
		t.Errorf("%d rows, %d more", len(rows), more)
	}
	if rows, more := plantext.Rows(c, 0); len(rows) != 100 || more != 0 {
		t.Errorf("wide: %d rows, %d more", len(rows), more)
	}
}

// TestManyPreempted: what happens to many jobs is counted, each kind on its own.
func TestManyPreempted(t *testing.T) {
	c := &plan.Consequences{Settled: true}
	for i := range 50 {
		c.Preempted = append(c.Preempted, simulate.Preemption{Namespace: "ns", Name: fmt.Sprintf("p%02d", i)})
		c.Evicted = append(c.Evicted, simulate.Eviction{Namespace: "ns", Name: fmt.Sprintf("e%02d", i)})
		c.Started = append(c.Started, simulate.Job{Namespace: "ns", Name: fmt.Sprintf("s%02d", i)})
		c.Unknown = append(c.Unknown, simulate.Job{Namespace: "ns", Name: fmt.Sprintf("u%02d", i), After: &simulate.JobState{State: simulate.Unknown, Reason: simulate.NotReadable}})
	}
	c.Unknown = append(c.Unknown, simulate.Job{Namespace: "ns", Name: "m", After: &simulate.JobState{State: simulate.Unknown, Reason: string(simulate.NotModelled), NotModelled: []string{"MultiKueue"}}})
	got := plantext.Effects(c)
	for _, want := range []string{"and 38 more are preempted (-o json)", "and 38 more are evicted (-o json)", "and 38 more start (-o json)",
		"unknown for 50 jobs (depend on what you have no permission to read): ns/u00, ns/u01, ns/u02, ns/u03, ns/u04, ns/u05, ns/u06, ns/u07 and 42 more",
		"unknown for 1 job (depends on MultiKueue): ns/m"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestUnknownJobs: jobs whose state is unknown may run or wait, and nobody knows whether they preempt others.
func TestUnknownJobs(t *testing.T) {
	job := simulate.Job{Namespace: "ns", Name: "j", After: &simulate.JobState{State: simulate.Unknown, Reason: simulate.NotReadable}}
	c := &plan.Consequences{Settled: true, Unknown: []simulate.Job{job},
		Teams: []simulate.Team{{Team: "a", Before: &simulate.TeamState{Counts: simulate.Counts{Admitted: 1, Waiting: 1}}, After: &simulate.TeamState{Counts: simulate.Counts{Admitted: 1, Unknown: 1}}}}}
	if got := plantext.Effects(c); slices.Contains(got, "nothing is preempted") {
		t.Errorf("%q", got)
	}
	rows, _ := plantext.Rows(c, 0)
	if cells := rows[0].Cells[len(plantext.Figures)-2:]; !slices.Equal(cells, []string{"1 -> 1-2", "1 -> 0-1"}) {
		t.Errorf("%q", cells)
	}
}

// TestManyRemarks: the namespaces that a plan deletes are counted before they are cut, and errors come before warnings.
func TestManyRemarks(t *testing.T) {
	p := &plan.Plan{}
	for i := range 100 {
		p.Removed = append(p.Removed, plan.Removed{Team: fmt.Sprintf("t%02d", i), Namespace: fmt.Sprintf("n%02d", i)})
		p.Findings = append(p.Findings, policy.Finding{Code: "W050", Level: policy.LevelWarning})
	}
	p.Findings = append(p.Findings, policy.Finding{Code: "E031", Level: policy.LevelError})
	got := plantext.Remarks(p)
	if got[0] != "DELETES 100 teams and their namespaces with everything in them" || len(got) > 2*shown+3 {
		t.Errorf("%d lines, first %q", len(got), got[0])
	}
	if i := slices.IndexFunc(got, func(l string) bool { return strings.HasPrefix(l, "E031") }); i < 0 || !strings.HasPrefix(got[i+1], "W050") {
		t.Errorf("not the errors first:\n%s", strings.Join(got, "\n"))
	}
}
