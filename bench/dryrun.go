package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fixture"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
)

// dryRun times start-job --dry-run --snapshot FILE, the whole process, at the size
// that the checker's budgets are set for: 1,000 admitted and 5,000 waiting workloads
// in 100 queues. There is nothing to compare it with; the budget is in milliseconds.
func (b *bench) dryRun(ctx context.Context) error {
	const budget = 700 * time.Millisecond
	env := append(os.Environ(), "HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	fmt.Printf("\nstart-job --dry-run --snapshot FILE, 100 queues, 6,000 workloads (medians of %d runs each, in turn%s; budget %.0f ms)\n%-36s %8s %8s %8s\n",
		b.runs, load(), ms(budget), "", "wall ms", "fastest", "of budget")
	type run struct {
		name string
		question
		args  []string
		walls []time.Duration
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
		for _, q := range []question{{what: "waits", queue: "queue", pods: 4, exit: 8}, {what: "never runs", queue: "queue", pods: 2000, exit: 3}} {
			manifest := filepath.Join(b.dir, fmt.Sprintf("%s-%d.json", strategy, q.pods))
			if err := os.WriteFile(manifest, q.job("bench"), 0o600); err != nil {
				return err
			}
			all = append(all, &run{name: strategy + ", a job that " + q.what, question: q,
				args: []string{b.hyperpod, "start-job", "-f", manifest, "-n", "team-42", "--dry-run", "--snapshot", file, "-o", "json"}})
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
		fmt.Printf("%-36s %8.1f %8.1f %8.2f\n", r.name, ms(median(r.walls)), ms(slices.Min(r.walls)), float64(median(r.walls))/float64(budget))
	}
	return nil
}
