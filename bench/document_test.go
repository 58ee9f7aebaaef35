package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestDocument: the tables of docs/performance.md are those of the last run.
func TestDocument(t *testing.T) {
	var r results
	data, err := os.ReadFile("results.json")
	switch {
	case os.IsNotExist(err): // no run of all parts yet
	case err != nil:
		t.Fatal(err)
	default:
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.fill(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(text) {
		t.Error(`the tables differ from results.json: run go run ./bench -only "" -json bench/results.json -document docs/performance.md`)
	}
}

func TestTables(t *testing.T) {
	r := results{
		Machine:  machine{OS: "linux", Arch: "amd64", Processor: "A", Load: "0.50", Go: "go1", Processors: 2},
		Ratios:   []ratioOf{{"hyperpod version", "kubectl version --client", 0.761, 0.8}, {"hyperpod get-quota", "kubectl get clusterqueues -o json | jq", 1.4, 1}, {"workloads alone", "x", 0.9, 0}},
		Measures: []measure{{"get-log -f, 64 pods: memory", "MB", 58.4, 100}, {"binary", "MB", 70.1, 70}, {"lines lost", "lines", 0, 0}},
		Scale:    []point{{"1,000 jobs", "hyperpod list-jobs -A", 123.4, 50, 7, 2345}},
	}
	got, err := r.fill("a\n<!-- bench machine -->\nold\n<!-- end -->\nb <!-- bench ratios -->\n<!-- end --><!-- bench measures -->\n<!-- end --><!-- bench scale -->\n<!-- end -->\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"2 processors (A), linux/amd64, go1.",
		"| `hyperpod version` | `kubectl version --client` | 0.76 | 0.80 | met |",
		"| `hyperpod get-quota` | `kubectl get clusterqueues -o json \\| jq` | 1.40 | 1.00 | **missed** |",
		"| workloads alone | x | 0.90 | - |  |",
		"| `get-log -f`, 64 pods: memory | 58 MB | 100 | met |",
		"| binary | 70 MB | 70 | **missed** |",
		"| lines lost | 0 lines | - |  |",
		"| 1,000 jobs | `hyperpod list-jobs -A` | 123 ms | 50 MB | 7 | 2.3 MB |",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in:\n%s", line, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Error("the old table is still there")
	}
	if again, err := r.fill(got); err != nil || again != got {
		t.Errorf("a second time it differs: %v", err)
	}
	if _, err := r.fill("nothing"); err == nil {
		t.Error("a document without places is accepted")
	}
}
