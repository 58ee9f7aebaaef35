package script

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnUploadToAClaimThatEnds: whatever ends the copy, no job is created, and the job that receives the files is gone.
// An interrupted upload also removes its part.
func TestAnUploadToAClaimThatEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	t.Parallel()
	const ns = "hyperpod-ns-researchers"
	config := serveSandbox(t, "enterprise")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	server := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(text))
	run := func(args ...string) (string, error) {
		out, err := command(t, append([]string{"hyperpod", "-n", ns}, args...), []string{"KUBECONFIG=" + config}).CombinedOutput()
		return string(out), err
	}
	dir := t.TempDir()
	code := filepath.Join(dir, "code")
	claim := filepath.Join(dir, "claim.yaml")
	for name, data := range map[string][]byte{claim: []byte("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: shared}\nspec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}\n"),
		filepath.Join(code, "large"): make([]byte, 4<<20)} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := run("start-job", "-f", claim); err != nil {
		t.Fatal(out)
	}
	start := []string{"start-job", "--image", "example.com/i:1", "--instance-type", "ml.p5.48xlarge", "--accelerators", "1", "--command", "python", "--entry-script", "t.py",
		"--priority", "inference", "--upload", code, "--upload-pvc", "shared", "--name"}
	loader := regexp.MustCompile(`through job (\S+)`)
	for name, c := range map[string]struct {
		code int
		want string
		then func(cmd *exec.Cmd, loader string, said *locked)
	}{
		"interrupted": {130, "interrupted", func(cmd *exec.Cmd, _ string, said *locked) {
			_ = cmd.Process.Signal(os.Interrupt)
			// The connection is cut afterwards: a cut that comes first is another error.
			for end := time.Now().Add(time.Minute); !strings.Contains(said.String(), "interrupted") && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			}
		}},
		"the loader is suspended": {8, "is suspended", func(_ *exec.Cmd, loader string, _ *locked) {
			if out, err := run("patch-job", "suspend", "Job/"+loader); err != nil {
				t.Error(out)
			}
		}},
	} {
		var cmd *exec.Cmd
		var said locked
		behind := filepath.Join(t.TempDir(), "kubeconfig")
		then := sync.OnceFunc(func() {
			found := loader.FindStringSubmatch(said.String())
			if found == nil {
				t.Errorf("%s: no loader in %s", name, said.String())
				return
			}
			c.then(cmd, found[1], &said)
		})
		if err := os.WriteFile(behind, []byte(strings.ReplaceAll(string(text), server, cutting(t, server, 512<<10, then))), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd = command(t, append([]string{"hyperpod"}, append(start, "cut", "-n", ns)...), []string{"KUBECONFIG=" + behind})
		cmd.Stderr = &said
		err := cmd.Run()
		if got := cmd.ProcessState.ExitCode(); err == nil || got != c.code || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: exit code %d, want %d: %s", name, got, c.code, said.String())
		}
		if out, _ := run("list-jobs", "-o", "name"); strings.Contains(out, "cut") {
			t.Errorf("%s: %s", name, out)
		}
	}
	out, err := run(append(start, "whole", "--persistent-volume-claims", "shared:/claim", "--wait", "--timeout", "30s")...)
	if err != nil || strings.Contains(out, "has these files already") {
		t.Fatal(out)
	}
	// The suspended loader could not remove its part: a later loader does, once it is old.
	if out, err := run("exec", "whole", "-q", "--", "ls", "/claim/hyperpod-code"); err != nil || len(strings.Fields(out)) != 2 || strings.Count(out, ".") != 1 {
		t.Errorf("the claim has %s, %v", out, err)
	}
	if out, err := run("exec", "whole", "-q", "--", "wc", "-c", "/code/large"); err != nil || !strings.HasPrefix(out, "4194304") {
		t.Errorf("%s, %v", out, err)
	}
}

// locked is a buffer that may be read while it is written.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
