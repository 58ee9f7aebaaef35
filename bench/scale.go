package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// scale runs commands on the API server that is part of the program (a snapshot, over HTTP), at sizes that a real one
// would take hours to fill: what grows with the cluster, and how.
func (b *bench) scale(ctx context.Context) error {
	fmt.Printf("\nscale, on the embedded API (medians of %d runs each%s)\n%-16s %-44s %8s %8s %9s %10s\n", scaleRuns, load(), "", "", "wall ms", "RSS MB", "requests", "answer KB")
	for _, n := range []int{100, 1000, 5000, 10000} {
		commands := []contender{
			{"kubectl get pytorchjobs -A", []string{b.kubectl, "get", "pytorchjobs", "-A"}},
			{"hyperpod list-jobs -A", []string{b.hyperpod, "list-jobs", "-A", "-o", "table"}},
			{"hyperpod explain-job", []string{b.hyperpod, "explain-job", "train-00042", "-n", "team-02", "-o", "table"}},
		}
		if err := b.sizes(ctx, count1000(n)+" jobs", fixture.Jobs(n), commands); err != nil {
			return err
		}
	}
	for _, n := range []int{1, 10, 100, 1000} {
		commands := []contender{
			{"kueuectl list clusterqueue", []string{b.kueuectl, "list", "clusterqueue"}},
			{"hyperpod get-quota", []string{b.hyperpod, "get-quota", "-o", "wide"}},
			{"hyperpod get-queue", []string{b.hyperpod, "get-queue", "-o", "table"}},
		}
		if err := b.sizes(ctx, count1000(n)+" queues", fixture.Queues(n), commands); err != nil {
			return err
		}
	}
	return nil
}

// scaleRuns is the number of counted runs of each command at each size.
const scaleRuns = 5

// count1000 writes a number with a comma between thousands.
func count1000(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// sizes runs the commands on a server with the objects of a cluster, and counts what they read.
func (b *bench) sizes(ctx context.Context, size string, from *fixture.Server, commands []contender) error {
	taken, err := snapshot.Capture(ctx, from.Client(), snapshot.Options{Now: fixture.Noon})
	if err != nil {
		return err
	}
	api := &fixture.Counter{API: taken.Handler()}
	server := httptest.NewServer(api)
	defer server.Close()
	kubeconfig := filepath.Join(b.dir, "scale.kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: b\nclusters: [{name: b, cluster: {server: %q}}]\n"+
		"contexts: [{name: b, context: {cluster: b, user: b}}]\nusers: [{name: b, user: {}}]\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		return err
	}
	cache := filepath.Join(b.dir, "scale-cache")
	env := append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+b.dir, "KUBECACHEDIR="+cache, "XDG_CACHE_HOME="+cache, "XDG_STATE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	for _, c := range commands {
		if c.args[0] == "" {
			continue // the peer is not there
		}
		var walls []time.Duration
		p := point{Cluster: size, Command: c.name}
		for round := range scaleRuns + 1 { // the first, which is not counted, learns the served versions
			api.Reset()
			u, err := b.once(ctx, env, c.args)
			if err != nil {
				return fmt.Errorf("%s: %w", size, err)
			}
			if round > 0 {
				walls, p.MemoryMB = append(walls, u.Wall), max(p.MemoryMB, u.RSSMB)
			}
		}
		p.WallMs, p.Requests, p.AnswerKB = ms(median(walls)), int(api.Requests.Load()), int(api.Bytes.Load()/1000)
		b.part.Scale = append(b.part.Scale, p)
		fmt.Printf("%-16s %-44s %8.1f %8.0f %9d %10d\n", size, c.name, p.WallMs, p.MemoryMB, p.Requests, p.AnswerKB)
	}
	return nil
}
