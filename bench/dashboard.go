package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// dashboard measures the screen on 2,000 jobs, half of them pending: the first figures, an update, and what it costs
// when nothing happens.
func (b *bench) dashboard(ctx context.Context) error {
	box, err := sandbox.Create(ctx, filepath.Join(b.dir, "dashboard"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		return err
	}
	many := &manyJobs{base: box, changed: make(chan struct{})}
	server := httptest.NewServer(many)
	defer func() { _ = server.Config.Close() }()
	kubeconfig := filepath.Join(b.dir, "dashboard.kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: b\nclusters: [{name: b, cluster: {server: %q}}]\ncontexts: [{name: b, context: {cluster: b, user: b}}]\nusers: [{name: b, user: {}}]\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.hyperpod, "dashboard")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "TERM=xterm-256color", "HYPERPOD_SANDBOX=", "LC_ALL=C.UTF-8")
	begun := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		return err
	}
	defer terminal.Close()
	defer func() { _ = cmd.Process.Kill() }() // after an error
	screen := &screenText{changed: make(chan struct{}, 1)}
	crash.Go(func() { _, _ = io.Copy(screen, terminal) })
	if err := screen.until(ctx, "accelerators used"); err != nil {
		return err
	}
	first := time.Since(begun)
	if _, err := terminal.WriteString("3"); err != nil {
		return err
	}
	if err := screen.until(ctx, "train-0001"); err != nil {
		return err
	}
	screen.clear()
	begun = time.Now()
	many.fail()
	if err := screen.until(ctx, "failed"); err != nil {
		return err
	}
	update := time.Since(begun)
	const quiet = 20 * time.Second
	before, err := cpuOf(cmd.Process.Pid)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(quiet):
	}
	after, err := cpuOf(cmd.Process.Pid)
	if err != nil {
		return err
	}
	peak, err := peakMB(cmd.Process.Pid)
	if err != nil {
		return err
	}
	if _, err := terminal.WriteString("q"); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	name := fmt.Sprintf("dashboard, %d jobs: ", manyCount)
	b.part.add(name+"first figures", ms(first), "ms", 500)
	b.part.add(name+"an update", ms(update), "ms", 200)
	b.part.add(name+"idle", 100*(after-before).Seconds()/quiet.Seconds(), "% of a core", 3)
	b.part.add(name+"memory", peak, "MB", 120)
	fmt.Printf("dashboard, %d jobs (load %s): first figures %.0f ms; an update %.0f ms; idle %.1f %% of a core (budget 3); memory %.0f MB (budget 120)\n",
		manyCount, load(), ms(first), ms(update), 100*(after-before).Seconds()/quiet.Seconds(), peak)
	return nil
}

// screenText is what a terminal got since it was cleared.
type screenText struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

// Write implements io.Writer.
func (s *screenText) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.text.Write(p)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *screenText) clear() {
	s.mu.Lock()
	s.text.Reset()
	s.mu.Unlock()
}

func (s *screenText) until(ctx context.Context, text string) error {
	end := time.After(time.Minute)
	for {
		s.mu.Lock()
		got := s.text.String()
		s.mu.Unlock()
		if strings.Contains(got, text) {
			return nil
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			return fmt.Errorf("no %q on the screen: %q", text, got)
		}
	}
}

const manyCount = 2000

// manyJobs is a sandbox with other jobs: its lists of PyTorchJobs and workloads have manyCount.
type manyJobs struct {
	base    http.Handler
	once    sync.Once
	changed chan struct{} // closed when the first job fails
}

func (m *manyJobs) fail() { m.once.Do(func() { close(m.changed) }) }

// ServeHTTP implements http.Handler.
func (m *manyJobs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var of func(i int, failed bool) object
	switch {
	case strings.HasSuffix(r.URL.Path, "/pytorchjobs"):
		of = manyJob
	case strings.HasSuffix(r.URL.Path, "/workloads"):
		of = manyWorkload
	default:
		m.base.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		items := make([]object, manyCount)
		for i := range items {
			items[i] = of(i, false)
		}
		_ = json.NewEncoder(w).Encode(object{"kind": "List", "apiVersion": "v1", "metadata": object{"resourceVersion": "1"}, "items": items})
		return
	}
	control := http.NewResponseController(w)
	if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	select {
	case <-m.changed:
		_ = json.NewEncoder(w).Encode(object{"type": "MODIFIED", "object": of(0, true)})
		_ = control.Flush()
		<-r.Context().Done()
	case <-r.Context().Done():
	}
}

func manyMeta(i int, failed bool) object {
	version := "1"
	if failed {
		version = "2"
	}
	return object{"name": fmt.Sprintf("train-%04d", i), "namespace": "hyperpod-ns-researchers", "uid": fmt.Sprintf("uid-%04d", i), "resourceVersion": version,
		"creationTimestamp": "2026-01-02T03:00:00Z", "labels": object{"kueue.x-k8s.io/queue-name": "hyperpod-ns-researchers-localqueue"}}
}

func manyJob(i int, failed bool) object {
	condition := "Running"
	if failed {
		condition = "Failed"
	}
	var o object
	_ = json.Unmarshal(job(cluster.Team{Name: "researchers"}, i), &o) // it was encoded here
	o["metadata"], o["status"] = manyMeta(i, failed), object{"conditions": []any{object{"type": condition, "status": "True", "lastTransitionTime": "2026-01-02T04:00:00Z"}}}
	if i%2 == 1 {
		delete(o, "status")
		o["spec"].(object)["runPolicy"] = object{"suspend": true}
	}
	return o
}

func manyWorkload(i int, _ bool) object {
	meta := manyMeta(i, false)
	meta["ownerReferences"] = []any{object{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": meta["name"], "uid": meta["uid"], "controller": true}}
	meta["uid"] = fmt.Sprintf("workload-%04d", i)
	o := object{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": meta,
		"spec": object{"queueName": "hyperpod-ns-researchers-localqueue", "podSets": []any{object{"name": "worker", "count": 1, "template": object{
			"spec": object{"containers": []any{object{"name": "pytorch", "resources": object{"requests": object{"nvidia.com/gpu": "1"}}}}}}}}}}
	if i%2 == 0 {
		o["status"] = object{"admission": object{"clusterQueue": "hyperpod-ns-researchers-clusterqueue", "podSetAssignments": []any{object{"name": "worker", "flavors": object{"nvidia.com/gpu": "ml.p5.48xlarge"}, "resourceUsage": object{"nvidia.com/gpu": "1"}, "count": 1}}},
			"conditions": []any{object{"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2026-01-02T03:30:00Z", "reason": "QuotaReserved", "message": ""}, object{"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-02T03:30:00Z", "reason": "Admitted", "message": ""}}}
	}
	return o
}

// cpuOf returns the processor time of a running process, from Linux's /proc/PID/stat (proc(5)): ticks of 10 ms.
func cpuOf(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("unknown form of /proc/%d/stat", pid)
	}
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond, nil
}

// peakMB returns the most memory that a running process has held so far, in MB, from Linux's /proc/PID/status (VmHWM).
func peakMB(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/%d/status", pid)
}
