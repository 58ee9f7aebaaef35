package startjob

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
)

// defaultMaxJobs is the number of jobs that a sweep may have without --max-jobs.
const defaultMaxJobs = 100

// Sweep holds the flags about several jobs of one definition. Fields have the names of their
// flags.
type Sweep struct {
	Axes        []string // --sweep
	MaxParallel int
	MaxJobs     int
}

// Title implements factory.OptionGroup.
func (*Sweep) Title() string { return "Sweep" }

// AddFlags implements factory.OptionGroup.
func (s *Sweep) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&s.Axes, "sweep", nil, "start a job for each value of a parameter: NAME=V1,V2 or NAME=1..5 (repeatable: a job for each combination)")
	fs.IntVar(&s.MaxParallel, "max-parallel", 0, "with --sweep: number of jobs that may be pending or running at a time; the command runs until the last job is started (default: all)")
	fs.IntVar(&s.MaxJobs, "max-jobs", defaultMaxJobs, "with --sweep: largest number of jobs that a sweep may have")
}

// Validate implements factory.OptionGroup.
func (s *Sweep) Validate() error {
	switch {
	case len(s.Axes) == 0 && s.MaxParallel != 0:
		return factory.Requires("max-parallel", "--sweep").Suggest(errs.Option("--sweep", "seed=1..5", "--max-parallel", strconv.Itoa(s.MaxParallel)))
	case len(s.Axes) == 0 && s.MaxJobs != defaultMaxJobs:
		return factory.Requires("max-jobs", "--sweep").Suggest(errs.Option("--sweep", "seed=1..5", "--max-jobs", strconv.Itoa(s.MaxJobs)))
	case s.MaxParallel < 0:
		return factory.Invalid("max-parallel", strconv.Itoa(s.MaxParallel), "must be at least 1")
	case s.MaxJobs < 1:
		return factory.Invalid("max-jobs", strconv.Itoa(s.MaxJobs), "must be at least 1")
	}
	_, err := s.points()
	return err
}

// points returns the combinations, none without --sweep.
func (s *Sweep) points() ([]sweep.Point, error) {
	if len(s.Axes) == 0 {
		return nil, nil
	}
	points, err := sweep.Parse(s.Axes, s.MaxJobs)
	return points, wordSweep(err, s.MaxJobs)
}

// wordSweep words a fault of --sweep.
func wordSweep(err error, limit int) error {
	var e *sweep.Error
	if !errors.As(err, &e) {
		return err
	}
	why := ""
	switch e.Code {
	case sweep.NoValues:
		why = "must be NAME=VALUE,VALUE or NAME=FROM..TO"
	case sweep.BadName:
		return errs.Usagef("invalid --sweep: %q cannot be the name of a parameter; use letters, digits and _, at most 50", e.Text).Suggest(errs.Option("--sweep", "lr=1e-4,3e-4")).WithCause(err)
	case sweep.EmptyValue:
		why = "a value is missing"
	case sweep.BadRange:
		why = "must be FROM..TO or FROM..TO..STEP, whole numbers that lead from one to the other"
	case sweep.TwiceName:
		return errs.Usagef("--sweep names parameter %q twice", e.Text).WithAdvice("give all values of a parameter in one --sweep").WithCause(err)
	case sweep.TwiceValue:
		return errs.Usagef("--sweep has a value twice: %s", e.Text).WithCause(err)
	case sweep.TooMany:
		count := fmt.Sprint(e.Count)
		if e.Count == math.MaxInt64 {
			return errs.Usagef("--sweep makes more jobs than can be counted; the limit is %d (--max-jobs)", limit).WithCause(err)
		}
		return errs.Usagef("--sweep makes %s jobs; the limit is %d (--max-jobs)", count, limit).Suggest(errs.Option("--max-jobs", count)).WithCause(err)
	}
	return errs.Usagef("invalid --sweep %q: %s", e.Text, why).Suggest(errs.Option("--sweep", "lr=1e-4,3e-4", "--sweep", "seed=1..5")).WithCause(err)
}

// validateSweep refuses the flags that are about one job.
func (o *Options) validateSweep() error {
	if len(o.Axes) == 0 {
		return nil
	}
	for _, c := range []struct {
		flag  string
		given bool
	}{{"generate-name", o.GenerateName}, {"replace", o.Replace}, {"edit", o.Edit}, {"follow", o.Follow}, {"idempotency-key", o.IdempotencyKey != ""}, {"all-holders", o.AllHolders}, {"workers", len(o.Workers.Given) > 0}} {
		if c.given {
			return factory.Excludes("sweep", c.flag)
		}
	}
	switch {
	case o.MaxParallel > 0 && o.DryRun != factory.DryRunNone && o.DryRun != admission:
		return factory.Excludes("max-parallel", "dry-run="+o.DryRun)
	case o.Notify.Given():
		return factory.Excludes("sweep", "notify").Suggest(errs.Run("wait-job", "--sweep", "NAME", "--notify"))
	}
	return nil
}
