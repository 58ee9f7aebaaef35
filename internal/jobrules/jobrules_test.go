package jobrules

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

var dump = flag.String("dump", "", "write the objects of the cases to this folder, for kubectl")

// file is a document of testdata: an object, and changes of it.
type file struct {
	Object map[string]any
	Cases  []struct {
		Name string
		Set  map[string]any
		// Refused is the path of the fault, "" for a valid object. By is the operator where the API server accepts it.
		Refused, By string
	}
}

// TestCases checks objects of each kind. The objects of kinds that the test cluster serves were compared with it (-dump).
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var f file
			if err := d.Decode(&f); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			kind, ok := kinds.JobFor(kinds.Text(f.Object, "apiVersion"), kinds.Text(f.Object, "kind"))
			if !ok {
				t.Fatalf("%s: no kind %v", path, f.Object["kind"])
			}
			for i, c := range f.Cases {
				t.Run(kind.Kind+"/"+c.Name, func(t *testing.T) {
					object := changed(t, f.Object, c.Set)
					check(t, kind, object, c.Refused, c.By)
					if *dump != "" {
						save(t, filepath.Join(*dump, fmt.Sprintf("%s-%02d-%s.yaml", kind.Kind, i, verdict(c.Refused, c.By))), object)
					}
				})
			}
		}
	}
}

// TestFaultsInOrder: of rules in conflict, the same one is reported each time.
func TestFaultsInOrder(t *testing.T) {
	var deletions []any
	for _, status := range []string{"SUCCEEDED", "FAILED"} {
		for ttl, policy := range map[int]string{300: "DeleteWorkers", 200: "DeleteCluster", 100: "DeleteSelf"} {
			deletions = append(deletions, map[string]any{"policy": policy, "condition": map[string]any{"jobStatus": status, "ttlSeconds": ttl}})
		}
	}
	object := map[string]any{"apiVersion": kinds.RayJob.GroupVersion(), "kind": "RayJob", "metadata": map[string]any{"name": "r"},
		"spec": map[string]any{"rayClusterSpec": map[string]any{}, "deletionStrategy": map[string]any{"deletionRules": deletions}}}
	const want = "DeleteSelf after 100 seconds comes before DeleteCluster after 200 seconds"
	for range 20 {
		if faults := OperatorFaults(kinds.RayJob, object, nil); len(faults) != 1 || faults[0].Detail != want {
			t.Fatalf("%+v, want %q", faults, want)
		}
	}
}

func verdict(refused, by string) string {
	if refused == "" || by == "operator" {
		return "accepted"
	}
	return "refused"
}

func check(t *testing.T, kind kinds.Job, object map[string]any, refused, by string) {
	t.Helper()
	have, later := paths(ServerFaults(kind, object, nil)), paths(OperatorFaults(kind, object, nil))
	switch {
	case by == "operator" && len(have) > 0:
		t.Errorf("the API server refuses %v, want the operator to refuse %s", have, refused)
	case by == "operator":
		have = later
	case refused == "" && len(later) > 0:
		t.Errorf("the operator refuses %v", later)
	}
	if refused == "" && len(have) > 0 || refused != "" && (!slices.Contains(have, refused) || !allBelow(have, refused)) {
		t.Errorf("refused: %v, want %q", have, refused)
	}
}

// allBelow reports paths that are all about one: at it, below or above, or beside it.
func allBelow(paths []string, one string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool {
		return p != one && !strings.HasPrefix(p, one+".") && !strings.HasPrefix(one, p+".") && !sibling(p, one)
	})
}

func sibling(a, b string) bool {
	return a[:strings.LastIndex(a, ".")+1] == b[:strings.LastIndex(b, ".")+1]
}

func paths(faults []Fault) []string {
	var out []string
	for _, f := range faults {
		var steps []string
		for _, s := range f.Path {
			steps = append(steps, strings.ReplaceAll(fmt.Sprint(s), ".", "~"))
		}
		if p := strings.Join(steps, "."); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// changed returns a copy of an object with other values at paths; null removes one.
func changed(t *testing.T, object map[string]any, set map[string]any) map[string]any {
	t.Helper()
	out := copied(object).(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(set)) {
		var at any = out
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			switch m := at.(type) {
			case map[string]any:
				if m[key] == nil {
					m[key] = map[string]any{}
				}
				at = m[key]
			case []any:
				i, err := strconv.Atoi(key)
				if err != nil {
					t.Fatal(err)
				}
				at = m[i]
			}
		}
		m, ok := at.(map[string]any)
		if !ok {
			t.Fatalf("%s does not lead to a map", path)
		}
		if m[keys[len(keys)-1]] = copied(set[path]); set[path] == nil {
			delete(m, keys[len(keys)-1])
		}
	}
	return out
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, c := range v {
			out[k] = copied(c)
		}
		return out
	case []any:
		out := []any{}
		for _, c := range v {
			out = append(out, copied(c))
		}
		return out
	}
	return v
}

func save(t *testing.T, path string, object map[string]any) {
	t.Helper()
	data, err := k8syaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
