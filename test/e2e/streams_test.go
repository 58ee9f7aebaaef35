package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// forwardPorts: the bytes go through the real API server to KWOK's streams, and kubectl
// moves the same ones.
func forwardPorts(t *testing.T, bed *cluster.Bed) {
	giveKubelets(t, bed)
	admin := newUser(t, bed.Kubeconfig)
	admin.ok("start-job", "--name", "stream", "--template", "smpv2-llama2", "-n", engineers, "--wait", "--timeout", "60s")
	t.Run("port-forward", func(t *testing.T) {
		for name, u := range map[string]user{
			"websocket": admin.in(t),
			"spdy":      proxied(t, bed, fault.Rule{Method: "GET", Suffix: "/portforward", Status: 502}),
		} {
			t.Run(name, func(t *testing.T) { judgeForward(t, bed, u.in(t)) })
		}
	})
	t.Run("copy-file", func(t *testing.T) { judgeCopy(t, bed, admin.in(t)) })
	t.Run("a port that nothing serves", func(t *testing.T) {
		r := admin.in(t).start(t.Context(), "port-forward", "stream", ":9", "-n", engineers)
		port := forwardedPort(t, r.until(func(out string) bool { return forwardLine.MatchString(out) }))
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n, err := io.Copy(io.Discard, c); n != 0 {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("preempted in the middle", func(t *testing.T) {
		r := admin.in(t).start(t.Context(), "port-forward", "stream", ":7", "-n", engineers)
		r.until(func(out string) bool { return forwardLine.MatchString(out) })
		admin.in(t).ok("patch-job", "suspend", "stream", "-n", engineers)
		select {
		case <-r.done:
		case <-time.After(60 * time.Second):
			t.Fatalf("the command goes on: %s", r.errors())
		}
		if code := r.wait(); code != 8 || !strings.Contains(r.errors(), "job stream is suspended") {
			t.Errorf("exit code %d: %s", code, r.errors())
		}
	})
	admin.ok("cancel-job", "stream", "-n", engineers, "--wait", "--timeout", "60s")
}

// noise returns n bytes that do not compress, the same in every run.
func noise(n int) []byte {
	source := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(source.Uint32())
	}
	return out
}

// judgeForward sends bytes to a service that echoes them, through the command and through
// kubectl port-forward.
func judgeForward(t *testing.T, bed *cluster.Bed, u user) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ours := u.start(ctx, "port-forward", "stream", ":7", "-n", engineers)
	theirs := &running{u: u, done: make(chan struct{})}
	theirs.cmd = exec.CommandContext(ctx, bed.KubectlPath, "--kubeconfig", bed.Kubeconfig, "-n", engineers, "port-forward", "pod/stream-worker-0", ":7")
	theirs.cmd.Stdout, theirs.cmd.Stderr = side{theirs, &theirs.out}, side{theirs, &theirs.errOut}
	if err := theirs.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(theirs.done)
		_ = theirs.cmd.Wait() // ended by the context
	}()
	want := noise(1 << 20)
	for name, r := range map[string]*running{"hyperpod": ours, "kubectl": theirs} {
		port := forwardedPort(t, r.until(func(out string) bool { return forwardLine.MatchString(out) }))
		for i := range 2 {
			if got := echo(t, port, want); !bytes.Equal(got, want) {
				t.Errorf("%s, connection %d: %d bytes, want %d", name, i, len(got), len(want))
			}
		}
	}
	stop()
	<-ours.done
	<-theirs.done
}

// judgeCopy copies a folder from a pod through the real API server; kubectl cp copies the same bytes.
// Only downloads are judged here: KWOK v0.8.0 gives a command a pipe as stdin and never closes it
// (pkg/utils/exec/exec.go, Command), so tar waits forever for the end of an upload: kubectl cp hangs
// there too. It reports no exit codes either. Uploads are judged on the sandbox, over HTTP.
func judgeCopy(t *testing.T, bed *cluster.Bed, u user) {
	source, err := os.MkdirTemp("", "copied") // t.TempDir is closed to the user nobody, who runs the commands
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(source) })
	want := map[string][]byte{"big": noise(3 << 20), "empty": {}, "a b'c": []byte("text\n"), "sub/deep": noise(1000)}
	if err := errors.Join(os.Chmod(source, 0o755), os.Mkdir(filepath.Join(source, "sub"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, data := range want {
		if err := os.WriteFile(filepath.Join(source, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	to := t.TempDir()
	u.ok("copy-file", "stream:"+source, filepath.Join(to, "ours"), "-n", engineers)
	if _, err := bed.Kubectl(t.Context(), "cp", engineers+"/stream-worker-0:"+source, filepath.Join(to, "theirs")); err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"ours", "theirs"} {
		for name, data := range want {
			if got, err := os.ReadFile(filepath.Join(to, by, name)); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, %s: %d bytes, want %d; %v", by, name, len(got), len(data), err)
			}
		}
	}
}

var forwardLine = regexp.MustCompile(`127\.0\.0\.1:(\d+)`)

func forwardedPort(t *testing.T, line string) string {
	t.Helper()
	found := forwardLine.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("no port in %q", line)
	}
	if _, err := strconv.Atoi(found[1]); err != nil {
		t.Fatal(err)
	}
	return found[1]
}

// echo sends the bytes and returns as many as come back.
func echo(t *testing.T, port string, data []byte) []byte {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = c.Write(data) }() // what is missing is seen below
	got := make([]byte, len(data))
	n, err := io.ReadFull(c, got)
	if err != nil {
		t.Errorf("after %d bytes: %v", n, err)
	}
	return got[:n]
}
