package dashboardview

import (
	"fmt"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestSort(t *testing.T) {
	v := View{Table: output.Table{Columns: []output.Column{{Title: "NAME"}, {Title: "AGE"}, {Bar: true}}}}
	for _, row := range [][]string{{"b", "2h10m"}, {"a", "45m"}, {"C", "-"}, {"d", "1d"}, {"e", "7"}} {
		v.Table.Rows, v.Refs = append(v.Table.Rows, output.T(row...)), append(v.Refs, Ref{Name: row[0]})
		v.Sparks = append(v.Sparks, nil)
	}
	for _, c := range []struct {
		column     int
		descending bool
		want       string
	}{{0, false, "abCde"}, {0, true, "edCba"}, {1, false, "eabdC"}, {1, true, "Cdbae"}, {2, false, "baCde"}, {-1, false, "baCde"}, {9, true, "baCde"}} {
		got := ""
		for _, r := range v.Sort(c.column, c.descending).Refs {
			got += r.Name
		}
		if got != c.want {
			t.Errorf("%d %v: %s, want %s", c.column, c.descending, got, c.want)
		}
	}
}

func TestTrail(t *testing.T) {
	k := history.NodeKey{InstanceType: "ml.p5.48xlarge"}
	var trail map[history.NodeKey][]float64
	for i := range 30 {
		trail = AddPoint(trail, map[history.NodeKey]float64{k: float64(i) / 29})
	}
	if len(trail[k]) != TrailPoints || trail[k][TrailPoints-1] != 1 {
		t.Error(trail)
	}
	if got := Spark([]float64{0, 0.5, 1, -1, 2}, true) + Spark([]float64{0, 0.5, 1}, false); got != "▁▅█▁█_+%" {
		t.Error(got)
	}
}

func TestPodsOf(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := func(name string) state.Pod {
		return state.Pod{Meta: state.Meta{Name: name, Namespace: "ns", CreationTimestamp: now.Add(-time.Hour)}, Phase: "Running", Requests: state.Amounts{"nvidia.com/gpu": 8, "cpu": 1}}
	}
	v := PodsOf("n", []state.Pod{pod("b"), pod("a")}, now)
	if got := fmt.Sprint(v.Summary, v.Refs[0].Name, v.Refs[1].Name, v.Table.Rows[0][3].Text, v.Table.Rows[0][5].Text); got != "2 pods on nab81h" {
		t.Error(got)
	}
}
