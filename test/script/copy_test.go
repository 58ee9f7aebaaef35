package script

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestAPodThatEndsDuringACopy: the copy says what happened to the job, and that it is not complete.
func TestAPodThatEndsDuringACopy(t *testing.T) {
	t.Parallel()
	config := serveSandbox(t, "enterprise")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	server := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(text))
	const ns = "hyperpod-ns-researchers"
	suspend := sync.OnceFunc(func() {
		if out, err := command(t, []string{"hyperpod", "patch-job", "suspend", "vit-huge", "-n", ns}, []string{"KUBECONFIG=" + config}).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	behind := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(behind, []byte(strings.ReplaceAll(string(text), server, cutting(t, server, 256<<10, suspend))), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, []string{"hyperpod", "copy-file", file, "vit-huge:/data/large", "-n", ns}, []string{"KUBECONFIG=" + behind})
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); err == nil || code != 8 {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, want := range []string{"Error: the copy ended: job vit-huge is suspended", "what was copied so far is not complete"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// cutting passes connections on to a server. When one has sent so many bytes, it calls then,
// and closes the connection. It returns its address.
func cutting(t *testing.T, server string, most int64, then func()) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				t.Error(err)
				_ = from.Close()
				return
			}
			all.Go(func() {
				if n, _ := io.CopyN(to, from, most); n == most {
					then()
				}
				_ = errors.Join(from.Close(), to.Close())
			})
			all.Go(func() { _, _ = io.Copy(from, to) })
		}
	})
	return l.Addr().String()
}
