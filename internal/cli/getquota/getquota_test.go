package getquota

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

const gpu = "nvidia.com/gpu"

// large is a cluster of teams that each have quota of a few resources and use
// some of it, in pools of ten.
func large(teams int, resources ...string) *state.State {
	s := &state.State{Taken: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	for i := range teams {
		name := fmt.Sprintf("hyperpod-ns-team-%d-clusterqueue", i)
		f := state.FlavorQuotas{Name: "f"}
		usage := map[string]string{}
		flavors := map[string]string{}
		for _, r := range resources {
			f.Resources = append(f.Resources, state.ResourceQuota{Name: r, Nominal: *resource.NewQuantity(16, resource.DecimalSI), BorrowingLimit: resource.NewQuantity(8, resource.DecimalSI)})
			usage[r], flavors[r] = fmt.Sprint(i%20), "f"
		}
		s.ClusterQueues = append(s.ClusterQueues, state.ClusterQueue{Meta: state.Meta{Name: name}, Cohort: fmt.Sprint("pool-", i/10),
			ResourceGroups: []state.ResourceGroup{{CoveredResources: resources, Flavors: []state.FlavorQuotas{f}}}})
		s.Workloads = append(s.Workloads, state.Workload{Meta: state.Meta{Name: fmt.Sprint("w", i)}, Active: true,
			Conditions: []state.Condition{{Type: quota.QuotaReserved, Status: "True"}, {Type: quota.Admitted, Status: "True"}},
			Admission:  &state.Admission{ClusterQueue: name, PodSets: []state.PodSetAssignment{{Name: "main", Count: 1, Flavors: flavors, Usage: usage}}}})
	}
	return s
}

func options(t testing.TB) (*Options, output.Buffers) {
	t.Helper()
	io, b := output.Test()
	return &Options{Factory: &factory.Factory{IO: io}, By: byTeam}, b
}

func tableOf(t testing.TB, o *Options, s *state.State, wide bool) output.Table {
	t.Helper()
	v, err := o.view(s)
	if err != nil {
		t.Fatal(err)
	}
	return v.Table(wide, false)
}

// BenchmarkRender2000 renders 2,000 rows. Budget: 20 ms.
func BenchmarkRender2000(b *testing.B) {
	o, buffers := options(b)
	o.AllResources = true
	s := large(500, gpu, "cpu", "memory", "vpc.amazonaws.com/efa")
	v, err := o.view(s)
	if err != nil {
		b.Fatal(err)
	}
	if rows := len(v.Table(true, false).Rows); rows < 2000 {
		b.Fatalf("%d rows", rows)
	}
	b.ReportAllocs()
	for b.Loop() {
		buffers.Out.Reset()
		if err := o.Factory.IO.PrintTable(v.Table(true, false)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuild200 works out the report of 200 queues and 5,000 workloads.
func BenchmarkBuild200(b *testing.B) {
	s := large(200, gpu, "cpu", "memory", "aws.amazon.com/neurondevice", "vpc.amazonaws.com/efa")
	for range 24 {
		s.Workloads = append(s.Workloads, s.Workloads[:200]...)
	}
	b.ReportAllocs()
	for b.Loop() {
		quota.Build(s)
	}
}

// TestManyTeams: with many teams, those with most use and pending requests have rows and the others one together; a team
// with a fault always has one, the total is that of all, and -o wide has all rows.
func TestManyTeams(t *testing.T) {
	s := large(300, gpu)
	s.ClusterQueues[20].StopPolicy = "Hold"
	o, _ := options(t)
	short, wide := tableOf(t, o, s, false), tableOf(t, o, s, true)
	if len(wide.Rows) != 301 {
		t.Errorf("-o wide: %d rows", len(wide.Rows))
	}
	if n := len(short.Rows); n != output.MostRows+2 {
		t.Fatalf("%d rows", n)
	}
	var names []string
	for _, r := range short.Rows {
		names = append(names, r[0].Text)
	}
	if names[output.MostRows] != "260 more" || names[output.MostRows+1] != "total" || !slices.Contains(names, "team-20 (stopped)") || !slices.Contains(names, "team-19") || slices.Contains(names, "team-21") {
		t.Errorf("%q", names)
	}
	column := slices.IndexFunc(short.Columns, func(c output.Column) bool { return c.Title == "NOMINAL" })
	if rest, total := short.Rows[output.MostRows][column].Text, short.Rows[output.MostRows+1][column].Text; rest != "4160" || total != "4800" {
		t.Errorf("NOMINAL %s, total %s", rest, total)
	}
	if !slices.Contains(short.Notes, "the 40 teams with most PENDING and RESERVED have rows (-o wide: all teams)") || slices.Contains(wide.Notes, short.Notes[len(short.Notes)-1]) {
		t.Errorf("%q", short.Notes)
	}
	if rows := len(tableOf(t, o, large(output.MostRows+1, gpu), false).Rows); rows != output.MostRows+2 {
		t.Errorf("one team more than the most: %d rows", rows)
	}
	for _, n := range []int{output.MostRows + 1, output.MostRows + 2, output.MostRows + 3} {
		table := tableOf(t, o, large(n, gpu), false)
		if folded := n > output.MostRows+1; slices.Contains(table.Notes, "the 40 teams with most PENDING and RESERVED have rows (-o wide: all teams)") != folded {
			t.Errorf("%d teams: %q", n, table.Notes)
		}
	}
}

// TestOneTeamOfACohort: a team keeps its row where a row for it together with others of its cohort hides only its name.
func TestOneTeamOfACohort(t *testing.T) {
	o, _ := options(t)
	o.Tree = true
	s := large(51, gpu)
	s.Workloads = s.Workloads[:50] // team-50, the only one of pool-5, uses nothing
	var names []string
	for _, r := range tableOf(t, o, s, false).Rows {
		names = append(names, r[0].Text)
	}
	if !slices.Contains(names, "  team-50") || slices.Contains(names, "  1 more") || !slices.Contains(names, "  3 more") {
		t.Errorf("%q", names)
	}
}

// TestManyTeamsInATree: each cohort has its row, and its teams with little use one together. -o wide has all.
func TestManyTeamsInATree(t *testing.T) {
	o, _ := options(t)
	o.Tree = true
	s := large(100, gpu)
	s.ClusterQueues[20].StopPolicy = "Hold"
	short, wide := tableOf(t, o, s, false), tableOf(t, o, s, true)
	if len(wide.Rows) != 110 {
		t.Errorf("-o wide: %d rows", len(wide.Rows))
	}
	column := slices.IndexFunc(short.Columns, func(c output.Column) bool { return c.Title == "NOMINAL" })
	var names, more []string
	for _, r := range short.Rows {
		names = append(names, r[0].Text)
		if strings.HasSuffix(r[0].Text, " more") {
			more = append(more, r[0].Text+" "+r[column].Text)
		}
	}
	// Even pools use 0 to 9 each, odd ones 10 to 19: those have 8 of 10 rows, but the stopped team has one too.
	if want := []string{"  10 more 160", "  2 more 32", "  9 more 144", "  2 more 32"}; len(more) != 10 || !slices.Equal(more[:4], want) {
		t.Errorf("%q", more)
	}
	if n := len(short.Rows); n != output.MostRows+20 || !slices.Contains(names, "  team-20 (stopped)") || !slices.Contains(names, "pool-9") {
		t.Errorf("%d rows: %q", n, names)
	}
	hint := "the 40 teams with most PENDING and RESERVED have rows (-o wide: all teams)"
	if !slices.Contains(short.Notes, hint) || slices.Contains(wide.Notes, hint) {
		t.Errorf("%q", short.Notes)
	}
}

// TestWidths: no line passes the edge of the terminal, with wide (Japanese) names
// too, and at 80 columns there still is a bar.
func TestWidths(t *testing.T) {
	s := large(6, gpu)
	for i, name := range []string{"研究チーム", "画像認識", "ml", "データ基盤", "a", "推論"} {
		s.Workloads[i].Admission.ClusterQueue = name
		s.ClusterQueues[i].Name = name
	}
	for _, width := range []int{80, 120, 200} {
		for _, utf8 := range []bool{true, false} {
			o, b := options(t)
			io := o.Factory.IO
			io.OutTTY, io.Width, io.UTF8 = true, width, utf8
			for name, table := range map[string]output.Table{"teams": tableOf(t, o, s, false), "tree": func() output.Table {
				o.Tree = true
				defer func() { o.Tree = false }()
				return tableOf(t, o, s, false)
			}()} {
				b.Out.Reset()
				if err := io.PrintTable(table); err != nil {
					t.Fatal(err)
				}
				out := b.Out.String()
				for line := range strings.Lines(out) {
					if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > width {
						t.Errorf("%s at %d columns: %d wide: %s", name, width, w, line)
					}
				}
				bar := "█"
				if !utf8 {
					bar = "#"
				}
				if strings.Count(out, bar) < 6 || !strings.Contains(out, "研究チーム") || !strings.Contains(out, "BORROWED") {
					t.Errorf("%s at %d columns:\n%s", name, width, out)
				}
			}
		}
	}
}

// TestUnhealthyAt80: a narrow terminal keeps what is wrong with nodes, and drops what
// is nowhere so.
func TestUnhealthyAt80(t *testing.T) {
	node := func(health string) state.Node {
		return state.Node{Meta: state.Meta{Labels: map[string]string{kinds.InstanceTypeLabel: "ml.p4de.24xlarge", kinds.NodeHealthLabel: health}}, Ready: true,
			Capacity: state.Amounts{gpu: 8}, Allocatable: state.Amounts{gpu: 8}}
	}
	for health, want := range map[string]bool{"Schedulable": false, "UnschedulablePendingReboot": true} {
		s := large(1, gpu)
		s.Nodes = []state.Node{node("Schedulable"), node(health)}
		o, b := options(t)
		o.By = byInstanceType
		io := o.Factory.IO
		io.OutTTY, io.Width = true, 80
		if err := io.PrintTable(tableOf(t, o, s, false)); err != nil {
			t.Fatal(err)
		}
		header, rest, _ := strings.Cut(b.Out.String(), "\n")
		if strings.Contains(header, "UNHEALTHY") != want || strings.Contains(header, "UNKNOWN") || !strings.Contains(rest, "hidden columns: ") {
			t.Errorf("%s:\n%s", health, b.Out)
		}
		for line := range strings.Lines(b.Out.String()) {
			if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > 80 {
				t.Errorf("%s: %d wide: %s", health, w, line)
			}
		}
	}
}

// TestClosedNodes: the capacity names nodes that take no pods.
func TestClosedNodes(t *testing.T) {
	node := func(ready, cordoned bool) state.Node {
		return state.Node{Meta: state.Meta{Labels: map[string]string{kinds.InstanceTypeLabel: "ml.p4de.24xlarge", kinds.NodeHealthLabel: "Schedulable"}},
			Ready: ready, Unschedulable: cordoned, Capacity: state.Amounts{gpu: 8}, Allocatable: state.Amounts{gpu: 8}}
	}
	for want, more := range map[string][]state.Node{
		"capacity 8 on 1 healthy nodes, quota":                            nil,
		"capacity 24 on 3 healthy nodes (2 cordoned), quota":              {node(true, true), node(true, true)},
		"capacity 24 on 3 healthy nodes (1 not ready, 2 cordoned), quota": {node(false, true), node(true, true)},
		"capacity 16 on 2 healthy nodes (1 not ready), quota":             {node(false, false)},
	} {
		s := large(1, gpu)
		s.Nodes = append([]state.Node{node(true, false)}, more...)
		o, _ := options(t)
		if notes := strings.Join(tableOf(t, o, s, false).Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("want %q in\n%s", want, notes)
		}
	}
}

// TestOvercommitted: what nobody lends has a column of its own and is never
// shown as a negative amount.
func TestOvercommitted(t *testing.T) {
	s := large(1, gpu)
	s.ClusterQueues[0].Cohort = ""
	s.Workloads[0].Admission.PodSets[0].Usage[gpu] = "20"
	o, b := options(t)
	table := tableOf(t, o, s, false)
	if err := o.Factory.IO.PrintTable(table); err != nil {
		t.Fatal(err)
	}
	out := b.Out.String()
	if !strings.Contains(out, "OVERCOMMIT") || strings.Contains(out, "-4") || !strings.Contains(out, "!") || !strings.Contains(out, "! overcommitted") {
		t.Errorf("%s", out)
	}
}

// TestProblemsOfOne: with one team asked for, the problems of others are not told.
func TestProblemsOfOne(t *testing.T) {
	s := large(2, gpu)
	s.ClusterQueues[0].StopPolicy, s.ClusterQueues[1].StopPolicy = "Hold", "Hold"
	s.LocalQueues = []state.LocalQueue{{Meta: state.Meta{Name: "lq", Namespace: "one"}, ClusterQueue: "hyperpod-ns-team-1-clusterqueue"},
		{Meta: state.Meta{Name: "void", Namespace: "one"}, ClusterQueue: "gone"}, {Meta: state.Meta{Name: "void", Namespace: "other"}, ClusterQueue: "gone"}}
	s.Flavors = []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}}}
	for team, want := range map[string]string{"": "QueueStopped team-0, QueueStopped team-1, MissingClusterQueue one/void, MissingClusterQueue other/void",
		"team-1": "QueueStopped team-1, MissingClusterQueue one/void", "team-0": "QueueStopped team-0"} {
		o, _ := options(t)
		o.Team = team
		v, err := o.view(s)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range v.Document().(quota.Document).Problems {
			got = append(got, p.Code+" "+p.Subject)
		}
		if strings.Join(got, ", ") != want || len(v.problems) != len(got) {
			t.Errorf("%q: %v", team, got)
		}
	}
}

func TestMIG(t *testing.T) {
	s := large(2, gpu, "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb")
	o, b := options(t)
	if err := o.Factory.IO.PrintTable(tableOf(t, o, s, true)); err != nil {
		t.Fatal(err)
	}
	// 32 GPUs, 32 slices of a seventh and 32 of three.
	if out := b.Out.String(); !strings.Contains(out, "50.29 GPUs in total") {
		t.Errorf("%s", out)
	}
	// Of one team, half of that.
	b.Out.Reset()
	o.Team = "team-1"
	if err := o.Factory.IO.PrintTable(tableOf(t, o, s, true)); err != nil {
		t.Fatal(err)
	}
	if out := b.Out.String(); !strings.Contains(out, "25.14 GPUs in total") {
		t.Errorf("%s", out)
	}
}

func TestNoKueue(t *testing.T) {
	o, _ := options(t)
	_, err := o.view(&state.State{Missing: []state.Missing{{Resource: kinds.ClusterQueue, Reason: state.NotServed}}})
	if errs.ExitOf(err) != errs.NotFound || !strings.Contains(err.Error(), "Kueue is not installed") {
		t.Errorf("%v", err)
	}
}

func TestFlags(t *testing.T) {
	io, _ := output.Test()
	f := &factory.Factory{IO: io}
	var got *Options
	cmd := NewCmd(f, func(_ context.Context, o *Options) error { got = o; return nil })
	cmd.SetArgs([]string{"ml", "--resource", "gpu,cpu", "-w"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if got.Team != "ml" || fmt.Sprint(got.Resources) != "[gpu cpu]" || !got.Watch || got.By != byTeam {
		t.Errorf("%+v", got)
	}
}

// TestSeveralAt80: accelerators of several kinds fit a narrow terminal, by their short
// names; -o wide has them in full.
func TestSeveralAt80(t *testing.T) {
	s := large(3, gpu, "aws.amazon.com/neurondevice", "nvidia.com/mig-1g.10gb")
	o, b := options(t)
	io := o.Factory.IO
	io.OutTTY, io.Width = true, 80
	if err := io.PrintTable(tableOf(t, o, s, false)); err != nil {
		t.Fatal(err)
	}
	out := b.Out.String()
	table, _, _ := strings.Cut(out, "own")
	for line := range strings.Lines(table) {
		if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > 80 {
			t.Errorf("%d wide: %s", w, line)
		}
	}
	if !strings.Contains(table, "team-2  neurondevice  ") || strings.Contains(table, "amazon") {
		t.Errorf("%s", out)
	}
	io.Width = 300
	b.Out.Reset()
	if wide := tableOf(t, o, s, true); io.PrintTable(wide) != nil || !strings.Contains(b.Out.String(), "aws.amazon.com/neurondevice") {
		t.Errorf("%s", b.Out)
	}
}

// TestManyProblems: a cluster with many problems prints some of them, and how many others there are.
func TestManyProblems(t *testing.T) {
	for n, want := range map[int]string{3: "warning: 2", 21: "warning: 20", 22: "and 2 more warnings (-o json)", 400: "and 380 more warnings (-o json)"} {
		var problems []quota.Problem
		for i := range n {
			problems = append(problems, quota.Problem{Message: fmt.Sprint(i)})
		}
		got := warnings(problems, mostWarnings, " (-o json)")
		if last := got[len(got)-1]; last != want || len(got) > mostWarnings+1 {
			t.Errorf("%d problems: %d lines, last %q, want %q", n, len(got), last, want)
		}
	}
}
