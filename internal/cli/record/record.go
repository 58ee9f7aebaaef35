// Package record is `hyperpod record`.
package record

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/historystore"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory   *factory.Factory
	Directory string
	// Every is the time between samples, Retain how long they are kept.
	Every, Retain *time.Duration
	// Samples is the number of samples after which the command ends; 0 is no limit.
	Samples      int
	ProjectLabel string
	// Manifest prints a Deployment instead, with Image.
	Manifest bool
	Image    string
	Storage  string
	// After is the clock between samples; tests replace it.
	After func(time.Duration) <-chan time.Time
}

const (
	minute = time.Minute
	year   = 400 * 24 * time.Hour
)

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, After: time.After}
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Record the use of jobs, queues and nodes over time",
		Long: `Record the state of jobs, queues and nodes every minute in a store: a folder of
files on this machine. "hyperpod report" reads it. A store contains only
changes: a month of 2,000 jobs takes about 10 MB.

Times of jobs come from the cluster's own records, not from the samples. After a
pause, the recorder adds the jobs that still exist; the figures of queues and
nodes stay unknown for that time. Only one recorder can write to a store, and
reports can read it at the same time. A crash loses at most the sample in
progress.

--manifest prints a Deployment that runs the recorder in the cluster, with the
permissions that it needs and a volume.`,
		Example: `  hyperpod record
  hyperpod record --every 5m --retain 90d --directory /var/lib/hyperpod
  hyperpod record --manifest --image registry.example.com/hyperpod:v1 -n monitoring`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
	fs := cmd.Flags()
	factory.OptionalAge(fs, &o.Every, "every", "time between samples (default 1m)")
	factory.OptionalAge(fs, &o.Retain, "retain", "how long to keep samples (default 400d)")
	fs.StringVar(&o.Directory, "directory", "", "folder of the store (default: one for each cluster in the state folder)")
	factory.TakesFile(fs, "directory")
	fs.IntVar(&o.Samples, "samples", 0, "number of samples to take (0: until Ctrl-C)")
	historystore.AddProjectLabel(f, cmd, &o.ProjectLabel, "label of jobs that names their project")
	fs.BoolVar(&o.Manifest, "manifest", false, "print a Deployment that records in the cluster")
	fs.StringVar(&o.Image, "image", "", "container image of the Deployment, with hyperpod as its entry point")
	fs.StringVar(&o.Storage, "storage", "", "size of the Deployment's volume (default "+defaultStorage+")")
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	switch {
	case o.Every != nil && (*o.Every < time.Second || *o.Every > time.Hour):
		return errs.Usagef("invalid --every: must be from 1s to 1h").Suggest(errs.Option("--every", "1m"))
	case o.Retain != nil && *o.Retain < 24*time.Hour:
		return errs.Usagef("invalid --retain: must be at least 1d").Suggest(errs.Option("--retain", "90d"))
	case o.Samples < 0:
		return errs.Usagef("invalid --samples \"%d\": must be at least 0 (0: until Ctrl-C)", o.Samples)
	case o.Manifest && o.Image == "":
		return errs.Usagef("--image is required: the Deployment needs a container image of hyperpod")
	case o.Image != "" && !o.Manifest:
		return factory.Requires("image", "--manifest")
	case o.Storage != "" && !o.Manifest:
		return factory.Requires("storage", "--manifest")
	case o.Manifest && o.Directory != "":
		return factory.Excludes("directory", "manifest")
	case o.Manifest && o.Samples > 0:
		return factory.Excludes("samples", "manifest")
	}
	if o.Manifest {
		return o.checkManifest()
	}
	return nil
}

func (o *Options) every() time.Duration {
	if o.Every != nil {
		return o.Every.Truncate(time.Second)
	}
	return minute
}

func (o *Options) retain() time.Duration {
	if o.Retain != nil {
		return *o.Retain
	}
	return year
}

// Run records until ctx ends.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	if o.Manifest {
		text, err := o.manifest()
		if err != nil {
			return err
		}
		return f.IO.PrintLine(text)
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	dir, err := historystore.Dir(f, c, o.Directory)
	if err != nil {
		return err
	}
	// What cannot be read is found out before the store is made.
	first, st, err := historystore.Observe(ctx, f, c, "", o.ProjectLabel, true)
	if err != nil {
		return err
	}
	f.MissingFigures(st.Missing)
	w, err := history.Open(dir, history.Options{Cluster: historystore.Cluster(c), Pace: o.every(), Retain: o.retain()})
	if err != nil {
		return historystore.Explain(err, "cannot record", dir)
	}
	defer w.Close()
	f.Notef("recording %s every %s in %s; Ctrl-C ends it", historystore.Cluster(c), words.Age(o.every()), dir)
	if last := w.Last(); !last.IsZero() && historystore.Gap(last, first.Time, o.every()) {
		f.Notef("note: the last sample is of %s; changes of jobs since then come from the cluster's records", last.Format("2006-01-02 15:04"))
	}
	r := recorder{o: o, c: c, w: w, dir: dir}
	if err := r.add(first); err != nil && (o.Samples == 1 || ctx.Err() != nil) {
		return historystore.Explain(err, "cannot record", dir)
	}
	for r.tries = 1; r.tries != o.Samples; r.tries++ {
		select {
		case <-ctx.Done():
			return r.end()
		case <-o.After(o.every()):
		}
		obs, _, err := historystore.Observe(ctx, f, c, "", o.ProjectLabel, r.failed || historystore.Gap(w.Last(), c.Now(), o.every()))
		if err == nil {
			err = r.add(obs)
		} else if ctx.Err() == nil {
			r.fail(errs.Wrap(err, "cannot take a sample"))
		}
		if err == nil && r.failed {
			f.Notef("recording again")
			r.failed = false
		}
	}
	return r.end()
}

// recorder is a recording under way.
type recorder struct {
	o              *Options
	c              *factory.Cluster
	w              *history.Writer
	dir            string
	samples, tries int
	// failed: the last sample failed, which was reported.
	failed bool
	err    error
}

// add appends an observation. A failure is reported once; the next sample makes up for it.
func (r *recorder) add(obs history.Observation) error {
	ok, err := r.w.Append(obs)
	switch {
	case err != nil:
		r.fail(historystore.Explain(err, "cannot write a sample", r.dir))
	case !ok:
		r.o.Factory.Notef("note: a sample is left out: the time is not after that of the last sample, %s", r.w.Last().Format(time.RFC3339))
	default:
		r.samples++
	}
	return err
}

func (r *recorder) fail(err error) {
	if !r.failed {
		r.o.Factory.Notef("warning: %v; the next sample makes up for it", err)
	}
	r.failed, r.err = true, err
}

// end reports what was recorded. It fails where the last sample failed.
func (r *recorder) end() error {
	if r.failed {
		return r.err
	}
	return r.o.Factory.IO.PrintLine(fmt.Sprintf("Recorded %s in %s", words.Count(r.samples, "sample", "samples"), r.dir))
}
