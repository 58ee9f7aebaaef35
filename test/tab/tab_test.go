// Package tab presses TAB in a real bash, zsh and fish, in a real terminal.
package tab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// bashCompletion is what cobra's script needs; test/install-tools installs it.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

func TestTab(t *testing.T) {
	if _, err := os.Stat(bashCompletion); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("bash-completion is missing: %v (test/install-tools installs it)", err)
		}
		t.Skip("bash-completion is not installed: run test/install-tools")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "hyperpod"), "../../cmd/hyperpod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	completions, err := filepath.Abs("../../completions")
	if err != nil {
		t.Fatal(err)
	}
	bash := shell{"bash", []string{"--norc", "--noprofile", "-i"}, "source " + bashCompletion + "; source " + completions + "/hyperpod.bash"}
	env := []string{"HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH"), "TERM=dumb", "PS1=$ ", "HYPERPOD_SANDBOX=1", "LANG=C.UTF-8"}
	start := exec.Command(filepath.Join(dir, "hyperpod"), "start-job", "--name", "smpv2-llama2", "-n", "hyperpod-ns-ml-engineers")
	start.Env = env
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct{ typed, want string }{
		{"hyperpod list-j", "hyperpod list-jobs "},
		{"hyperpod start-job --templ", "--template"},
		{"hyperpod start-job --template smp", "smpv2-llama2"},
		{"hyperpod get-job -n hyperpod-ns-ml-engineers smp", "smpv2-llama2"},
		{"hyperpod list-jobs --namespace hyperpod-ns-ml", "hyperpod-ns-ml-engineers"},
		{"hyperpod start-job -n hyperpod-ns-ml-engineers --priority fine", "fine-tuning-priority"},
		{"hyperpod start-job -n hyperpod-ns-ml-engineers --queue-name hyp", "hyperpod-ns-ml-engineers-localqueue"},
		{"hyperpod sandbox create lab --scenario lend", "lend-three"},
		{"hyperpod list-jobs --state Pree", "Preempted"},
		{"hyperpod start-job --template smpv2-llama2 --set CHECK", "--set CHECKPOINT_DIR="},
		{"hyperpod list-jobs -o custom-columns=CREA", "custom-columns=CREATIONTIME:.CreationTime"},
		{"hyperpod simulate --set interns.borrow-l", "interns.borrow-limit="},
		{"hyperpod report --team data-pl", "data-platform"},
		{"hyperpod get-clusters --region us-gov-e", "us-gov-east-1"},
		{"hyperpod simulate --add-team new=data-pl", "new=data-platform"},
		{"hyperpod record -n hyperpod-ns-ml-engineers --project-label kueue.x-k8s.io/que", "--project-label kueue.x-k8s.io/queue-name"},
		{"hyperpod list-jobs --namspace \t", "unknown flag --namspace; did you mean --namespace"},
		{"hyperpod list-jobs -n hyperpod-ns-ml-engineers -l kueue.x-k8s.io/queue", "kueue.x-k8s.io/queue-name=hyperpod-ns-ml-engineers-localqueue"},
	} {
		t.Run(c.typed, func(t *testing.T) {
			got := bash.start(t, env).press(t, c.typed+"\t", c.want)
			if !strings.Contains(got, c.want) {
				t.Errorf("after TAB the terminal shows %q, want %q in it", got, c.want)
			}
		})
	}
	for _, sh := range []shell{
		{"zsh", []string{"-f", "-i"}, "fpath=(" + completions + " $fpath); autoload -U compinit; compinit -u -D"},
		{"fish", []string{"--no-config", "--interactive"}, "source " + completions + "/hyperpod.fish"},
	} {
		t.Run(sh.name, func(t *testing.T) { inShell(t, sh, env) })
	}
	t.Run("silent on failure", func(t *testing.T) {
		broken := append([]string{"KUBECONFIG=" + filepath.Join(dir, "none")}, env...)
		broken = append(broken, "HYPERPOD_SANDBOX=")
		const want = "\nhyperpod get-job x ready"
		got := bash.start(t, broken).press(t, "hyperpod get-job x\t\x01echo \x05 ready\n", want)
		if !strings.Contains(got, want) || strings.Contains(strings.ToLower(got), "error") {
			t.Errorf("the terminal shows %q", got)
		}
	})
}

// inShell presses TAB in another shell, where it is installed. Its script shows the words of the
// same completions.
func inShell(t *testing.T, sh shell, env []string) {
	if _, err := exec.LookPath(sh.name); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v (test/install-tools installs it)", err)
		}
		t.Skip(sh.name + " is not installed: run test/install-tools")
	}
	const clearLine = "\x15"
	s := sh.start(t, env)
	for _, c := range []struct{ typed, want string }{
		{"hyperpod list-j", "list-jobs"},
		{"hyperpod list-jobs --namespace hyperpod-ns-ml", "hyperpod-ns-ml-engineers"},
		{"hyperpod start-job --template smpv2-ll", "smpv2-llama2"},
		{"hyperpod list-jobs -o custom-columns=CREA", "CREATIONTIME:.CreationTime"},
		{"hyperpod simulate --set interns.borrow-l", "interns.borrow-limit="},
	} {
		if got := s.press(t, clearLine+c.typed+"\t", c.want); !strings.Contains(got, c.want) {
			t.Errorf("%s: after TAB the terminal shows %q, want %q in it", c.typed, got, c.want)
		}
	}
}

// shell is an interactive shell; setup loads the completion script.
type shell struct {
	name  string
	args  []string
	setup string
}

// session is a shell on a terminal.
type session struct {
	tty    *os.File
	screen strings.Builder // what the terminal showed since the last keys
}

// start runs a shell with its completion script loaded.
func (sh shell) start(t *testing.T, env []string) *session {
	t.Helper()
	cmd := exec.Command(sh.name, sh.args...)
	cmd.Env = env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{tty: tty}
	// A terminal has no deadline: the end of the shell ends the reads.
	last := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		last.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		tty.Close()
	})
	s.press(t, sh.setup+"; echo re''ady\n", "ready\r\n")
	return s
}

// press types keys and returns what the terminal shows once want is there, or the shell has ended.
func (s *session) press(t *testing.T, keys, want string) string {
	t.Helper()
	s.screen.Reset()
	if _, err := s.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for !strings.Contains(s.screen.String(), want) {
		n, err := s.tty.Read(buf)
		s.screen.Write(buf[:n])
		if err != nil {
			break
		}
	}
	return s.screen.String()
}
