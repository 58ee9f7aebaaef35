package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// TestPreCommit runs each hook as pre-commit does: the words of its entry, then the names of all files that match.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Files string }
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) != 2 {
		t.Fatalf("%d hooks, %v", len(hooks), err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(self, filepath.Join(work, "hyperpod")); err != nil {
		t.Skip(err)
	}
	copyOf := func(from, to string) {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(work, to)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(work, to), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copyOf("../../examples/train.yaml", "jobs/a.yaml")
	copyOf("../../examples/train.yaml", "jobs/b c.yml")
	copyOf("../../examples/teams.yaml", "teams.yaml")
	copyOf("../../examples/teams.yaml", "sub dir/governance.yml")
	copyOf("../../go.sum", "jobs/bad.yaml")
	copyOf("../../go.sum", "bad/teams.yaml")
	for _, hook := range hooks {
		words, err := shellwords.Split(hook.Entry)
		if err != nil {
			t.Fatal(err)
		}
		good := map[string][]string{"hyperpod-validate-template": {"jobs/a.yaml", "jobs/b c.yml"}, "hyperpod-governance-check": {"teams.yaml", "sub dir/governance.yml"}}[hook.ID]
		bad := map[string]string{"hyperpod-validate-template": "jobs/bad.yaml", "hyperpod-governance-check": "bad/teams.yaml"}[hook.ID]
		for _, files := range [][]string{good, {good[0], bad, good[1]}} {
			for _, file := range files {
				if !regexp.MustCompile(hook.Files).MatchString(file) {
					t.Errorf("%s does not match %s", hook.ID, file)
				}
			}
			cmd := exec.CommandContext(t.Context(), words[0], append(words[1:len(words):len(words)], files...)...)
			if words[0] == "hyperpod" {
				cmd.Path, cmd.Err = self, nil
			}
			cmd.Dir, cmd.Env = work, append(os.Environ(), "PATH="+work+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+work)
			out, err := cmd.CombinedOutput()
			if failed := err != nil; failed != (len(files) == 3) || failed && !strings.Contains(string(out), bad) {
				t.Errorf("%s %v: %v: %s", hook.ID, files, err, out)
			}
		}
	}
}
