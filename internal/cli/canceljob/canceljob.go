// Package canceljob is `hyperpod cancel-job`.
package canceljob

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	DryRun  string
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:     "cancel-job NAME",
		Short:   "Cancel a job: delete it and its pods",
		Example: "  hyperpod cancel-job llama-7b -n hyperpod-ns-research",
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
	cmd.Flags().StringVar(&o.Kind, "kind", "", "the job's kind, where two kinds share the name")
	cmd.Flags().StringVar(&o.DryRun, "dry-run", "none", "none|client|server: what would be deleted")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "client"
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	switch o.DryRun {
	case "none", "client", "server":
		return nil
	}
	return errs.Usagef("--dry-run has no value %q", o.DryRun).WithFact("it has", "none, client, server")
}

// Run deletes the job. Its pods and its Workload go with it, in the background.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	job, err := findjob.Find(ctx, f, cluster, "delete", o.Name, o.Kind)
	if err != nil {
		return err
	}
	if o.DryRun == "client" {
		_, err = fmt.Fprintf(f.IO.Out, "Would cancel job %s (%s in %s)\n", o.Name, job.Kind.Kind, job.Namespace)
		return err
	}
	// The UID makes sure that a job of the same name made meanwhile survives.
	err = cluster.Delete(ctx, job.Kind.Resource, job.Namespace, o.Name,
		kube.DeleteOptions{Propagation: "Background", UID: job.UID(), DryRun: o.DryRun == "server"})
	if err != nil {
		return errs.Wrap(err, fmt.Sprintf("job %s was not cancelled", o.Name))
	}
	suffix := ""
	if o.DryRun == "server" {
		suffix = " (server dry run)"
	}
	_, err = fmt.Fprintf(f.IO.Out, "Successfully cancelled job %s%s\n", o.Name, suffix)
	return err
}
