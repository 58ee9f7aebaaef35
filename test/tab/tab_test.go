// Package tab presses TAB in a real bash, in a real terminal.
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
	script, err := filepath.Abs("../../completions/hyperpod.bash")
	if err != nil {
		t.Fatal(err)
	}
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
		{"hyperpod list-jobs -n hyperpod-ns-ml-engineers -l kueue.x-k8s.io/queue", "kueue.x-k8s.io/queue-name=hyperpod-ns-ml-engineers-localqueue"},
	} {
		t.Run(c.typed, func(t *testing.T) {
			got := press(t, env, script, c.typed+"\t", c.want)
			if !strings.Contains(got, c.want) {
				t.Errorf("after TAB the terminal shows %q, want %q in it", got, c.want)
			}
		})
	}
	t.Run("silent on failure", func(t *testing.T) {
		broken := append([]string{"KUBECONFIG=" + filepath.Join(dir, "none")}, env...)
		broken = append(broken, "HYPERPOD_SANDBOX=")
		const want = "\nhyperpod get-job x ready"
		got := press(t, broken, script, "hyperpod get-job x\t\x01echo \x05 ready\n", want)
		if !strings.Contains(got, want) || strings.Contains(strings.ToLower(got), "error") {
			t.Errorf("the terminal shows %q", got)
		}
	})
}

// press types into an interactive bash that has the completion script loaded,
// and returns what the terminal shows once want is there, or after the deadline.
func press(t *testing.T, env []string, script, keys, want string) string {
	t.Helper()
	bash := exec.Command("bash", "--norc", "--noprofile", "-i")
	bash.Env = env
	tty, err := pty.StartWithSize(bash, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		tty.Close()
		_ = bash.Process.Kill()
		_ = bash.Wait()
	}()
	if err := tty.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	until := func(mark string) {
		buf := make([]byte, 4096)
		for !strings.Contains(screen.String(), mark) {
			n, err := tty.Read(buf)
			screen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}
	if _, err := tty.WriteString("source " + bashCompletion + "; source " + script + "; echo re''ady\n"); err != nil {
		t.Fatal(err)
	}
	until("\nready")
	screen.Reset()
	if _, err := tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	until(want)
	return screen.String()
}
