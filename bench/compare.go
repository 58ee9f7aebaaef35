package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// contender is a command; budget is its allowed share of the first contender's
// median wall time, 0 for none.
type contender struct {
	name   string
	args   []string
	budget float64
}

type usage struct {
	wall, cpu time.Duration
	rssMB     float64
}

// once runs a command to its end, reading its output.
func once(ctx context.Context, env, args []string) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%v: %w: %s", args, err, stderr.String())
	}
	wall := time.Since(start)
	state := cmd.ProcessState
	return usage{wall, state.UserTime() + state.SystemTime(), rssMB(state)}, nil
}

// compare runs the contenders in turn and prints their medians, and ratios to
// the first one.
func (b *bench) compare(ctx context.Context, title string, env []string, all []contender) error {
	_, err := b.measure(ctx, title, env, all)
	return err
}

// measure is compare, and returns the medians of the wall times.
func (b *bench) measure(ctx context.Context, title string, env []string, all []contender) ([]time.Duration, error) {
	walls := make([][]time.Duration, len(all))
	cpus := make([][]time.Duration, len(all))
	rss := make([]float64, len(all))
	for round := range b.runs + 1 {
		for i, c := range all {
			u, err := once(ctx, env, c.args)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				continue // warm-up
			}
			walls[i] = append(walls[i], u.wall)
			cpus[i] = append(cpus[i], u.cpu)
			rss[i] = max(rss[i], u.rssMB)
		}
	}
	fmt.Printf("\n%s (%d runs each, in turn)\n%-44s %8s %8s %8s %7s\n", title, b.runs, "", "wall ms", "CPU ms", "RSS MB", "ratio")
	medians := make([]time.Duration, len(all))
	for i, c := range all {
		ratio := float64(median(walls[i])) / float64(median(walls[0]))
		budget := ""
		if c.budget > 0 {
			budget = fmt.Sprintf("  (budget %.2f)", c.budget)
		}
		medians[i] = median(walls[i])
		fmt.Printf("%-44s %8.1f %8.1f %8.0f %7.2f%s\n", c.name, ms(median(walls[i])), ms(median(cpus[i])), rss[i], ratio, budget)
	}
	return medians, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}
