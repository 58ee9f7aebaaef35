package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocument: the tables of docs/performance.md are those of the last run.
func TestDocument(t *testing.T) {
	r, err := readResults("results.json")
	if err != nil {
		t.Fatal(err)
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
		Machine: machine{OS: "linux", Arch: "amd64", Processor: "A", Go: "go1", Processors: 2},
		Parts: []part{{Name: "start", Load: "0.50",
			Ratios:   []ratioOf{{"hyperpod version", "kubectl version --client", 0.761, 0.8}, {"hyperpod get-quota", "kubectl get clusterqueues -o json | jq", 1.4, 1}, {"workloads alone", "x", 0.9, 0}},
			Measures: []measure{{"get-log -f, 64 pods: memory", "MB", 58.4, 100}, {"binary", "MB", 70.1, 70}, {"lines lost", "lines", 0, 0}},
			Scale:    []point{{"1,000 jobs", "hyperpod list-jobs -A", 123.4, 50, 7, 2345}},
		}}}
	got, err := r.fill("a\n<!-- bench machine -->\nold\n<!-- end -->\nb <!-- bench ratios -->\n<!-- end --><!-- bench measures -->\n<!-- end --><!-- bench scale -->\n<!-- end -->\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"2 processors (A), linux/amd64, go1. Load at the end of each part (processes that run or want to): start 0.50.",
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

// TestWrite: a part replaces its last run, and leaves those of other parts.
func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	for _, p := range []part{
		{Name: "start", Measures: []measure{{"a", "ms", 1, 2}}},
		{Name: "lists", Measures: []measure{{"b", "ms", 3, 4}}},
		{Name: "start", Measures: []measure{{"a", "ms", 5, 6}}},
	} {
		if err := write(file, p); err != nil {
			t.Fatal(err)
		}
	}
	r, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 || r.Parts[0].Measures[0].Value != 5 || r.Parts[1].Measures[0].Value != 3 {
		t.Errorf("parts: %+v", r.Parts)
	}
}
