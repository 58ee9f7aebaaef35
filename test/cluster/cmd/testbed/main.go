// Command testbed builds the binaries of the test cluster and runs one by hand.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const usage = `usage:
  testbed supported                          say whether this machine can run a cluster
  testbed build [COMPONENT...]               build binaries into the cache: all but the optional ones, or these
  testbed up [--kueue v1beta1] [--dir DIR] [--more jobset,kuberay,lws] [--all-kinds] [--fair-sharing=false] [--use-half-life 1h]
                                             run a cluster with two teams until Ctrl-C
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errors.New("no command\n" + usage)
	}
	switch args[0] {
	case "supported":
		return cluster.Supported()
	case "build":
		if _, err := cluster.Build(ctx, stderr, components(args[1:])...); err != nil {
			return err
		}
		dir, err := cluster.CacheDir()
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, dir)
		return nil
	case "up":
		flags := flag.NewFlagSet("up", flag.ContinueOnError)
		flags.SetOutput(stderr)
		kueue := flags.String("kueue", string(cluster.KueueCurrent), "which Kueue: current or v1beta1")
		dir := flags.String("dir", "", "folder for state and logs, kept afterwards (default: a temporary one)")
		more := flags.String("more", "", "optional components to run, separated by commas")
		all := flags.Bool("all-kinds", false, "serve every kind that Kueue manages, also those without an operator here")
		fair := flags.Bool("fair-sharing", true, "fair sharing in Kueue's configuration; without it, Kueue preempts by priority and reclaims")
		use := flags.Duration("use-half-life", 0, "half-life of past use in Kueue's configuration; 0: no admission fair sharing")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		options := cluster.Options{Kueue: cluster.KueueVersion(*kueue), NoFairSharing: !*fair, AllKinds: *all, UseHalfLife: *use, Dir: *dir, Log: stderr}
		if *more != "" {
			options.More = components(strings.Split(*more, ","))
		}
		return up(ctx, options, stdout)
	}
	return fmt.Errorf("unknown command %q\n%s", args[0], usage)
}

func components(names []string) []cluster.Component {
	var out []cluster.Component
	for _, n := range names {
		out = append(out, cluster.Component(n))
	}
	return out
}

// up runs a bed with the two teams of the governance documentation until ctx ends.
func up(ctx context.Context, options cluster.Options, stdout io.Writer) (err error) {
	bed, err := cluster.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bed.Stop()) }()
	teams := cluster.JohnAndSmith()
	if err := bed.ApplyNodes(ctx, cluster.Nodes("ml.g5.12xlarge", 4)); err != nil {
		return err
	}
	if err := bed.ApplyTeams(ctx, teams); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "export KUBECONFIG=%s\n", bed.Kubeconfig)
	fmt.Fprintf(stdout, "# kubectl: %s\n# kueuectl: %s\n# logs: %s\n", bed.KubectlPath, bed.KueuectlPath, bed.LogDir)
	for _, team := range teams {
		path, err := bed.MemberKubeconfig(ctx, team.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "# member of %s: %s\n", team.Name, path)
	}
	fmt.Fprintln(stdout, "# Ctrl-C stops the cluster")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := bed.Check(); err != nil {
				return err
			}
		}
	}
}
