// Package clusterwait waits until a HyperPod cluster is as a request asked for, and reports the progress of its
// instance groups.
package clusterwait

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/present/clustertext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Flags are the flags of commands that wait.
type Flags struct {
	Wait    bool
	Timeout *time.Duration
	// Tick paces the wait; nil is every 15 seconds.
	Tick <-chan time.Time
}

// pace is how often a cluster is described.
const pace = 15 * time.Second

// unseen is how many descriptions in a row may not find a cluster that was just created: SageMaker is eventually consistent.
const unseen = 4

// Add defines the flags; until is what --wait waits for.
func (w *Flags) Add(cmd *cobra.Command, until string) {
	cmd.Flags().BoolVar(&w.Wait, "wait", false, "wait until "+until+", and report the progress")
	factory.OptionalDuration(cmd.Flags(), &w.Timeout, "timeout", "with --wait: maximum time to wait (exit code 124); 0 checks once (default: no limit)")
}

// Validate checks the flags.
func (w Flags) Validate() error {
	if w.Timeout != nil && !w.Wait {
		return errs.Usagef("--timeout requires --wait").Suggest(errs.Option("--wait", "--timeout", w.Timeout.String()))
	}
	return factory.CheckTimeout(w.Timeout)
}

// InService waits until the cluster and all its groups are in service with their target numbers of instances.
func (w Flags) InService(ctx context.Context, f *factory.Factory, client *aws.Client, name string) error {
	return w.until(ctx, f, client, name, unseen, func(c clusters.Cluster) (bool, error) {
		done, failed := clusters.Settled(c)
		if failed == "" {
			return done, nil
		}
		e := errs.New("cluster "+c.Name+" is not in service", failed)
		return false, e.Suggest(errs.Run("list-cluster-events", c.Name).WithNote("shows what happened"))
	})
}

// Deleted waits until the cluster is gone.
func (w Flags) Deleted(ctx context.Context, f *factory.Factory, client *aws.Client, name string) error {
	err := w.until(ctx, f, client, name, 0, func(c clusters.Cluster) (bool, error) {
		if c.Status != clusters.Failed {
			return false, nil
		}
		return false, errs.New("cannot delete cluster "+c.Name, c.FailureMessage)
	})
	if aws.IsNotFound(err) {
		return nil
	}
	return err
}

// until waits until done. Before the first description that finds the cluster, patience of them may not find it.
func (w Flags) until(parent context.Context, f *factory.Factory, client *aws.Client, name string, patience int, done func(clusters.Cluster) (bool, error)) error {
	deadline := f.Deadline(w.Timeout)
	ctx, cancel := deadline.Bound(parent)
	defer cancel()
	tick := w.Tick
	if tick == nil {
		t := time.NewTicker(pace)
		defer t.Stop()
		tick = t.C
	}
	last := ""
	for {
		c, err := client.DescribeCluster(ctx, name)
		switch {
		case ctx.Err() != nil:
			return w.ended(parent, ctx, name, last)
		case aws.IsNotFound(err) && patience > 0:
			patience--
		case err != nil:
			return err
		default:
			patience = 0
			ok, err := done(c)
			if text := clustertext.Progress(c); text != last {
				last = text
				f.Notef("%s", text)
			}
			if ok || err != nil {
				return err
			}
		}
		if deadline.Once() {
			return w.ended(parent, ctx, name, last)
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return w.ended(parent, ctx, name, last)
		}
	}
}

// ended returns the error about a wait that ended before the cluster was ready.
func (w Flags) ended(parent, ctx context.Context, name, last string) error {
	if parent.Err() != nil {
		return parent.Err()
	}
	e := errs.New("cluster "+name+" is not ready", "the time of --timeout is over").WithCode(errs.Timeout)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Why = "--timeout is 0"
	}
	if last != "" {
		e.WithFact("status", last)
	}
	return e.Suggest(suggest.DescribeCluster(name))
}
