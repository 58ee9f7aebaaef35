package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// podLog is the log of every fake pod, in the format of container runtimes.
type podLog struct {
	t    *testing.T
	path string
	n    int
}

// write appends numbered lines, some of them odd: empty, of two streams, binary,
// in several parts.
func (l *podLog) write(count int) {
	l.t.Helper()
	var b bytes.Buffer
	for range count {
		l.n++
		stamp, stream := time.Now().UTC().Format(time.RFC3339Nano), "stdout"
		if l.n%7 == 0 {
			stream = "stderr"
		}
		text := fmt.Sprintf("line %d", l.n)
		switch l.n % 50 {
		case 3:
			text = ""
		case 5:
			text += " \x1b[31mred\x1b[0m \x1b]0;title\a \xff\xfe \u202e"
		case 9:
			for range 20 {
				fmt.Fprintf(&b, "%s %s P %s\n", stamp, stream, strings.Repeat("long ", 1600))
			}
		}
		fmt.Fprintf(&b, "%s %s F %s\n", stamp, stream, text)
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.Write(b.Bytes())
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// proxied offers a bed through a proxy with faults, over plain HTTP; the user is
// the administrator.
func proxied(t *testing.T, bed *cluster.Bed, rules ...fault.Rule) user {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", bed.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.TLSClientConfig.NextProtos = []string{"http/1.1"} // what is upgraded cannot be HTTP/2
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(bed.Server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, proxy.FlushInterval = transport, -1
	proxy.ErrorLog = nil
	server := httptest.NewServer(fault.New(proxy, rules...))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: p\nclusters: [{name: p, cluster: {server: %q}}]\n"+
		"contexts: [{name: p, context: {cluster: p, user: p}}]\nusers: [{name: p, user: {}}]\n", server.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return newUser(t, path)
}

// giveKubelets makes KWOK play the kubelets of nodes that a scenario made: it takes
// up those that are not ready, and writes its address into them.
func giveKubelets(t *testing.T, bed *cluster.Bed) {
	t.Helper()
	names, err := bed.Kubectl(t.Context(), "get", "nodes", "-o", "jsonpath={.items[*].metadata.name}")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(names) {
		_, err := bed.Kubectl(t.Context(), "patch", "node", name, "--subresource=status", "-p", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
		if err != nil {
			t.Fatal(err)
		}
	}
	err = bed.WaitFor(t.Context(), "the nodes' addresses", func(ctx context.Context) error {
		out, err := bed.Kubectl(ctx, "get", "nodes", "-o", `jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}`)
		if err == nil && len(strings.Fields(out)) != len(strings.Fields(names)) {
			err = fmt.Errorf("only %q", out)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// perPod sorts prefixed lines by pod.
func perPod(t *testing.T, text, separator string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(text) {
		pod, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), separator)
		if !ok {
			t.Fatalf("no pod before %.200q", line)
		}
		out[pod] = append(out[pod], rest)
	}
	return out
}

// logsAndExec: kubectl and stern are the judges.
func logsAndExec(t *testing.T, bed *cluster.Bed) {
	binaries, err := cluster.Build(t.Context(), t.Output(), cluster.Stern)
	if err != nil {
		t.Fatal(err)
	}
	giveKubelets(t, bed)
	admin := newUser(t, bed.Kubeconfig)
	admin.ok("start-job", "--name", "talk", "--template", "smpv2-llama2", "-n", engineers, "--wait", "--timeout", "60s")
	log := &podLog{t: t, path: bed.PodLog}
	log.write(2000)

	t.Run("kubectl logs", func(t *testing.T) {
		for _, args := range []string{"", "--timestamps", "--tail 7", "--since 1h", "--tail 0"} {
			ours := admin.in(t).ok(append([]string{"get-log", "talk", "-n", engineers, "--rank", "1"}, strings.Fields(args)...)...)
			theirs, err := bed.Kubectl(t.Context(), append([]string{"logs", "talk-worker-1", "-n", engineers}, strings.Fields(strings.Replace(args, "--since ", "--since=", 1))...)...)
			if err != nil || ours != theirs {
				t.Errorf("%s: %d bytes, kubectl says %d, %v", args, len(ours), len(theirs), err)
			}
		}
	})
	t.Run("stern", func(t *testing.T) { judgeByStern(t, bed, admin.in(t), binaries.Stern) })
	t.Run("exec", func(t *testing.T) {
		for name, u := range map[string]user{
			"websocket": admin.in(t),
			"spdy":      proxied(t, bed, fault.Rule{Method: "GET", Suffix: "/exec", Status: http.StatusBadGateway}),
		} {
			t.Run(name, func(t *testing.T) { judgeExec(t, bed, u.in(t)) })
		}
	})
	t.Run("rights", func(t *testing.T) {
		kubeconfig, err := bed.MemberKubeconfig(t.Context(), "ml-engineers")
		if err != nil {
			t.Fatal(err)
		}
		m := newUser(t, kubeconfig)
		if got := m.ok("get-log", "talk", "--tail", "1"); got == "" {
			t.Error("no log for a member of the team")
		}
		if r := m.run("exec", "talk", "--", "true"); r.code != 4 || !strings.Contains(r.stderr, `permission to create pods/exec in namespace `+engineers) {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
	})
	t.Run("follow through drops and both lives", func(t *testing.T) { bothLives(t, bed, admin.in(t), log) })
}

func judgeByStern(t *testing.T, bed *cluster.Bed, admin user, stern string) {
	cmd := exec.CommandContext(t.Context(), stern, "--kubeconfig", bed.Kubeconfig, "-n", engineers, "-l", "training.kubeflow.org/job-name=talk", "--no-follow",
		"--only-log-lines", "--color", "never", "--tail", "-1", "--since", "48h", "--template", `{{.PodName}} | {{.Message}}{{"\n"}}`, ".*")
	theirs, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := perPod(t, admin.ok("get-log", "talk", "-n", engineers, "--all-pods", "--prefix"), " | ")
	want := perPod(t, string(theirs), " | ")
	if len(want) != 2 || len(ours) != 2 {
		t.Fatalf("%d pods, stern has %d", len(ours), len(want))
	}
	for pod, lines := range want {
		if !slices.Equal(ours[pod], lines) {
			t.Errorf("%s: %d lines, stern has %d", pod, len(ours[pod]), len(lines))
		}
	}
}

// judgeExec compares bytes and exit codes with kubectl's.
func judgeExec(t *testing.T, bed *cluster.Bed, u user) {
	for name, c := range map[string]struct {
		stdin   string
		command []string
	}{
		"bytes":        {"", []string{"printf", `a\0b\033[31m\377 %s`, "x  y"}},
		"stderr, code": {"", []string{"sh", "-c", "echo out; echo err >&2; exit 7"}},
		"arguments":    {"", []string{"printf", `<%s>`, "a b", "", "*", "$HOME", "'"}},
		// KWOK does not tell a command that its input has ended.
		"stdin":  {strings.Repeat("some input\n", 20000), []string{"head", "-c", "220000"}},
		"a lot":  {"", []string{"head", "-c", "3000000", "/dev/zero"}},
		"killed": {"", []string{"sh", "-c", "exit 255"}},
	} {
		t.Run(name, func(t *testing.T) {
			flags := []string{}
			if c.stdin != "" {
				flags = []string{"-i"}
			}
			ours := u.in(t).runWith(c.stdin, binary, slices.Concat([]string{"exec", "talk", "-p", "talk-worker-0", "-n", engineers, "--quiet"}, flags, []string{"--"}, c.command))
			theirs := newUser(t, bed.Kubeconfig).runWith(c.stdin, bed.KubectlPath, slices.Concat([]string{"exec", "talk-worker-0", "-n", engineers}, flags, []string{"--"}, c.command))
			if theirs.code != 0 { // which KWOK words as its own failure, on stderr
				ours.stderr, theirs.stderr = "", ""
			}
			if ours != theirs {
				t.Errorf("%d %.200q %.200q, kubectl: %d %.200q %.200q", ours.code, ours.stdout, ours.stderr, theirs.code, theirs.stdout, theirs.stderr)
			}
		})
	}
	r := u.run("exec", "talk", "-n", engineers, "--all-pods", "--", "sh", "-c", "echo one; echo two; exit 3")
	got := perPod(t, r.stdout, " | ")
	for _, pod := range []string{"talk-worker-0", "talk-worker-1"} {
		if !slices.Equal(got[pod], []string{"one", "two"}) {
			t.Errorf("%s: %q", pod, got[pod])
		}
	}
	if r.code != 1 { // KWOK's word for every code; test/script has the others
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if r := u.run("exec", "talk", "-n", engineers, "-p", "talk-worker-0", "--", "no-such-program"); r.code == 0 || !strings.Contains(r.stderr, "no-such-program") {
		t.Errorf("a program that is not there: %d %s", r.code, r.stderr)
	}
	if r := u.run("exec", "talk", "-n", engineers, "-p", "talk-worker-0", "-c", "nope", "--", "true"); r.code != 5 || !strings.Contains(r.stderr, "containers:") {
		t.Errorf("a container that is not there: %d %s", r.code, r.stderr)
	}
}

// runWith runs a program with an input.
func (u user) runWith(stdin, program string, args []string) result {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), program, args...)
	cmd.Env = []string{"HOME=" + u.home, "KUBECONFIG=" + u.kubeconfig, "PATH=" + os.Getenv("PATH"), "USER=ada"}
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// bothLives follows a job that is preempted and comes back, through connections
// that break after every so many bytes.
func bothLives(t *testing.T, bed *cluster.Bed, admin user, log *podLog) {
	admin.ok("cancel-job", "talk", "-n", engineers)
	admin.ok("start-job", "--name", "low", "--template", "smpv2-llama2", "--node-count", "4", "--priority", "training", "-n", engineers, "--wait", "--timeout", "60s")
	u := proxied(t, bed,
		fault.Rule{Suffix: "/log", Cut: 9_000, Times: 4}, fault.Rule{Suffix: "/log", Cut: 333_333, Times: 4}, fault.Rule{Suffix: "/log", Drop: true, Times: 2},
		fault.Rule{Suffix: "/log", Status: 500, Times: 2}, fault.Rule{Suffix: "/log", Cut: 50_001, Times: 6})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "get-log", "low", "-n", engineers, "--all-pods", "--prefix", "-f", "--exit-code")
	cmd.Env = []string{"HOME=" + u.home, "KUBECONFIG=" + u.kubeconfig, "PATH=" + os.Getenv("PATH")}
	var stdout, stderr buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for range 10 {
		log.write(100)
	}
	first := log.n
	err := bed.WaitFor(ctx, "all lines of the first life", func(context.Context) error {
		if n := strings.Count(stdout.String(), fmt.Sprintf("line %d\n", first)); n != 4 {
			return fmt.Errorf("the last one came %d times\n%s", n, stderr.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before, err := bed.Kubectl(ctx, "get", "pods", "-n", engineers, "-o", "jsonpath={.items[*].metadata.uid}")
	if err != nil {
		t.Fatal(err)
	}
	admin.ok("start-job", "--name", "high", "--template", "smpv2-llama2", "--node-count", "3", "--priority", "inference", "-n", engineers, "--wait", "--timeout", "90s")
	log.write(100)
	admin.ok("cancel-job", "high", "-n", engineers)
	var after string
	err = bed.WaitFor(ctx, "the job's second life", func(ctx context.Context) error {
		after, err = bed.Kubectl(ctx, "get", "pods", "-n", engineers, "-l", "training.kubeflow.org/job-name=low", "--field-selector", "status.phase=Running", "-o", "jsonpath={.items[*].metadata.uid}")
		if err == nil && len(strings.Fields(after)) != 4 {
			err = fmt.Errorf("pods %q", after)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, uid := range strings.Fields(after) {
		if strings.Contains(before, uid) {
			t.Fatal("the job was not preempted")
		}
	}
	log.write(100)
	total := log.n
	for i := range 4 {
		if _, err := bed.Kubectl(ctx, "annotate", "pod", fmt.Sprintf("low-worker-%d", i), "-n", engineers, "testbed/complete-after=1s"); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if !strings.Contains(stderr.String(), "lost the connection to pod") || !strings.Contains(stderr.String(), "Preempted") {
		t.Errorf("it says\n%s", stderr.String())
	}
	// Every pod reads the same file, so each life shows each line once; the first
	// one as far as it was written then.
	for pod, lines := range perPod(t, stdout.String(), " | ") {
		seen := map[string]int{}
		for _, l := range lines {
			if i := strings.LastIndex(l, "line "); i >= 0 {
				seen[strings.Fields(l[i:])[1]]++
			}
		}
		for n := 1; n <= total; n++ {
			low, high := 2, 2 // once in each life
			switch {
			case n%50 == 3:
				low, high = 0, 0 // an empty line
			case n > first:
				// Written in the second life, or while the first was being ended: KWOK goes
				// on with a deleted pod's stream until we end it.
				low = 1
			}
			if got := seen[fmt.Sprint(n)]; got < low || got > high {
				t.Errorf("%s: line %d came %d times, want %d to %d", pod, n, got, low, high)
				break
			}
		}
	}
}

// buffer may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
