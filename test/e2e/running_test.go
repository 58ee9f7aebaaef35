package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"sync"
	"time"
)

// running is a command that goes on while the test does other things.
type running struct {
	u           user
	cmd         *exec.Cmd
	mu          sync.Mutex
	out, errOut bytes.Buffer
	done        chan struct{}
}

// side collects what a command writes.
type side struct {
	r  *running
	to *bytes.Buffer
}

func (s side) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.to.Write(p)
}

// start runs the command line in the background until ctx ends.
func (u user) start(ctx context.Context, args ...string) *running {
	u.t.Helper()
	r := &running{u: u, done: make(chan struct{})}
	r.cmd = exec.CommandContext(ctx, binary, args...)
	r.cmd.Env = []string{"HOME=" + u.home, "KUBECONFIG=" + u.kubeconfig, "PATH=" + os.Getenv("PATH"), "USER=ada"}
	r.cmd.Stdout, r.cmd.Stderr = side{r, &r.out}, side{r, &r.errOut}
	if err := r.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // the exit code tells
	}()
	return r
}

func (r *running) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func (r *running) errors() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errOut.String()
}

// until waits for something in what the command writes, and returns its output.
func (r *running) until(ready func(out string) bool) string {
	r.u.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(60 * time.Second)
	for !ready(r.output()) {
		select {
		case <-tick.C:
		case <-r.done:
			if !ready(r.output()) {
				r.u.t.Fatalf("it ended early: %s%s", r.output(), r.errors())
			}
		case <-late:
			r.u.t.Fatalf("in vain: %s%s", r.output(), r.errors())
		}
	}
	return r.output()
}

// wait returns the exit code.
func (r *running) wait() int {
	<-r.done
	return r.cmd.ProcessState.ExitCode()
}
