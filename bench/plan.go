package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/bench/usage"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// plan times governance plan --snapshot FILE of a change of one team, the whole process,
// at the size of dryRun. There is nothing to compare it with.
func (b *bench) plan(ctx context.Context) error {
	env := append(os.Environ(), "HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	file, teams, err := b.planned(ctx, env, "plan", fixture.Big(""))
	if err != nil {
		return err
	}
	shared := fixture.Big("")
	shared.Add(fixture.Rules(fixture.FairSharing))
	fair, fairTeams, err := b.planned(ctx, env, "plan-fair", shared)
	if err != nil {
		return err
	}
	fmt.Printf("\ngovernance plan --snapshot FILE, 100 teams, 6,000 workloads (medians of %d runs each%s)\n%-28s %8s %8s %8s %8s %10s %10s\n",
		b.runs, load(), "", "wall ms", "fastest", "CPU ms", "RSS MB", "budget ms", "budget MB")
	for _, c := range []struct {
		name        string
		file, teams string
		more        []string
		wall        time.Duration
		memory      float64
	}{
		{"without consequences", file, teams, []string{"--no-consequences"}, 300 * time.Millisecond, 300},
		{"with consequences", file, teams, nil, 10 * time.Second, 300},
		{"the same, fair sharing", fair, fairTeams, nil, 10 * time.Second, 300},
	} {
		var walls, cpus []time.Duration
		rss := 0.0
		for range b.runs {
			u, err := b.changes(ctx, env, append([]string{b.hyperpod, "governance", "plan", "-f", c.teams, "--snapshot", c.file, "-o", "json"}, c.more...))
			if err != nil {
				return err
			}
			walls, cpus, rss = append(walls, u.Wall), append(cpus, u.CPU), max(rss, u.RSSMB)
		}
		b.part.add("governance plan --snapshot FILE, 100 teams, 6,000 workloads, "+c.name, ms(median(walls)), "ms", ms(c.wall))
		b.part.add("its memory", rss, "MB", c.memory)
		fmt.Printf("%-28s %8.0f %8.0f %8.0f %8.0f %10.0f %10.0f\n", c.name, ms(median(walls)), ms(slices.Min(walls)), ms(median(cpus)), rss, ms(c.wall), c.memory)
	}
	return nil
}

// planned writes a snapshot of a cluster, and its governance file with less for the first team.
func (b *bench) planned(ctx context.Context, env []string, name string, cluster *fixture.Server) (file, teams string, err error) {
	taken, err := snapshot.Capture(ctx, cluster.Client(), snapshot.Options{Now: fixture.Noon})
	if err != nil {
		return "", "", err
	}
	file, teams = filepath.Join(b.dir, name+".json"), filepath.Join(b.dir, name+".yaml")
	if _, err := taken.Save(file, snapshot.SaveOptions{}); err != nil {
		return "", "", err
	}
	export := exec.CommandContext(ctx, b.hyperpod, "governance", "export", "--snapshot", file)
	export.Env = env
	text, err := export.Output()
	if err != nil {
		return "", "", fmt.Errorf("governance export: %w", err)
	}
	changed := bytes.Replace(text, []byte(`nominalQuota: "40"`), []byte(`nominalQuota: "32"`), 1)
	if bytes.Equal(changed, text) {
		return "", "", errors.New("the exported file has no team with 40 GPUs")
	}
	return file, teams, os.WriteFile(teams, changed, 0o600)
}

// changes runs a plan that finds changes: exit code 3.
func (b *bench) changes(ctx context.Context, env, args []string) (usage.Usage, error) {
	u, err := b.once(ctx, env, args)
	exit := new(exec.ExitError)
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		return u, nil
	}
	return u, fmt.Errorf("the plan does not end with changes: %w", err)
}
