// Package getjob is `hyperpod get-job`.
package getjob

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Verbose bool
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:   "get-job NAME",
		Short: "Show one job",
		Long: `Shows one job. JSON has v2's keys (--verbose: all of them); -o yaml is the object
as the API has it; jsonpath and custom-columns work on that object.`,
		Example: `  hyperpod get-job llama-7b -n hyperpod-ns-research
  hyperpod get-job llama-7b -o yaml
  hyperpod get-job llama-7b -o jsonpath='{.status.startTime}'`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Name, err = factory.JobName(flag, args); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	factory.AddJobNameFlag(cmd, &flag)
	cmd.Flags().StringVar(&o.Kind, "kind", "", "the job's kind, where two kinds share the name")
	cmd.Flags().BoolVar(&o.Verbose, "verbose", false, "all of v2's keys in JSON, the whole spec and status")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
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
	var document any = job.Object
	if format.Name == output.JSON {
		document = o.document(job)
	}
	if format.IsTable() {
		p, err := load(ctx, cluster, job)
		if err != nil {
			return err
		}
		_, err = io.WriteString(f.IO.Out, p.text(cluster.Now(), f.IO.OutTTY))
		return err
	}
	names := func() []string {
		return []string{fmt.Sprintf("%s.%s/%s", strings.ToLower(job.Kind.Kind), job.Kind.Group, o.Name)}
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

func (o *Options) document(j findjob.Job) any {
	meta, _ := j.Object["metadata"].(map[string]any)
	if !o.Verbose {
		return brief{o.Name, j.Namespace, meta["labels"], meta["creationTimestamp"], j.Object["status"], nil}
	}
	return verbose{o.Name, j.Namespace, meta["labels"], meta["annotations"],
		metadata{meta["creationTimestamp"], meta["generation"], meta["resourceVersion"], meta["uid"]},
		j.Object["kind"], j.Object["apiVersion"], j.Object["spec"], j.Object["status"], nil}
}
