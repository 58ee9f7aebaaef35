package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/bench/usage"
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
	b.part.Ratios = append(b.part.Ratios, ratioOf{all[g.of].name, all[g.against].name, ratio, g.budget})
	budget := ""
	if g.budget > 0 {
		budget = fmt.Sprintf(" (budget %.2f)", g.budget)
	}
	fmt.Printf("  %s takes %.2f of %s%s\n", all[g.of].name, ratio, all[g.against].name, budget)
}

// measured is a command that writes its usage into a file; see the command measure.
func (b *bench) measured(ctx context.Context, into string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.measure, append([]string{into}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// once runs a command to its end, reading its output.
func (b *bench) once(ctx context.Context, env, args []string) (usage.Usage, error) {
	into := filepath.Join(b.dir, "usage.json")
	if err := os.Remove(into); err != nil && !errors.Is(err, os.ErrNotExist) {
		return usage.Usage{}, err
	}
	cmd := b.measured(ctx, into, args)
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &stderr
	failed := cmd.Run()
	u, err := readUsage(into)
	if failed != nil {
		return u, fmt.Errorf("%v: %w: %s", args, failed, stderr.String())
	}
	return u, err
}

func readUsage(file string) (usage.Usage, error) {
	var u usage.Usage
	data, err := os.ReadFile(file)
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal(data, &u)
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
			u, err := b.once(ctx, env, c.args)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				continue // warm-up
			}
			walls[i] = append(walls[i], u.Wall)
			cpus[i] = append(cpus[i], u.CPU)
			rss[i] = max(rss[i], u.RSSMB)
		}
	}
	fmt.Printf("\n%s (medians of %d runs each, in turn%s)\n%-44s %8s %8s %8s %8s\n", title, b.runs, load(), "", "wall ms", "fastest", "CPU ms", "RSS MB")
	medians := make([]time.Duration, len(all))
	for i, c := range all {
		medians[i] = median(walls[i])
		fmt.Printf("%-44s %8.1f %8.1f %8.1f %8.0f\n", c.name, ms(medians[i]), ms(slices.Min(walls[i])), ms(median(cpus[i])), rss[i])
		b.part.Figures = append(b.part.Figures, figure{title, c.name, ms(medians[i]), ms(slices.Min(walls[i])), ms(median(cpus[i])), rss[i]})
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
