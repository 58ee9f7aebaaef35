package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// report times reports over a month of 2,000 jobs at a time with a sample each minute, the whole process, and measures the
// store. The test of the store's size makes it.
func (b *bench) report(ctx context.Context) error {
	const days = 31
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) // where the test begins
	dir := filepath.Join(b.dir, "store")
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-run", "^TestSize$", "./internal/history")
	test.Env = append(os.Environ(), "CGO_ENABLED=0", "HYPERPOD_STORE="+dir, fmt.Sprintf("HYPERPOD_DAYS=%d", days))
	if out, err := test.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var size int64
	if err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	}); err != nil {
		return err
	}
	b.part.add("store of a month, 2,000 jobs at a time, a sample each minute", float64(size)/1e6, "MB", 20)
	env := append(os.Environ(), "HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	age := func(t time.Time) string { return fmt.Sprintf("%dh", int(time.Since(t).Hours())) }
	fmt.Printf("\nreport over a store of %.1f MB, %d days (medians of %d runs each%s)\n%-12s %8s %8s %8s\n", float64(size)/1e6, days, b.runs, load(), "", "wall ms", "CPU ms", "RSS MB")
	for _, format := range []string{"table", "json", "html"} {
		var walls, cpus []time.Duration
		rss := 0.0
		for range b.runs {
			u, err := b.once(ctx, env, []string{b.hyperpod, "report", "--directory", dir, "--since", age(from), "--until", age(from.AddDate(0, 0, days)), "-o", format})
			if err != nil {
				return err
			}
			walls, cpus, rss = append(walls, u.Wall), append(cpus, u.CPU), max(rss, u.RSSMB)
		}
		b.part.add("report -o "+format+" over that month", ms(median(walls)), "ms", 1000)
		fmt.Printf("%-12s %8.0f %8.0f %8.0f\n", format, ms(median(walls)), ms(median(cpus)), rss)
	}
	return nil
}
