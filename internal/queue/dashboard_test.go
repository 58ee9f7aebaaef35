package queue_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	. "github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
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
	has := labelNames(t)
	used := map[string]bool{}
	name := regexp.MustCompile(`hyperpod_[a-z_]+`)
	// A metric, with the labels that choose among its samples and those that are kept.
	term := regexp.MustCompile(`(?:by \(([a-z_, ]+)\) \()?(hyperpod_[a-z_]+)(?:\{([^}]*)\})?`)
	label := regexp.MustCompile(`[a-z_]+`)
	value := regexp.MustCompile(`"[^"]*"`)
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			if strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") || strings.Count(target.Expr, "{") != strings.Count(target.Expr, "}") {
				t.Errorf("%q is not an expression", target.Expr)
			}
			for _, n := range name.FindAllString(target.Expr, -1) {
				used[n] = true
			}
			for _, m := range term.FindAllStringSubmatch(target.Expr, -1) {
				for _, l := range label.FindAllString(m[1]+" "+value.ReplaceAllString(m[3], ""), -1) {
					if !has[m[2]][l] {
						t.Errorf("%s of %q has no label %s: it has %v", m[2], p.Title, l, has[m[2]])
					}
				}
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

// labelNames are the labels of each metric's samples, of a cluster that has
// something of everything.
func labelNames(t *testing.T) map[string]map[string]bool {
	t.Helper()
	ended := job("b", "ended", 2, time.Hour, admitted, with(cond(quota.Finished, "Succeeded", "", 0)))
	s := cluster(job("a", "waits", 2, 0), job("b", "runs", 12, 0, admitted), ended)
	s.Nodes = []state.Node{{Meta: state.Meta{Name: "n", Labels: map[string]string{kinds.InstanceTypeLabel: "f"}}, Ready: true,
		Capacity: state.Amounts{gpu: 16}, Allocatable: state.Amounts{gpu: 16}}}
	s.Pods = []state.Pod{{NodeName: "n", Phase: "Running", Requests: state.Amounts{gpu: 1}},
		{Meta: state.Meta{Labels: map[string]string{"kueue.x-k8s.io/podset": "main"}}, NodeName: "n", Phase: "Running", Requests: state.Amounts{gpu: 1}}}
	r := quota.Build(s)
	r.Capacity = quota.ByInstanceType(s)
	d := NewDocument(Build(s, r, r.Teams, order.Rules{}, nil), r.Teams, Tallies(s, r), Computed, noon)
	out := map[string]map[string]bool{}
	for _, f := range append(r.Document([]string{gpu}, r.Teams).Metrics(), d.Metrics()...) {
		if len(f.Samples) == 0 {
			t.Errorf("%s has no sample to take labels from", f.Name)
			continue
		}
		out[f.Name] = map[string]bool{}
		for _, l := range f.Samples[0].Labels {
			out[f.Name][l.Name] = true
		}
	}
	return out
}

// TestMetrics of a small cluster, as text.
func TestMetrics(t *testing.T) {
	s := cluster(job("a", "waits", 2, 0), job("b", "runs", 12, 0, admitted))
	r := quota.Build(s)
	d := NewDocument(Build(s, r, r.Teams, order.Rules{}, nil), r.Teams, Tallies(s, r), Computed, noon)
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
