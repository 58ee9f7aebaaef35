package queue

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// TestDashboard: the Grafana dashboard uses exactly the metrics that there are,
// with labels that they have.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	families := append(quota.Document{}.Metrics(), Document{}.Metrics()...)
	used := map[string]bool{}
	name := regexp.MustCompile(`hyperpod_[a-z_]+`)
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			if strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") || strings.Count(target.Expr, "{") != strings.Count(target.Expr, "}") {
				t.Errorf("%q is no expression", target.Expr)
			}
			for _, n := range name.FindAllString(target.Expr, -1) {
				used[n] = true
			}
		}
	}
	for _, f := range families {
		if !used[f.Name] {
			t.Errorf("%s is in no panel", f.Name)
		}
		delete(used, f.Name)
		if f.Help == "" {
			t.Errorf("%s has no help", f.Name)
		}
	}
	for n := range used {
		t.Errorf("the dashboard uses %s, which there is not", n)
	}
	if len(families) < 20 {
		t.Errorf("only %d metrics", len(families))
	}
}

// TestMetrics of a small cluster, as text.
func TestMetrics(t *testing.T) {
	s := cluster(job("a", "waits", 2, 0), job("b", "runs", 12, 0, admitted))
	r := quota.Build(s)
	d := NewDocument(Build(s, r, r.Teams, nil), r.Teams, Tallies(s, r), Computed, noon)
	text := string(metrics.Text(append(r.Document([]string{gpu}, r.Teams).Metrics(), d.Metrics()...)))
	for _, want := range []string{
		`hyperpod_cluster_queue_nominal_quota{cohort="pool",cluster_queue="a",team="a",flavor="f",resource="nvidia.com/gpu"} 8`,
		`hyperpod_cluster_queue_lent{cohort="pool",cluster_queue="a",team="a",flavor="f",resource="nvidia.com/gpu"} 4`,
		`hyperpod_cluster_queue_borrowed{cohort="pool",cluster_queue="b",team="b",flavor="f",resource="nvidia.com/gpu"} 4`,
		`hyperpod_cluster_queue_pending_demand{cohort="pool",cluster_queue="a",team="a",resource="nvidia.com/gpu"} 2`,
		`hyperpod_queue_workloads{cluster_queue="a",team="a",state="waiting"} 1`,
		`hyperpod_queue_workloads{cluster_queue="b",team="b",state="running"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
