// Package crash kills writing commands at random points and checks that the next command
// finds a sane state. HYPERPOD_KILLS sets how many are killed (default 40, 12 with -short).
package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

const role = "HYPERPOD_TEST_COMMAND"

// TestMain makes this test's binary the command line, too.
func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		os.Exit(cli.Main(os.Args[1:], "v0.0.0-test"))
	}
	os.Exit(m.Run())
}

const (
	namespace = "hyperpod-ns-ml-engineers"
	job       = `apiVersion: v1
kind: ConfigMap
metadata: {name: NAME-settings, namespace: hyperpod-ns-ml-engineers}
data: {a: b}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: NAME, namespace: hyperpod-ns-ml-engineers, labels: {kueue.x-k8s.io/queue-name: hyperpod-ns-ml-engineers-localqueue}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: pytorch, image: i, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}
`
)

// home is a home folder with a sandbox.
type home struct {
	t    *testing.T
	dir  string
	path string // of the sandbox
}

func newHome(t *testing.T) home {
	t.Helper()
	h := home{t: t, dir: t.TempDir()}
	h.path = filepath.Join(h.dir, "hyperpod", "sandboxes", "lab.json")
	if _, err := sandbox.Create(context.Background(), h.path, "enterprise", sandbox.Options{}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h home) file(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = h.dir
	cmd.Env = []string{role + "=1", "HOME=" + h.dir, "HYPERPOD_SANDBOX=lab", "XDG_STATE_HOME=" + h.dir}
	return cmd
}

// run runs a command to its end and returns its exit code and both outputs.
func (h home) run(args ...string) (int, string) {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	code := 0
	if exit != nil {
		code = exit.ExitCode()
	}
	return code, string(out)
}

func (h home) ok(args ...string) string {
	h.t.Helper()
	code, out := h.run(args...)
	if code != 0 {
		h.t.Fatalf("hyperpod %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// jobs returns the names of the jobs in the namespace.
func (h home) jobs() []string {
	h.t.Helper()
	out, err := h.command("list-jobs", "-n", namespace, "-o", "json", "-q").Output()
	var doc struct{ Jobs []struct{ Name string } }
	if err != nil || json.Unmarshal(out, &doc) != nil {
		h.t.Fatalf("list-jobs: %v\n%s", err, out)
	}
	var names []string
	for _, j := range doc.Jobs {
		names = append(names, j.Name)
	}
	return names
}

// writer is a command that writes, and what must hold after it was killed.
type writer struct {
	name  string
	setup func(h home, id string)
	args  func(h home, id string) []string
	after func(h home, id string)
}

func start(h home, id string) []string {
	return []string{"start-job", "-f", h.file(id+".yaml", strings.ReplaceAll(job, "NAME", id)), "-q"}
}

func cancel(_ home, id string) []string {
	return []string{"cancel-job", id, "-n", namespace, "--ignore-not-found"}
}

var writers = []writer{
	{name: "start-job", args: start, after: func(h home, id string) {
		// The job is there or not; starting it again ends with exactly one.
		if code, out := h.run(start(h, id)...); code != 0 && !strings.Contains(out, "exists") {
			h.t.Errorf("start-job again: exit code %d\n%s", code, out)
		}
		n := 0
		for _, name := range h.jobs() {
			if name == id {
				n++
			}
		}
		if left, _ := h.run("get-job", id, "-n", namespace); n > 1 || n == 0 && left == 0 {
			h.t.Errorf("%d jobs %s", n, id)
		}
	}},
	{name: "cancel-job", setup: func(h home, id string) { h.ok(start(h, id)...) }, args: cancel, after: func(h home, id string) {
		h.ok(cancel(h, id)...)
		if slices.Contains(h.jobs(), id) {
			h.t.Errorf("%s is still there", id)
		}
	}},
	{name: "patch-job", setup: func(h home, id string) { h.ok(start(h, id)...) },
		args: func(_ home, id string) []string { return []string{"patch-job", "suspend", id, "-n", namespace} },
		after: func(h home, id string) {
			h.ok("patch-job", "suspend", id, "-n", namespace)
			h.ok("patch-job", "unsuspend", id, "-n", namespace)
		}},
	{name: "sandbox advance", args: func(home, string) []string { return []string{"sandbox", "advance", "1m"} }},
	{name: "save-snapshot", args: func(h home, _ string) []string {
		return []string{"save-snapshot", filepath.Join(h.dir, "s.json"), "-q"}
	},
		after: func(h home, _ string) {
			path := filepath.Join(h.dir, "s.json")
			if _, err := os.Stat(path); err != nil {
				return // the first was killed
			}
			if out, err := h.command("list-jobs", "-A", "--snapshot", path, "-q").CombinedOutput(); err != nil {
				h.t.Errorf("the snapshot: %v\n%s", err, out)
			}
		}},
	{name: "governance apply", setup: func(h home, id string) {
		text := h.ok("governance", "export", "-q")
		h.file("teams.yaml", text)
	}, args: func(h home, _ string) []string {
		return []string{"governance", "apply", filepath.Join(h.dir, "teams.yaml"), "--yes", "--backup", "none"}
	}, after: func(h home, _ string) {
		if code, out := h.run("governance", "plan", filepath.Join(h.dir, "teams.yaml")); code != 0 && code != 3 {
			h.t.Errorf("plan: exit code %d\n%s", code, out)
		}
	}},
}

func kills() int {
	if n, err := strconv.Atoi(os.Getenv("HYPERPOD_KILLS")); err == nil {
		return n
	}
	if testing.Short() {
		return 12
	}
	return 40
}

func TestKills(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 2))
	h := newHome(t)
	killed, last := map[string]int{}, sandboxTime(t, h)
	usual := map[string]time.Duration{}
	for i := range kills() {
		w, id := writers[i%len(writers)], fmt.Sprintf("job-%d", i)
		if w.setup != nil {
			w.setup(h, id)
		}
		cmd := h.command(w.args(h, id)...)
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		sig := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[r.IntN(2)]
		most := usual[w.name]
		if most == 0 {
			most = 300 * time.Millisecond
		}
		at := time.Duration(r.Int64N(int64(most) * 5 / 4))
		select {
		case <-ended:
		case <-time.After(at):
			_ = cmd.Process.Signal(sig)
			<-ended
			killed[w.name]++
		}
		if cmd.ProcessState.Success() {
			usual[w.name] = time.Since(begin)
		}
		what := fmt.Sprintf("%s, signal %v after %v", w.name, sig, at)
		if now := sandboxTime(t, h); now.Before(last) {
			t.Fatalf("%s: the sandbox's clock went back from %v to %v", what, last, now)
		} else {
			last = now
		}
		if w.after != nil {
			w.after(h, id)
		}
		h.ok("cancel-job", "--all", "--yes", "-n", namespace)
		if t.Failed() {
			t.Fatal(what)
		}
	}
	// A last write of each file sweeps what killed ones left.
	h.ok("save-snapshot", filepath.Join(h.dir, "s.json"), "-q")
	h.ok("sandbox", "advance", "1m")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(h.path), ".*.tmp"))
	more, err2 := filepath.Glob(filepath.Join(h.dir, ".*.tmp"))
	if err != nil || err2 != nil || len(left)+len(more) > 0 {
		t.Errorf("files are left: %v %v", left, more)
	}
	total := 0
	for _, n := range killed {
		total += n
	}
	t.Logf("%d of %d commands were killed before their end: %v", total, kills(), killed)
	if total < kills()/4 {
		t.Errorf("only %d commands were killed in time", total)
	}
}

// sandboxTime opens the sandbox's file, which must be whole, and returns its time.
func sandboxTime(t *testing.T, h home) time.Time {
	t.Helper()
	box, err := sandbox.Open(h.path, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return box.Now()
}

// Sixteen processes start jobs in one sandbox: none is lost or doubled.
func TestManyProcesses(t *testing.T) {
	h := newHome(t)
	before := len(h.jobs())
	var wg sync.WaitGroup
	outputs := make([]string, 16)
	for i := range outputs {
		args := start(h, fmt.Sprintf("many-%d", i))
		wg.Go(func() {
			out, err := h.command(args...).CombinedOutput()
			if err != nil {
				outputs[i] = fmt.Sprintf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	for _, o := range outputs {
		if o != "" {
			t.Error(o)
		}
	}
	names := h.jobs()
	if got := len(names) - before; got != len(outputs) {
		t.Errorf("%d jobs are new: %v", got, names)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != before+len(outputs) {
		t.Error("a job is there twice")
	}
}
