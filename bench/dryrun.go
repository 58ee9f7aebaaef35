package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// dryRun times start-job --dry-run --snapshot FILE, the whole process, at the size
// that the checker's budgets are set for: 1,000 admitted and 5,000 waiting workloads
// in 100 queues. There is nothing to compare it with; the budgets are in milliseconds.
func (b *bench) dryRun(ctx context.Context) error {
	const budget, withEstimate = 700 * time.Millisecond, 2 * time.Second
	env := append(os.Environ(), "HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	fmt.Printf("\nstart-job --dry-run --snapshot FILE, 100 queues, 6,000 workloads (medians of %d runs each, in turn%s)\n%-54s %8s %8s %10s %9s\n",
		b.runs, load(), "", "wall ms", "fastest", "budget ms", "of budget")
	type run struct {
		name string
		question
		args   []string
		budget time.Duration
		walls  []time.Duration
	}
	var all []*run
	for _, strategy := range []string{"BestEffortFIFO", "StrictFIFO"} {
		taken, err := snapshot.Capture(ctx, fixture.Big(`"queueingStrategy":"`+strategy+`"`).Client(), snapshot.Options{Now: fixture.Noon})
		if err != nil {
			return err
		}
		file := filepath.Join(b.dir, strategy+".json")
		if _, err := taken.Save(file, snapshot.SaveOptions{}); err != nil {
			return err
		}
		for _, q := range []struct {
			question
			more   []string
			budget time.Duration
		}{
			{question{what: "waits behind 50", queue: "queue", pods: 4, exit: 8}, nil, budget},
			{question{what: "waits, first of its queue", queue: "queue", pods: 11, exit: 8}, []string{"--priority", "training"}, budget},
			{question{what: "waits, with an estimate", queue: "queue", pods: 4, exit: 8}, []string{"--assume-duration", "4h"}, withEstimate},
			{question{what: "never runs", queue: "queue", pods: 2000, exit: 3}, nil, budget},
		} {
			manifest := filepath.Join(b.dir, fmt.Sprintf("%s-%d.json", strategy, q.pods))
			if err := os.WriteFile(manifest, q.job("bench"), 0o600); err != nil {
				return err
			}
			all = append(all, &run{name: strategy + ", a job that " + q.what, question: q.question, budget: q.budget,
				args: append([]string{b.hyperpod, "start-job", "-f", manifest, "-n", "team-42", "--dry-run", "--snapshot", file, "-o", "json"}, q.more...)})
		}
	}
	for round := range b.runs + 1 {
		for _, r := range all {
			took, err := r.ask(ctx, env, r.args)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if round > 0 { // the first is a warm-up
				r.walls = append(r.walls, took)
			}
		}
	}
	for _, r := range all {
		b.part.add("start-job --dry-run --snapshot FILE, 100 queues, 6,000 workloads, "+r.name, ms(median(r.walls)), "ms", ms(r.budget))
		fmt.Printf("%-54s %8.1f %8.1f %10.0f %9.2f\n", r.name, ms(median(r.walls)), ms(slices.Min(r.walls)), ms(r.budget), float64(median(r.walls))/float64(r.budget))
	}
	return nil
}
