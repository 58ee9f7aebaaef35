package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// forwarding is a port-forward that runs beside a script.
type forwarding struct {
	cmd       *exec.Cmd
	addresses []string
	stderr    lockedBuffer
	ended     chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// forwardTimeout limits how long a script waits for a forward.
const forwardTimeout = time.Minute

// forwardCommands are what scripts do with `hyperpod port-forward`.
func forwardCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"forward": startForward,
		// fetch N PATH PATTERN: what an HTTP client gets from the Nth forwarded port.
		"fetch": func(ts *testscript.TestScript, neg bool, args []string) {
			if len(args) != 3 {
				ts.Fatalf("usage: fetch N PATH PATTERN")
			}
			client := http.Client{Timeout: forwardTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := client.Get("http://" + address(ts, args[0]) + args[1])
			var body []byte
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			switch {
			case neg && err == nil:
				ts.Fatalf("got %q", body)
			case !neg && err != nil:
				ts.Fatalf("%v", err)
			case !neg && !regexp.MustCompile(args[2]).Match(body):
				ts.Fatalf("got %q", body)
			}
		},
		// echoed N BYTES: that many bytes come back through the Nth forwarded port.
		"echoed": func(ts *testscript.TestScript, _ bool, args []string) {
			n, err := strconv.Atoi(args[1])
			ts.Check(err)
			sent := bytes.Repeat([]byte("0123456789abcdef"), n/16)
			conn, err := net.Dial("tcp", address(ts, args[0]))
			ts.Check(err)
			defer conn.Close()
			ts.Check(conn.SetDeadline(time.Now().Add(forwardTimeout)))
			go func() {
				_, _ = conn.Write(sent)
				_ = conn.(*net.TCPConn).CloseWrite()
			}()
			got, err := io.ReadAll(conn)
			if err != nil || !bytes.Equal(got, sent) {
				ts.Fatalf("%d of %d bytes came back: %v", len(got), len(sent), err)
			}
		},
		// forwarded PATTERN: what the forward wrote to stderr.
		"forwarded": func(ts *testscript.TestScript, _ bool, args []string) {
			awaitMatch(ts, args[0], server(ts).forward.stderr.String)
		},
		// opened PATTERN: the address that the browser got.
		"opened": func(ts *testscript.TestScript, _ bool, args []string) {
			awaitMatch(ts, args[0], func() string {
				data, _ := os.ReadFile(ts.MkAbs("opened"))
				return strings.TrimSpace(string(data))
			})
		},
		// inuse N ARGS...: another forward of the Nth local port.
		"inuse": func(ts *testscript.TestScript, neg bool, args []string) {
			_, port, _ := net.SplitHostPort(address(ts, args[0]))
			err := ts.Exec("hyperpod", append([]string{"port-forward", args[1], port + ":6006"}, args[2:]...)...)
			if neg == (err == nil) {
				ts.Fatalf("unexpected: %v", err)
			}
		},
		// ended CODE PATTERN: the forward ends by itself.
		"ended": func(ts *testscript.TestScript, _ bool, args []string) {
			f := server(ts).forward
			select {
			case <-f.ended:
			case <-time.After(forwardTimeout):
				ts.Fatalf("it goes on; stderr: %s", f.stderr.String())
			}
			if got := strconv.Itoa(f.cmd.ProcessState.ExitCode()); got != args[0] || !regexp.MustCompile(args[1]).MatchString(f.stderr.String()) {
				ts.Fatalf("exit code %s, %s", got, f.stderr.String())
			}
		},
	}
}

func address(ts *testscript.TestScript, n string) string {
	i, err := strconv.Atoi(n)
	ts.Check(err)
	return server(ts).forward.addresses[i]
}

func awaitMatch(ts *testscript.TestScript, pattern string, text func() string) {
	re := regexp.MustCompile(pattern)
	await(ts, func() bool { return re.MatchString(text()) }, func() string { return "no match for " + pattern + ": " + text() })
}

// await waits at most a minute until something holds.
func await(ts *testscript.TestScript, holds func() bool, missing func() string) {
	for end := time.Now().Add(forwardTimeout); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s", missing())
		}
	}
}

var listening = regexp.MustCompile(`^Forwarding from (\S+) to port \d+ of pod \S+\n$`)

// startForward starts `hyperpod port-forward` and waits until all its ports are open.
func startForward(ts *testscript.TestScript, _ bool, args []string) {
	var program string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, "hyperpod")); err == nil {
			program = path
			break
		}
	}
	ports := 0
	for _, a := range args {
		if strings.HasPrefix(a, ":") {
			ports++
		}
	}
	browser := ts.MkAbs("browser")
	ts.Check(os.WriteFile(browser, fmt.Appendf(nil, "#!/bin/sh\necho \"$1\" > %s\n", ts.MkAbs("opened")), 0o755))
	f := &forwarding{cmd: exec.Command(program, append([]string{"port-forward"}, args...)...), ended: make(chan struct{})}
	for _, name := range []string{"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "KUBECONFIG", "HYPERPOD_SANDBOX", "TZ", "USER", recordVariable} {
		f.cmd.Env = append(f.cmd.Env, name+"="+ts.Getenv(name))
	}
	f.cmd.Env = append(f.cmd.Env, "BROWSER="+browser)
	f.cmd.Dir = ts.MkAbs(".")
	f.cmd.Stderr = &f.stderr
	stdout, err := f.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(f.cmd.Start())
	lines := make(chan string)
	go func() {
		defer close(f.ended)
		var text []byte
		for b := make([]byte, 1); ; {
			if _, err := stdout.Read(b); err != nil {
				break
			}
			if text = append(text, b[0]); b[0] == '\n' {
				lines <- string(text)
				text = nil
			}
		}
		close(lines)
		_ = f.cmd.Wait()
	}()
	ts.Defer(func() {
		_ = f.cmd.Process.Kill()
		for range lines {
		}
		<-f.ended
	})
	for range ports {
		select {
		case line, ok := <-lines:
			m := listening.FindStringSubmatch(line)
			if !ok || m == nil {
				ts.Fatalf("line %q, stderr: %s", line, f.stderr.String())
			}
			f.addresses = append(f.addresses, m[1])
		case <-time.After(forwardTimeout):
			ts.Fatalf("nothing is forwarded: %s", f.stderr.String())
		}
	}
	server(ts).forward = f
}

// TestKubectlForwards: kubectl moves the same bytes through a served sandbox.
func TestKubectlForwards(t *testing.T) {
	t.Parallel()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	config := serveSandbox(t, "enterprise")
	for name, c := range map[string]struct{ program, want []string }{
		"kubectl":           {[]string{kubectl, "-n", "hyperpod-ns-researchers", "port-forward", "pod/vit-huge-worker-0", ":6006"}, []string{"KUBECTL_PORT_FORWARD_WEBSOCKETS=true"}},
		"kubectl over SPDY": {[]string{kubectl, "-n", "hyperpod-ns-researchers", "port-forward", "pod/vit-huge-worker-0", ":6006"}, []string{"KUBECTL_PORT_FORWARD_WEBSOCKETS=false"}},
		"hyperpod":          {[]string{"hyperpod", "-n", "hyperpod-ns-researchers", "port-forward", "vit-huge", ":6006"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, c.program, append(slices.Clone(c.want), "KUBECONFIG="+config))
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr lockedBuffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Wait() }()
			defer func() { _ = cmd.Process.Kill() }()
			first := make([]byte, 200)
			n, _ := stdout.Read(first)
			m := regexp.MustCompile(`from (127.0.0.1:\d+)`).FindSubmatch(first[:n])
			if m == nil {
				t.Fatalf("%s %s", first[:n], stderr.String())
			}
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			for range 3 {
				conn, err := net.Dial("tcp", string(m[1]))
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(forwardTimeout))
				sent := bytes.Repeat([]byte("bytes of a tensor\n"), 100_000)
				go func() {
					_, _ = conn.Write(sent)
					_ = conn.(*net.TCPConn).CloseWrite()
				}()
				got, err := io.ReadAll(conn)
				_ = conn.Close()
				if err != nil || !bytes.Equal(got, sent) {
					t.Fatalf("%d of %d bytes: %v; %s", len(got), len(sent), err, stderr.String())
				}
			}
		})
	}
}

// serveSandbox runs `hyperpod sandbox serve` and returns its kubeconfig.
func serveSandbox(t *testing.T, scenario string) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "served.kubeconfig")
	run := func(args ...string) *exec.Cmd {
		return command(t, append([]string{"hyperpod"}, args...), []string{"HOME=" + dir})
	}
	if out, err := run("sandbox", "create", "lab", "--scenario", scenario).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := run("sandbox", "serve", "lab", "--write-kubeconfig", config)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if n, err := stdout.Read(make([]byte, 200)); err != nil || n == 0 {
		t.Fatalf("the sandbox is not served: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return config
}

// command returns a process with few variables; "hyperpod" is this test's binary.
func command(t *testing.T, argv, env []string) *exec.Cmd {
	t.Helper()
	path := argv[0]
	if path == "hyperpod" {
		var err error
		if path, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TZ=UTC", "USER=ada"}, env...)
	return cmd
}

// TestKubectlCopies: what one program copies into a pod, the other reads.
func TestKubectlCopies(t *testing.T) {
	t.Parallel()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	config := serveSandbox(t, "enterprise")
	dir := t.TempDir()
	for name, data := range map[string][]byte{"large": bytes.Repeat([]byte("weights of a model\n"), 200_000), "sub/small": []byte("1"), "sub/empty": nil} {
		path := filepath.Join(dir, "from", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(argv ...string) {
		t.Helper()
		for {
			cmd := command(t, argv, []string{"KUBECONFIG=" + config})
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if bytes.Contains(out, []byte("Unknown stream id")) { // kubectl before v1.34 had not made its streams when data arrived
				continue
			}
			if err != nil {
				t.Fatalf("%q: %v\n%s", argv, err, out)
			}
			return
		}
	}
	const ns = "hyperpod-ns-researchers"
	run(kubectl, "-n", ns, "cp", "from", "vit-huge-worker-0:/data/by-kubectl")
	run("hyperpod", "copy-file", "-n", ns, "from", "vit-huge:/data/by-hyperpod")
	run(kubectl, "-n", ns, "cp", "vit-huge-worker-0:/data/by-hyperpod", "1")
	run("hyperpod", "copy-file", "-n", ns, "vit-huge:/data/by-kubectl", "2")
	run("hyperpod", "copy-file", "-n", ns, "vit-huge:/data/by-hyperpod/large", "3")
	run(kubectl, "-n", ns, "cp", "vit-huge-worker-0:/data/by-kubectl/large", "4")
	for _, pair := range [][2]string{{"1/large", "large"}, {"1/sub/small", "sub/small"}, {"1/sub/empty", "sub/empty"}, {"2/large", "large"}, {"2/sub/small", "sub/small"}, {"2/sub/empty", "sub/empty"}, {"3", "large"}, {"4", "large"}} {
		got, err := os.ReadFile(filepath.Join(dir, pair[0]))
		want, _ := os.ReadFile(filepath.Join(dir, "from", pair[1]))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d: %v", pair[0], len(got), len(want), err)
		}
	}
}
