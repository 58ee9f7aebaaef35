// Package script runs the commands as their users do: each folder of .txtar
// scripts is one Go test, and `hyperpod` in a script is the real command line in
// a process of its own.
package script

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/collector"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startgc"
)

func TestMain(m *testing.M) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: commands of the scripts would inherit that
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	collector.Delay(startgc.Normal()) // start/quick looks at the start of this binary
	hyperpod := func() {
		documents, endDocuments := recordDocuments()
		advice, endAdvice := recordAdvice()
		code := cli.Main(os.Args[1:], "v0.0.0-test", recordSuggestions, documents, advice)
		endDocuments()
		endAdvice()
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"hyperpod": hyperpod, "kubectl-hyperpod": hyperpod, "kubectl_complete-hyperpod": hyperpod,
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	record, documents, advice := t.TempDir(), t.TempDir(), t.TempDir()
	t.Cleanup(func() { checkSuggestions(t, record); checkDocuments(t, documents); checkAdvice(t, advice) })
	folders, err := filepath.Glob("*/*.txtar")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	seen := map[string]bool{}
	for _, f := range folders {
		dir := filepath.Dir(f)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		t.Run(dir, func(t *testing.T) {
			t.Parallel() // or each folder would wait for the longest script of the one before
			testscript.Run(t, testscript.Params{
				Dir: dir,
				Setup: func(env *testscript.Env) error {
					env.Setenv(recordVariable, record)
					env.Setenv(documentsVariable, documents)
					env.Setenv(adviceVariable, advice)
					return setup(env)
				},
				Cmds:                commands(),
				Condition:           condition,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
			})
		})
	}
}

// setup gives every script a home of its own, and nothing of the machine's:
// no kubeconfig, no color, a known time zone.
func setup(env *testscript.Env) error {
	env.Values[holderKey{}] = &holder{}
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	env.Setenv("KUBECONFIG", "")
	env.Setenv("HYPERPOD_SANDBOX", "")
	env.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"} {
		env.Setenv(name, "")
	}
	env.Setenv("TZ", "UTC")
	env.Setenv("LANG", "C.UTF-8")
	env.Setenv("USER", "ada")
	return os.MkdirAll(home, 0o700)
}
