//go:build linux

// Package soak lets commands that run for hours run beside a cluster that changes, restarts and withdraws tokens.
// HYPERPOD_SOAK is how long (default 15s; make soak: 2h).
package soak

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"github.com/creack/pty"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
)

const (
	asHyperpod = "HYPERPOD_TEST_COMMAND"
	asPlugin   = "HYPERPOD_TEST_PLUGIN" // the file with the credential
)

// TestMain makes this test's binary the command line and the credential plugin, too.
func TestMain(m *testing.M) {
	if path := os.Getenv(asPlugin); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.Write(text)
		os.Exit(0)
	}
	if os.Getenv(asHyperpod) != "" {
		os.Exit(cli.Main(os.Args[1:], "v0.0.0-test"))
	}
	os.Exit(m.Run())
}

// follower is a command that runs until it is interrupted.
type follower struct {
	name   string
	args   []string
	screen bool // on a terminal of 80x24

	cmd    *exec.Cmd
	tty    *os.File
	ended  chan error
	stderr bytes.Buffer

	mu    sync.Mutex
	lines []string
	rss   []int // KiB, each second
}

func (f *follower) start(t *testing.T, dir, kubeconfig string) {
	t.Helper()
	f.cmd = exec.Command(os.Args[0], f.args...)
	f.cmd.Dir = dir
	f.cmd.Env = []string{asHyperpod + "=1", "HOME=" + dir, "KUBECONFIG=" + kubeconfig, "TERM=xterm", "LANG=C.UTF-8"}
	var out io.Reader
	var err error
	if f.screen {
		f.tty, err = pty.StartWithSize(f.cmd, &pty.Winsize{Rows: 24, Cols: 80})
		out = f.tty
	} else {
		f.cmd.Stderr = &f.stderr
		if out, err = f.cmd.StdoutPipe(); err == nil {
			err = f.cmd.Start()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		if f.screen {
			_, _ = io.Copy(io.Discard, out)
			return
		}
		for s := bufio.NewScanner(out); s.Scan(); {
			f.mu.Lock()
			f.lines = append(f.lines, s.Text())
			f.mu.Unlock()
		}
	}()
	f.ended = make(chan error, 1)
	go func() { <-read; f.ended <- f.cmd.Wait() }()
}

// sample records the memory; an error if the command has ended.
func (f *follower) sample() error {
	select {
	case err := <-f.ended:
		f.ended <- err
		return fmt.Errorf("%s ended early: %w\n%s", f.name, err, f.stderr.String())
	default:
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.cmd.Process.Pid))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest + " 0")[0])
	f.rss = append(f.rss, kib)
	return err
}

// stop ends the command and returns its exit code and CPU time.
func (f *follower) stop() (int, time.Duration) {
	_ = f.cmd.Process.Signal(syscall.SIGTERM)
	err := <-f.ended
	if f.tty != nil {
		_ = f.tty.Close()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return -1, 0
	}
	s := f.cmd.ProcessState
	return s.ExitCode(), s.UserTime() + s.SystemTime()
}

func length(t *testing.T) time.Duration {
	text := cmp.Or(os.Getenv("HYPERPOD_SOAK"), "15s")
	d, err := time.ParseDuration(text)
	if err != nil || d < 10*time.Second {
		t.Fatalf("invalid HYPERPOD_SOAK %q: must be a duration of at least 10s", text)
	}
	return d
}

// life is when a job of the churn was created and deleted.
type life struct{ from, to time.Time }

func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for 15 seconds")
	}
	d, dir := length(t), t.TempDir()
	c := newCluster(t, dir)
	config := filepath.Join(dir, "kubeconfig")
	if err := c.kubeconfig(config); err != nil {
		t.Fatal(err)
	}
	c.create(steady)
	followers := []*follower{
		{name: "list-jobs --watch", args: []string{"list-jobs", "-A", "--watch", "-o", "json"}},
		{name: "get-quota --watch", args: []string{"get-quota", "--watch", "-o", "json"}},
		{name: "get-log -f", args: []string{"get-log", steady, "-f"}},
		{name: "record", args: []string{"record", "--every", "2s", "--directory", filepath.Join(dir, "history")}},
		{name: "dashboard", args: []string{"dashboard"}, screen: true},
	}
	for _, f := range followers {
		f.start(t, dir, config)
	}
	lives := churn(t, c, d, followers)
	c.remove(steady)
	settled(followers[0], steady)
	var report []string
	for _, f := range followers {
		code, cpu := f.stop()
		// record fails if the server was down at its last sample.
		if code != 130 && code != 0 && (f.name != "record" || code != 1) {
			t.Errorf("%s: exit code %d\n%s", f.name, code, f.stderr.String())
		}
		peak := slices.Max(f.rss)
		if peak > 300<<10 {
			t.Errorf("%s: %d MiB of memory", f.name, peak>>10)
		}
		// Medians, because a garbage collection moves single samples; a short run has none to compare.
		second, last := median(f.rss[len(f.rss)/4:len(f.rss)/2]), median(f.rss[len(f.rss)*3/4:])
		if d >= 5*time.Minute && last > second*5/4+8<<10 {
			t.Errorf("%s: memory grows from %d to %d MiB", f.name, second>>10, last>>10)
		}
		report = append(report, fmt.Sprintf("%s %d → %d MiB, %.1f %% of a core", f.name, second>>10, last>>10, 100*cpu.Seconds()/d.Seconds()))
	}
	seen := c.checkJobs(followers[0], lives)
	n := checkLog(t, followers[2])
	for _, line := range followers[1].lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("get-quota --watch: not JSON: %.200s", line)
		}
	}
	read := exec.Command(os.Args[0], "report", "--directory", filepath.Join(dir, "history"), "-o", "json")
	read.Env = []string{asHyperpod + "=1", "HOME=" + dir, "KUBECONFIG=" + config}
	if out, err := read.Output(); err != nil || !json.Valid(out) {
		t.Errorf("report: %v\n%.500s", err, out)
	}
	if c.refused == 0 || len(c.restarts) == 0 || n < int(d/lineEvery)/2 || seen < len(lives)/2 {
		t.Errorf("tame: %d requests refused, %d restarts, %d lines, %d of %d jobs", c.refused, len(c.restarts), n, seen, len(lives))
	}
	fmt.Printf("soak: %s, %d jobs created and deleted, %d restarts, %d requests with an expired token, %d lines of a log, none missed or doubled; memory after a quarter and at the end: %s\n",
		d, len(lives), len(c.restarts), c.refused, n, strings.Join(report, "; "))
}

// churn creates and deletes five jobs each second, restarts the server and replaces tokens.
func churn(t *testing.T, c *cluster, d time.Duration, followers []*follower) map[string]life {
	t.Helper()
	const alive = 20 // jobs at a time: each lives for 4 s
	lives := map[string]life{}
	end, tick := time.Now().Add(d), time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	restart, rotate := max(d/20, 5*time.Second), max(d/30, 4*time.Second)
	nextRestart, nextToken := time.Now().Add(restart), time.Now().Add(rotate)
	for i := 0; time.Now().Before(end); i++ {
		<-tick.C
		name := fmt.Sprintf("churn-%d", i)
		c.create(name)
		lives[name] = life{from: time.Now()}
		if i >= alive {
			last := fmt.Sprintf("churn-%d", i-alive)
			c.remove(last)
			lives[last] = life{lives[last].from, time.Now()}
		}
		if i%5 == 0 {
			for _, f := range followers {
				if err := f.sample(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if time.Now().After(nextToken) {
			c.rotate(i + 1)
			nextToken = time.Now().Add(rotate)
		}
		if time.Now().After(nextRestart) {
			c.restart(500 * time.Millisecond)
			nextRestart = time.Now().Add(restart)
		}
	}
	for i := range len(lives) {
		name := fmt.Sprintf("churn-%d", i)
		if l := lives[name]; l.to.IsZero() {
			c.remove(name)
			lives[name] = life{l.from, time.Now()}
		}
	}
	return lives
}

// settled waits until list-jobs --watch has printed that a job was deleted.
func settled(f *follower, name string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		f.mu.Lock()
		found := slices.ContainsFunc(f.lines, func(l string) bool {
			return strings.Contains(l, `"DELETED"`) && strings.Contains(l, `"`+name+`"`)
		})
		f.mu.Unlock()
		if found {
			return
		}
	}
}

// checkJobs compares what list-jobs --watch printed with what happened: no job is added or deleted twice, none changes
// before it is added, all are deleted at the end, and each one is printed that lived while no restart was near. It returns
// how many were printed.
func (c *cluster) checkJobs(f *follower, lives map[string]life) int {
	c.t.Helper()
	states := map[string]string{}
	for _, line := range f.lines {
		var row struct{ Type, Name string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			c.t.Errorf("list-jobs --watch: not a row: %.200s", line)
			continue
		}
		before := states[row.Name]
		if (row.Type == "ADDED") != (before == "" || before == "DELETED" && row.Name != steady) || before == "DELETED" {
			c.t.Errorf("list-jobs --watch: %s is %s after %q", row.Name, row.Type, before)
		}
		states[row.Name] = row.Type
	}
	seen := 0
	for name, l := range lives {
		switch state := states[name]; {
		case state == "DELETED":
			seen++
		case state != "":
			c.t.Errorf("list-jobs --watch: the deletion of %s is missing", name)
		case !slices.ContainsFunc(c.restarts, func(at time.Time) bool { return l.from.Before(at.Add(10*time.Second)) && l.to.After(at) }) && l.from.After(c.began.Add(5*time.Second)):
			c.t.Errorf("list-jobs --watch: %s is missing, which lived from %s to %s", name, l.from.Format(time.TimeOnly), l.to.Format(time.TimeOnly))
		}
	}
	return seen
}

// checkLog checks that each line of the log is printed once and in order, and returns their number.
func checkLog(t *testing.T, f *follower) int {
	t.Helper()
	for i, line := range f.lines {
		if line != fmt.Sprintf("line %d", i+1) {
			t.Errorf("get-log -f: line %d is %q", i+1, line)
			return i
		}
	}
	return len(f.lines)
}

func median(values []int) int {
	values = slices.Sorted(slices.Values(values))
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}
