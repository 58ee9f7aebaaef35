// Package madeup runs the commands with a job kind that only its description adds: all
// facts about a kind are in one file of internal/kinds.
package madeup

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMadeUpKind builds the program with the description in testdata/oddjob.go.in.
func TestMadeUpKind(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program once more")
	}
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	check(t, err)
	table := filepath.Join(root, "internal/kinds/jobs.go")
	text, err := os.ReadFile(table)
	check(t, err)
	before, after, ok := strings.Cut(string(text), "func Jobs() []Job {")
	list, rest, found := strings.Cut(after, "}\n}\n")
	if !ok || !found {
		t.Fatal("the table of kinds is not found")
	}
	changed := filepath.Join(dir, "jobs.go")
	check(t, os.WriteFile(changed, []byte(before+"func Jobs() []Job {"+list+", OddJob}\n}\n"+rest), 0o600))
	odd, err := filepath.Abs("testdata/oddjob.go.in")
	check(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{table: changed, filepath.Join(root, "internal/kinds/oddjob.go"): odd}})
	check(t, err)
	file := filepath.Join(dir, "overlay.json")
	check(t, os.WriteFile(file, overlay, 0o600))
	build := exec.Command("go", "build", "-overlay", file, "-ldflags", "-s -w", "-o", filepath.Join(dir, "hyperpod"), "./cmd/hyperpod")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "", Setup: func(env *testscript.Env) error {
		env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
		env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
		env.Setenv("HYPERPOD_SANDBOX", "1")
		env.Setenv("KUBECONFIG", "")
		env.Setenv("N", "hyperpod-ns-ml-engineers")
		return os.MkdirAll(env.Getenv("HOME"), 0o700)
	}})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
