package metrics

import (
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func hostile() []Family {
	f := Family{Name: "hyperpod_thing", Help: "a \\ and\na line"}
	f.Put(1.5, Label{"team", `a"b\c` + "\nd"}, Label{"resource", "nvidia.com/gpu"})
	f.Put(math.Inf(1), Label{"team", "研究"})
	f.Put(float64(2<<40), Label{"team", "bad\xff"})
	return []Family{f, {Name: "empty", Help: "nothing"}}
}

func TestText(t *testing.T) {
	want := "# HELP hyperpod_thing a \\\\ and\\na line\n# TYPE hyperpod_thing gauge\n" +
		"hyperpod_thing{team=\"a\\\"b\\\\c\\nd\",resource=\"nvidia.com/gpu\"} 1.5\n" +
		"hyperpod_thing{team=\"bad\uFFFD\"} 2199023255552\nhyperpod_thing{team=\"研究\"} +Inf\n"
	if got := string(Text(hostile())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestParsed: Prometheus' own parser reads it back.
func TestParsed(t *testing.T) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(string(Text(hostile()))))
	if err != nil {
		t.Fatal(err)
	}
	f := families["hyperpod_thing"]
	if len(families) != 1 || f.GetHelp() != "a \\ and\na line" || len(f.GetMetric()) != 3 {
		t.Fatalf("parsed %v", families)
	}
	if got := f.GetMetric()[0].GetLabel()[1].GetValue(); got != `a"b\c`+"\nd" && got != "nvidia.com/gpu" {
		t.Errorf("a label reads %q", got)
	}
}
