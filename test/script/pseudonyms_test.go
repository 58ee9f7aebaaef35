package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPseudonyms: a snapshot with pseudonyms answers like the one with names. The words of
// both answers correspond one to one, and everything else is equal.
func TestPseudonyms(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"enterprise", "john-smith", "lend-three"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			named, hidden := filepath.Join(home, "names.json"), filepath.Join(home, "pseudonyms.json")
			run := func(args ...string) []byte {
				t.Helper()
				out, err := run(t, home, args...)
				if err != nil {
					t.Fatalf("hyperpod %s: %v", strings.Join(args, " "), err)
				}
				return []byte(out)
			}
			run("sandbox", "create", "box", "--scenario", scenario)
			run("save-snapshot", named, "--sandbox=box")
			run("save-snapshot", hidden, "--pseudonyms", "--snapshot", named)
			words := &bijection{to: map[use]string{}, from: map[use]string{}}
			same := func(args ...string) {
				t.Helper()
				other := slices.Clone(args)
				for i, a := range args {
					for _, key := range []string{"Name", "Namespace"} {
						if p, ok := words.to[use{key, a}]; ok {
							other[i] = p
						}
					}
				}
				var a, b any
				if err := json.Unmarshal(run(append(args, "-o", "json", "--snapshot", named)...), &a); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(run(append(other, "-o", "json", "--snapshot", hidden)...), &b); err != nil {
					t.Fatal(err)
				}
				words.compare(t, strings.Join(args, " "), "", a, b)
			}
			same("get-quota")
			same("get-queue")
			same("list-jobs", "-A", "--verbose")
			var jobs struct {
				Jobs []struct{ Name, Namespace string } `json:"jobs"`
			}
			if err := json.Unmarshal(run("list-jobs", "-A", "-o", "json", "--snapshot", named), &jobs); err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs.Jobs {
				same("explain-job", j.Name, "-n", j.Namespace)
				same("list-pods", j.Name, "-n", j.Namespace)
			}
			if scenario == "enterprise" && len(jobs.Jobs) < 10 {
				t.Fatalf("only %d jobs", len(jobs.Jobs))
			}
			// No name of the cluster is a word of the file.
			file, err := os.ReadFile(hidden)
			if err != nil {
				t.Fatal(err)
			}
			inFile := map[string]bool{}
			for _, w := range name.FindAllString(string(file), -1) {
				inFile[w] = true
			}
			replaced, stays := map[string]bool{}, map[string]bool{}
			for u, p := range words.to {
				replaced[u.word] = true
				if u.word == p {
					stays[u.word] = true
				}
			}
			maps.DeleteFunc(replaced, func(w string, _ bool) bool { return stays[w] })
			for w := range replaced {
				if inFile[w] {
					t.Errorf("%s is in the file", w)
				}
			}
			if len(replaced) < 5 {
				t.Errorf("only %d names were replaced: %v", len(replaced), words.to)
			}
		})
	}
}

// name is a word that can be a name.
var name = regexp.MustCompile(`[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?`)

// use is a word below a key of a document. The same word may be the name of a team, of a
// class and of a role.
type use struct{ key, word string }

// bijection are words of one answer and of another.
type bijection struct{ to, from map[use]string }

func (w *bijection) compare(t *testing.T, command, path string, a, b any) {
	t.Helper()
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			t.Errorf("%s: %s: %v, with pseudonyms %v", command, path, a, b)
			return
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if _, ok := y[k]; !ok {
				t.Errorf("%s: %s.%s is missing with pseudonyms", command, path, k)
				continue
			}
			w.compare(t, command, path+"."+k, x[k], y[k])
		}
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			t.Errorf("%s: %s: %v, with pseudonyms %v", command, path, a, b)
			return
		}
		for i := range x {
			w.compare(t, command, fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
		}
	case string:
		y, ok := b.(string)
		from, to := name.FindAllString(x, -1), name.FindAllString(y, -1)
		if !ok || len(from) != len(to) {
			t.Errorf("%s: %s: %q, with pseudonyms %q", command, path, a, b)
			return
		}
		key := strings.TrimRight(path[strings.LastIndex(path, ".")+1:], "[0123456789]")
		for i := range from {
			there, back := use{key, from[i]}, use{key, to[i]}
			if old, ok := w.to[there]; ok && old != to[i] {
				t.Errorf("%s: %s: %q is %q, was %q", command, path, from[i], to[i], old)
			}
			if old, ok := w.from[back]; ok && old != from[i] {
				t.Errorf("%s: %s: %q stands for %q, stood for %q", command, path, to[i], from[i], old)
			}
			w.to[there], w.from[back] = to[i], from[i]
		}
	default:
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: %s: %v, with pseudonyms %v", command, path, a, b)
		}
	}
}
