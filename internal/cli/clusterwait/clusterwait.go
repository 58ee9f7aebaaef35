// Package clusterwait waits until a HyperPod cluster is as a request asked for, and reports the progress of its
// instance groups.
package clusterwait

import (
	"cmp"
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

// lapses is how many descriptions in a row may fail for reasons that pass.
const lapses = 8

// target is what a wait waits for.
type target struct {
	// done reports whether the cluster is so; an error ends the wait.
	done func(clusters.Cluster) (bool, error)
	// patience is how many descriptions may not find the cluster before the first that finds it.
	patience int
	// missed completes the error "cluster NAME" of a wait that ended before: is not ready.
	missed string
}

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
	return w.until(ctx, f, client, name, target{patience: unseen, missed: "is not ready", done: func(c clusters.Cluster) (bool, error) {
		done, failed := clusters.Settled(c)
		if failed == "" {
			return done, nil
		}
		e := errs.New("cluster "+c.Name+" is not in service", failed)
		return false, e.Suggest(errs.Run("list-cluster-events", c.Name).WithNote("shows what happened"))
	}})
}

// Deleted waits until the cluster is gone.
func (w Flags) Deleted(ctx context.Context, f *factory.Factory, client *aws.Client, name string) error {
	deleting := false
	err := w.until(ctx, f, client, name, target{missed: "is not deleted yet", done: func(c clusters.Cluster) (bool, error) {
		what := "cannot delete cluster " + c.Name
		switch {
		case c.Status == clusters.Failed:
			return false, errs.New(what, cmp.Or(c.FailureMessage, "its status is "+c.Status))
		case deleting && c.Status != clusters.Deleting:
			return false, errs.New(what, "its status changed from "+clusters.Deleting+" to "+cmp.Or(c.Status, "unknown")).Suggest(errs.Run("list-cluster-events", c.Name).WithNote("shows what happened"))
		}
		deleting = c.Status == clusters.Deleting
		return false, nil
	}})
	if aws.IsNotFound(err) {
		return nil
	}
	return err
}

// until waits for the target.
func (w Flags) until(parent context.Context, f *factory.Factory, client *aws.Client, name string, t target) error {
	deadline := f.Deadline(w.Timeout)
	ctx, cancel := deadline.Bound(parent)
	defer cancel()
	tick := w.Tick
	if tick == nil {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		tick = ticker.C
	}
	last, failed := "", 0
	for {
		c, err := client.DescribeCluster(ctx, name)
		switch {
		case ctx.Err() != nil:
			return w.ended(parent, ctx, name, t.missed, last)
		case aws.IsNotFound(err) && t.patience > 0:
			t.patience--
		case aws.IsTransient(err) && failed < lapses && !deadline.Once():
			if failed++; failed == 1 {
				f.Notef("%v; trying again", err)
			}
		case err != nil:
			return err
		default:
			t.patience, failed = 0, 0
			ok, err := t.done(c)
			if text := clustertext.Progress(c); text != last {
				last = text
				f.Notef("%s", text)
			}
			if ok || err != nil {
				return err
			}
		}
		if deadline.Once() {
			return w.ended(parent, ctx, name, t.missed, last)
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return w.ended(parent, ctx, name, t.missed, last)
		}
	}
}

// ended returns the error about a wait that ended before its target.
func (w Flags) ended(parent, ctx context.Context, name, missed, last string) error {
	if parent.Err() != nil {
		return parent.Err()
	}
	e := errs.New("cluster "+name+" "+missed, "the time of --timeout is over").WithCode(errs.Timeout)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Why = "--timeout is 0"
	}
	if last != "" {
		e.WithFact("status", last)
	}
	return e.Suggest(suggest.DescribeCluster(name))
}
