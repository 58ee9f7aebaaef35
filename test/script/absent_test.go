package script

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// TestAbsentKinds: a file of plain objects that lacks a kind does not stand for a cluster that has none: commands that need the
// kind fail, and name it.
func TestAbsentKinds(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	if _, err := run(t, work, "save-snapshot", work+"/all.json", "--sandbox", "-q"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(work + "/all.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Objects map[string][]json.RawMessage `json:"objects"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	without := func(kind string) string {
		list := map[string]any{"apiVersion": "v1", "kind": "List"}
		var items []json.RawMessage
		for _, name := range slices.Sorted(maps.Keys(all.Objects)) {
			if plural, _, _ := strings.Cut(name, "."); plural != kind {
				items = append(items, all.Objects[name]...)
			}
		}
		list["items"] = items
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		path := work + "/no-" + kind + ".json"
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const dry = "start-job --name new --instance-type ml.p5.48xlarge --image i --entry-script t.py -n hyperpod-ns-researchers --dry-run"
	commands := map[string]string{
		"dry": dry, "class": dry + " --priority training-priority", "quota": "get-quota", "nodes": "get-quota --by instance-type", "queue": "get-queue",
		"simulate": "simulate --set researchers.borrow-limit=0", "plan": "governance plan -f ../../examples/teams.yaml", "export": "governance export",
		"job": "get-job vit-huge -n hyperpod-ns-researchers", "pods": "list-pods vit-huge -n hyperpod-ns-researchers",
	}
	for kind, fails := range map[string]string{ // the commands that fail
		"": "", "clusterqueues": "dry class quota nodes queue simulate plan export", "resourceflavors": "dry class simulate plan export",
		"localqueues": "dry class plan export", "workloads": "dry class queue simulate", "workloadpriorityclasses": "class plan export",
		"nodes": "dry class nodes", "pods": "dry class pods", "pytorchjobs": "job pods",
	} {
		file := without(kind)
		for name, command := range commands {
			out, err := run(t, work, append(strings.Fields(command), "--snapshot", file, "-o", "json")...)
			code := errs.Exit(0)
			var exit *exitError
			if errors.As(err, &exit) {
				code = exit.code
			}
			want := errs.Exit(0)
			switch {
			case slices.Contains(strings.Fields(fails), name):
				want = errs.Failure
			case name == "plan":
				want = errs.No // it finds changes
			}
			if code != want || want == errs.Failure && !strings.Contains(err.Error()+out, kind) {
				t.Errorf("without %s: hyperpod %s: exit code %d, want %d: %v", kind, command, code, want, err)
			}
		}
		listed, err := run(t, work, "list-jobs", "-A", "--snapshot", file, "-o", "jsonpath={.Missing[*].Resource}")
		if err != nil || strings.Contains(listed, kind) != (kind == "pytorchjobs" || kind == "workloads" || kind == "") {
			t.Errorf("without %s: list-jobs lacks %q, %v", kind, listed, err)
		}
	}
}
