package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hyperpod-cli/hyperpod/bench/usage"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const (
	logPods = 64
	logRate = 2000 // lines a second of all pods together
)

// follower is a program that follows the bench's job, to the end or until it is stopped.
type follower struct {
	name string
	args []string
	ends bool // of itself
}

// logUse is what following cost, and what came of it.
type logUse struct {
	usage.Usage
	lost, twice int
	first       time.Duration // from the API's first byte to the first line
}

// logs follows 64 pods with hyperpod and with stern, in turn, on a loopback API.
func (b *bench) logs(ctx context.Context, d time.Duration) error {
	binaries, err := cluster.Build(ctx, os.Stderr, cluster.Stern)
	if err != nil {
		return err
	}
	fmt.Printf("\nget-log -f: %d pods, %d lines/s in all, %s\n%-12s %8s %8s %6s %6s %14s\n", logPods, logRate, d, "", "CPU ms", "RSS MB", "lost", "twice", "first line ms")
	var cpu [2]time.Duration
	var ours logUse // the worst of each
	rounds := max(1, b.runs/5)
	for range rounds {
		for i, f := range []follower{
			{"stern", []string{binaries.Stern, "-n", logNamespace, "-l", logSelector, "--only-log-lines", "--container-state", "all", "--max-log-requests", "100", "--color", "never",
				"--template", `{{.PodName}} | {{.Message}}{{"\n"}}`}, false},
			{"hyperpod", []string{b.hyperpod, "get-log", "bench", "--kind", "pytorchjob", "-n", logNamespace, "--all-pods", "--prefix", "-f", "--exit-code", "-q"}, true},
		} {
			u, err := b.followLogs(ctx, f, d)
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			cpu[i] += u.CPU
			if f.ends {
				ours.lost, ours.twice, ours.RSSMB, ours.first = max(ours.lost, u.lost), max(ours.twice, u.twice), max(ours.RSSMB, u.RSSMB), max(ours.first, u.first)
			}
			fmt.Printf("%-12s %8.0f %8.0f %6d %6d %14.1f\n", f.name, ms(u.CPU), u.RSSMB, u.lost, u.twice, ms(u.first))
		}
	}
	b.part.Ratios = append(b.part.Ratios, ratioOf{fmt.Sprintf("get-log -f, %d pods, %d lines/s: CPU", logPods, logRate), "stern", float64(cpu[1]) / float64(cpu[0]), 1.5})
	fmt.Printf("CPU against stern's: %.2f (budget 1.5); budgets: nothing lost or twice, 100 MB, 50 ms\n", float64(cpu[1])/float64(cpu[0]))
	name := fmt.Sprintf("get-log -f, %d pods, %d lines/s: ", logPods, logRate)
	b.part.add(name+"lines lost or twice", float64(ours.lost+ours.twice), "lines", 0)
	b.part.add(name+"memory", ours.RSSMB, "MB", 100)
	b.part.add(name+"first line after the API's first byte", ms(ours.first), "ms", 50)
	return nil
}

// followLogs runs one follower on a server of its own.
func (b *bench) followLogs(ctx context.Context, f follower, d time.Duration) (logUse, error) {
	api := newLogServer(logPods, logRate, d)
	server := httptest.NewServer(api)
	defer server.Close()
	defer server.CloseClientConnections()
	kubeconfig := filepath.Join(b.dir, "logs.kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: b\nclusters: [{name: b, cluster: {server: %q}}]\n"+
		"contexts: [{name: b, context: {cluster: b, user: b}}]\nusers: [{name: b, user: {}}]\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		return logUse{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d+time.Minute)
	defer cancel()
	into := filepath.Join(b.dir, "logs-usage.json")
	cmd := b.measured(ctx, into, f.args)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return logUse{}, err
	}
	if err := cmd.Start(); err != nil {
		return logUse{}, err
	}
	count := newTally(api, f)
	count.read(out, cmd.Process)
	err = cmd.Wait()
	if err != nil && f.ends {
		return logUse{}, err
	}
	used, err := readUsage(into)
	if err != nil {
		return logUse{}, err
	}
	u := logUse{Usage: used}
	u.lost, u.twice, u.first = count.result()
	return u, nil
}

// tally counts the lines that arrive.
type tally struct {
	api   *logServer
	f     follower
	seen  map[string]int
	first time.Time
}

func newTally(api *logServer, f follower) *tally {
	return &tally{api: api, f: f, seen: make(map[string]int, api.pods*api.perPod)}
}

// read reads to the end; a follower that does not end by itself is stopped when everything has arrived, or
// nothing arrives any more.
func (t *tally) read(out io.Reader, p *os.Process) {
	stop := func() { _ = p.Signal(syscall.SIGINT) }
	if !t.f.ends {
		go func() {
			<-t.api.over
			<-time.After(2 * time.Second) // for what is on its way
			stop()
		}()
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if t.first.IsZero() {
			t.first = time.Now()
		}
		pod, text, _ := strings.Cut(lines.Text(), " | ")
		if fields := strings.Fields(text); len(fields) > 3 {
			t.seen[pod+" "+fields[3]]++
		}
	}
}

func (t *tally) result() (lost, twice int, first time.Duration) {
	for _, n := range t.seen {
		twice += n - 1
	}
	return t.api.pods*t.api.perPod - len(t.seen), twice, t.first.Sub(time.Unix(0, t.api.firstByte.Load()))
}
