package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// damage changes one value somewhere below v, which is a map or a list, and says what.
func damage(r *rand.Rand, v any, path string) string {
	var child any
	var set func(any)
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		if len(keys) == 0 {
			return ""
		}
		slices.Sort(keys)
		k := keys[r.IntN(len(keys))]
		child, path, set = v[k], path+"."+k, func(x any) { v[k] = x }
	case []any:
		if len(v) == 0 {
			return ""
		}
		i := r.IntN(len(v))
		child, path, set = v[i], fmt.Sprintf("%s[%d]", path, i), func(x any) { v[i] = x }
	default:
		return ""
	}
	if r.IntN(6) > 0 {
		if what := damage(r, child, path); what != "" {
			return what
		}
	}
	by := []any{nil, nil, nil, map[string]any{}, []any{}, []any{nil}, "", "x", -1, 1e30, true}[r.IntN(11)]
	set(by)
	return fmt.Sprintf("%s = %v", path, by)
}

// TestDamagedSnapshots: whatever a file of objects holds, commands end with a code of
// the contract, print a whole document or none, and never end by a fault of their own.
func TestDamagedSnapshots(t *testing.T) {
	seeds := 15
	if testing.Short() {
		seeds = 4
	}
	if n := os.Getenv("HYPERPOD_TEST_SEEDS"); n != "" {
		fmt.Sscan(n, &seeds)
	}
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	f, b := testFactory(t, nil)
	if code := Run(t.Context(), f, []string{"save-snapshot", good, "--sandbox=enterprise"}); code != errs.OK {
		t.Fatal(b.Err.String())
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	commands := []string{
		"list-jobs -A --verbose", "get-job vit-huge -n hyperpod-ns-researchers --verbose", "list-pods vit-huge -n hyperpod-ns-researchers",
		"explain-job dino-giant -n hyperpod-ns-researchers --assume-duration 4h", "start-job smpv2-llama2 -n hyperpod-ns-researchers --dry-run",
		"get-quota --all-resources", "get-quota --by instance-type", "get-queue", "simulate --remove-team interns", "list-instance-types",
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		whole := doc
		if seed%2 == 1 { // a list as kubectl prints it
			var items []any
			for _, list := range doc["objects"].(map[string]any) {
				items = append(items, list.([]any)...)
			}
			slices.SortFunc(items, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			whole = map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
		}
		var what []string
		for range 1 + r.IntN(3) {
			if seed%2 == 0 {
				what = append(what, damage(r, whole["objects"], "objects"))
			} else {
				what = append(what, damage(r, whole, ""))
			}
		}
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		bad := filepath.Join(dir, "bad.json")
		if err := os.WriteFile(bad, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range commands {
			f, b := testFactory(t, nil)
			code := Run(t.Context(), f, append(strings.Fields(command), "-o", "json", "--snapshot", bad))
			where := fmt.Sprintf("seed %d (%s): %s", seed, strings.Join(what, ", "), command)
			if !slices.Contains([]errs.Exit{0, 1, 2, 3, 4, 5, 8}, code) {
				t.Errorf("%s: exit code %d", where, code)
			}
			if stderr := b.Err.String(); strings.Contains(stderr, "panick") || strings.Contains(stderr, "internal error") || code == errs.Failure && b.Out.Len() == 0 && !strings.Contains(stderr, "Error: ") {
				t.Errorf("%s: %s", where, stderr)
			}
			if out := b.Out.String(); out != "" && !json.Valid([]byte(out)) {
				t.Errorf("%s: half a document: %.200s", where, out)
			}
		}
	}
}
