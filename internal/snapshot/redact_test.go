package snapshot_test

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestKeepsWhatDecides: annotations by which Kueue tells pod groups from single pods, and one role of a group from another, stay.
func TestKeepsWhatDecides(t *testing.T) {
	for _, name := range []string{"is-group-workload", "pod-group-fast-admission", "pod-group-serving", "retriable-in-group", "role-hash", "podset-replica-sizes", "raycluster-podset-replica-sizes"} {
		doc := "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w, namespace: a, annotations: {kueue.x-k8s.io/" + name + ": KEEP}}\n"
		if got := text(t, open(t, write(t, []byte(doc)))); !strings.Contains(got, "KEEP") {
			t.Errorf("%s is lost: %s", name, got)
		}
	}
}

// TestHostile: every place of testdata/hostile.yaml where somebody could have put
// a secret holds one, marked SECRET; whatever the checks need holds KEEP.
func TestHostile(t *testing.T) {
	data, err := os.ReadFile("testdata/hostile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server := fixture.New()
	want, seen := 0, map[string]bool{}
	for _, doc := range strings.Split(string(data), "\n---\n") {
		js, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("%v in %s", err, doc)
		}
		server.Add(rawJSON(string(js)))
		want += strings.Count(doc, "KEEP")
		_, kind, _ := strings.Cut(doc, "kind: ")
		kind, _, _ = strings.Cut(kind, "\n")
		seen[kind] = true
	}
	for _, j := range kinds.Jobs() {
		if !seen[j.Kind] {
			t.Errorf("no hostile %s is tried", j.Kind)
		}
	}
	// The same from a plain file: nothing more comes in that way.
	for how, text := range map[string]string{
		"captured": text(t, capture(t, server.Client(), snapshot.Options{})),
		"plain":    text(t, open(t, write(t, data))),
	} {
		for _, line := range strings.Split(text, "\n") {
			if i := strings.Index(strings.ToUpper(line), "SECRET"); i >= 0 {
				t.Errorf("%s: a secret was kept: ...%s", how, line[max(0, i-120):min(len(line), i+40)])
			}
		}
		got := strings.Count(text, "KEEP")
		if how == "captured" {
			got += 2 // the server of the test does not serve MPIJob
		}
		if got != want {
			t.Errorf("%s: %d of %d things to keep were kept: %s", how, got, want, text)
		}
	}
}
