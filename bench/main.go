// Command bench measures hyperpod against its peers, whole processes in turn on
// one machine in one run, and prints ratios. Absolute times are one machine's;
// the ratios, and the budgets beside them, are what carries over.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

func main() {
	only := flag.String("only", "start,sandbox,dashboard,scale,dryrun,plan,report,aws,lists,quota,verdict,logs", "what to measure")
	runs := flag.Int("runs", 15, "counted runs of each command")
	logTime := flag.Duration("logs-for", 10*time.Second, "how long logs are followed")
	workloads := flag.Int("workloads", 5000, "workloads of the quota part, in 200 queues")
	queues := flag.Int("queues", 10, "queues of the verdict part, with 60 workloads each")
	bare := flag.String("bare", "", "internal: download the lists named as arguments with this kubeconfig, and nothing else")
	into := flag.String("json", "", "file that gets the figures of the comparisons")
	document := flag.String("document", "", "document whose tables get the figures; with -only \"\", from the file of -json")
	plain := flag.Bool("plain", false, "internal: with -bare, ask for answers that are not compressed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *bare != "" {
		check(download(ctx, *bare, *plain, flag.Args()))
		return
	}
	if *only != "" {
		check(run(ctx, strings.Split(*only, ","), *runs, *workloads, *queues, *logTime, *into))
	}
	if *document != "" {
		check(rewrite(*document, *into))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only []string, runs, workloads, queues int, logTime time.Duration, into string) error {
	dir, err := os.MkdirTemp("", "hyperpod-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, runs: runs, workloads: workloads, hyperpod: filepath.Join(dir, "bin", "hyperpod"), measure: filepath.Join(dir, "bin", "measure")}
	if err := b.build(ctx); err != nil {
		return err
	}
	if err := write(into, *b.part); err != nil {
		return err
	}
	alone := []string{"sandbox", "dashboard", "dryrun", "plan", "report", "aws"} // without peers
	if slices.ContainsFunc(only, func(part string) bool { return !slices.Contains(alone, part) }) {
		if err := b.peers(ctx); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{{"start", b.start}, {"sandbox", b.sandbox}, {"dashboard", b.dashboard}, {"scale", b.scale},
		{"dryrun", b.dryRun}, {"plan", b.plan}, {"report", b.report}, {"aws", b.aws}, {"lists", b.lists}, {"quota", b.quota},
		{"verdict", func(ctx context.Context) error { return b.verdict(ctx, queues) }},
		{"logs", func(ctx context.Context) error { return b.logs(ctx, logTime) }}} {
		if slices.Contains(only, step.name) {
			b.part = &part{Name: step.name}
			if err := step.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			if err := write(into, *b.part); err != nil {
				return err
			}
		}
	}
	return nil
}

type bench struct {
	dir, hyperpod, measure, kubectl, kueuectl string
	runs, workloads                           int
	part                                      *part // the one that is measured
}

func (b *bench) build(ctx context.Context) error {
	for _, args := range [][]string{
		{"-tags=grpcnotrace", "-ldflags", "-s -w -X main.version=v0.0.0-bench", "-o", b.hyperpod, "./cmd/hyperpod"},
		{"-o", b.measure, "./bench/measure"},
	} {
		cmd := exec.CommandContext(ctx, "go", append([]string{"build"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	b.part = &part{Name: "binary"}
	info, err := os.Stat(b.hyperpod)
	if err != nil {
		return err
	}
	b.part.add("binary, stripped", float64(info.Size())/1e6, "MB", 72)
	fmt.Printf("binary, stripped: %.1f MB (budget 72)\n", float64(info.Size())/1e6)
	return nil
}

// peers builds what hyperpod is compared with.
func (b *bench) peers(ctx context.Context) error {
	binaries, err := cluster.Build(ctx, os.Stderr, cluster.Kubernetes, cluster.Kueue)
	if err != nil {
		return err
	}
	b.kubectl, b.kueuectl = binaries.Kubectl, binaries.Kueuectl
	return nil
}

// start compares what every command pays with kubectl's.
func (b *bench) start(ctx context.Context) error {
	_, err := b.compare(ctx, "start", nil, []contender{
		{"kubectl version --client", []string{b.kubectl, "version", "--client"}},
		{"hyperpod version", []string{b.hyperpod, "version"}},
		{"hyperpod --help", []string{b.hyperpod, "--help"}},
		{"hyperpod completion bash", []string{b.hyperpod, "completion", "bash"}},
	}, goal{1, 0, 0.8}, goal{2, 0, 0.8}, goal{3, 0, 0.8})
	return err
}

// sandbox times a whole start-job on a sandbox that exists.
func (b *bench) sandbox(ctx context.Context) error {
	env := append(os.Environ(), "HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	first := exec.CommandContext(ctx, b.hyperpod, "list-jobs", "-A", "--sandbox")
	first.Env = env
	if out, err := first.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var times []time.Duration
	for i := range b.runs {
		took, err := b.once(ctx, env, []string{b.hyperpod, "start-job", "--name", fmt.Sprintf("bench-%d", i), "--template", "smpv2-llama2",
			"--namespace", "hyperpod-ns-ml-engineers", "--sandbox", "--quiet"})
		if err != nil {
			return err
		}
		times = append(times, took.Wall)
	}
	b.part.add("start-job on a sandbox, whole process", ms(median(times)), "ms", 150)
	fmt.Printf("\nsandbox start-job, end to end: median %d ms (budget 150)\n", median(times).Milliseconds())
	return nil
}
