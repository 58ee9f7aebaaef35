package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// contender is a command.
type contender struct {
	name string
	args []string
}

// goal is what one contender, by its place in the list, may take of another's median
// wall time.
type goal struct {
	of, against int
	budget      float64 // 0: there is none
}

// judge prints what a goal's contender takes of the other, and keeps it.
func (b *bench) judge(g goal, all []contender, medians []time.Duration) {
	ratio := float64(medians[g.of]) / float64(medians[g.against])
	b.results.Ratios = append(b.results.Ratios, ratioOf{all[g.of].name, all[g.against].name, ratio, g.budget})
	budget := ""
	if g.budget > 0 {
		budget = fmt.Sprintf(" (budget %.2f)", g.budget)
	}
	fmt.Printf("  %s takes %.2f of %s%s\n", all[g.of].name, ratio, all[g.against].name, budget)
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
	err := cmd.Run()
	u := usage{wall: time.Since(start)}
	if state := cmd.ProcessState; state != nil {
		u.cpu, u.rssMB = state.UserTime()+state.SystemTime(), rssMB(state)
	}
	if err != nil {
		return u, fmt.Errorf("%v: %w: %s", args, err, stderr.String())
	}
	return u, nil
}

// compare runs the contenders in turn, after one run of each that does not count,
// and prints their medians and the ratios that the goals are about. It returns the
// medians of the wall times.
func (b *bench) compare(ctx context.Context, title string, env []string, all []contender, goals ...goal) ([]time.Duration, error) {
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
	fmt.Printf("\n%s (medians of %d runs each, in turn%s)\n%-44s %8s %8s %8s %8s\n", title, b.runs, load(), "", "wall ms", "fastest", "CPU ms", "RSS MB")
	medians := make([]time.Duration, len(all))
	for i, c := range all {
		medians[i] = median(walls[i])
		fmt.Printf("%-44s %8.1f %8.1f %8.1f %8.0f\n", c.name, ms(medians[i]), ms(slices.Min(walls[i])), ms(median(cpus[i])), rss[i])
		b.results.Figures = append(b.results.Figures, figure{title, c.name, ms(medians[i]), ms(slices.Min(walls[i])), ms(median(cpus[i])), rss[i]})
	}
	for _, g := range goals {
		b.judge(g, all, medians)
	}
	return medians, nil
}

// load says how busy the machine is ("; load 0.52"): how many processes run or want
// to, over the last minute. It is "" where there is no such file.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(data), " ")
	return "; load " + one
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}
