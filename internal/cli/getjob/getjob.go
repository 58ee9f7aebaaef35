// Package getjob is `hyperpod get-job`.
package getjob

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Verbose bool
	// Manifest shows the job as it could be submitted again.
	Manifest bool
	Watch    bool
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:   "get-job NAME",
		Short: "Show one job",
		Long: `Shows one job: its state and why, queue, accelerators and what of them is
borrowed, roles, pods with their trouble, time line and last events. JSON has
v2's keys (--verbose: all of them); -o yaml is the object as the API has it;
jsonpath and custom-columns work on that object. --manifest is the object as it
could be submitted again.`,
		Example: `  hyperpod get-job smpv2-llama2 -n hyperpod-ns-ml-engineers
  hyperpod get-job smpv2-llama2 --watch
  hyperpod get-job smpv2-llama2 --manifest > again.yaml
  hyperpod get-job smpv2-llama2 -o yaml
  hyperpod get-job smpv2-llama2 -o jsonpath='{.status.startTime}'`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Name, err = factory.JobName(flag, args); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	factory.AddJobNameFlag(cmd, &flag)
	factory.AddKindFlag(cmd, &o.Kind)
	cmd.Flags().BoolVar(&o.Verbose, "verbose", false, "all of v2's keys in JSON, the whole spec and status")
	cmd.Flags().BoolVar(&o.Manifest, "manifest", false, "the object as it could be submitted again, as YAML")
	cmd.Flags().BoolVarP(&o.Watch, "watch", "w", false, "go on showing changes until the job ends")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if o.Manifest && o.Watch {
		return errs.Usagef("--manifest and --watch do not go together").WithAdvice("leave one of them out")
	}
	return nil
}

// Run reads the job and prints it.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	job, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	if o.Watch {
		return watch(ctx, o, cluster, job, format)
	}
	var document any = job.Object
	switch {
	case o.Manifest:
		if document, err = manifest(ctx, f, cluster, job); err != nil {
			return err
		}
		if f.Global.Output == "" {
			format = output.Format{Name: output.YAML}
		}
	case format.Name == output.JSON:
		document = o.document(job, console(ctx, cluster))
	case format.IsTable():
		r, err := load(ctx, cluster, job)
		if err != nil {
			return err
		}
		_, err = io.WriteString(f.IO.Out, r.page(f.IO, cluster.Now()))
		return err
	}
	names := func() []string {
		return []string{job.Kind.ObjectName(o.Name)}
	}
	return output.Print(f.IO, format, document, nil, names)
}

// brief and verbose have v2's keys in v2's order (docs/output.md). ConsoleURL
// needs the name of the HyperPod cluster and is null where that is not known.
type brief struct {
	Name              string
	Namespace         string
	Label             any
	CreationTimestamp any
	Status            any
	ConsoleURL        *string
}

type verbose struct {
	Name        string
	Namespace   string
	Label       any
	Annotations any
	Metadata    metadata
	Kind        any
	APIVersion  any `json:"ApiVersion"`
	Spec        any
	Status      any
	ConsoleURL  *string
}

type metadata struct {
	CreationTimestamp any
	Generation        any
	ResourceVersion   any
	UID               any
}

func (o *Options) document(j findjob.Job, link string) any {
	var url *string
	if link != "" {
		url = &link
	}
	meta := func(key string) any { return kinds.At(j.Object, "metadata", key) }
	if !o.Verbose {
		return brief{o.Name, j.Namespace, meta("labels"), meta("creationTimestamp"), j.Object["status"], url}
	}
	return verbose{o.Name, j.Namespace, meta("labels"), meta("annotations"),
		metadata{meta("creationTimestamp"), meta("generation"), meta("resourceVersion"), meta("uid")},
		j.Object["kind"], j.Object["apiVersion"], j.Object["spec"], j.Object["status"], url}
}
