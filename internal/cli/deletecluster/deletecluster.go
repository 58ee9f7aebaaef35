// Package deletecluster is `hyperpod delete-cluster`.
package deletecluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterwait"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findnode"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/present/clustertext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
	DryRun  bool
	Yes     bool
	Wait    clusterwait.Flags
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "delete-cluster CLUSTER",
		Short: "Delete a HyperPod cluster with its instances",
		Long: `Delete a HyperPod cluster with all its instances, but not the EKS cluster behind
it. The command names the instances, the jobs on them, and the policies and
quotas of task governance that are attached, and prompts.

SageMaker refuses to delete a cluster while policies or quotas are attached.`,
		Example: `  hyperpod delete-cluster ml-dev --dry-run
  hyperpod delete-cluster ml-dev --yes --wait`,
		RunE: factory.RunE(o, o.Take, Run, runF),
	}
	o.AddFlags(f, cmd)
	fs := cmd.Flags()
	fs.BoolVar(&o.DryRun, "dry-run", false, "show what is on the cluster; delete nothing")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	o.Wait.Add(cmd, "the cluster is deleted")
	return cmd
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	if o.DryRun && o.Wait.Wait {
		return factory.Excludes("dry-run", "wait")
	}
	return o.Wait.Validate()
}

// Run deletes the cluster.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	client, c, err := o.Describe(ctx, f)
	if err != nil {
		return err
	}
	if c.Status == clusters.Deleting && !o.DryRun {
		f.Notef("cluster %s is already being deleted", c.Name)
		return o.finish(ctx, client, c.Name)
	}
	question, err := o.describe(ctx, client, c)
	if err != nil {
		return err
	}
	if o.DryRun {
		f.Notef("nothing is deleted (dry run)")
		return nil
	}
	if err := f.Agree(ctx, o.Yes, question, errs.Option("--dry-run").WithNote("shows what is on the cluster")); err != nil {
		return err
	}
	if err := client.DeleteCluster(ctx, c.Name); err != nil {
		return err
	}
	return o.finish(ctx, client, c.Name)
}

// finish prints what was started, and waits where that is wanted.
func (o *Options) finish(ctx context.Context, client *aws.Client, name string) error {
	f := o.Factory
	if err := f.PrintDone("Deleting cluster "+name, name); err != nil || !o.Wait.Wait {
		return err
	}
	if err := o.Wait.Deleted(ctx, f, client, name); err != nil {
		return err
	}
	if f.Global.Output != "" {
		return nil
	}
	return f.IO.PrintLine("Deleted cluster " + name)
}

// describe reports what is on the cluster, and returns the question.
func (o *Options) describe(ctx context.Context, client *aws.Client, c clusters.Cluster) (string, error) {
	f := o.Factory
	count, groups := 0, []string{}
	for _, g := range c.Groups {
		count += g.Current
		groups = append(groups, fmt.Sprintf("%s (%d of %s)", g.Name, g.Current, strings.Join(g.InstanceTypes, " or ")))
	}
	has := fmt.Sprintf("cluster %s (%s) has %s", c.Name, c.Status, words.Count(count, "instance", "instances"))
	if len(groups) > 0 {
		has += ": " + words.Some(groups, 10)
	}
	f.Notef("%s", has)
	use, err := findnode.UseOf(ctx, f, client, c, nil)
	if err != nil {
		return "", err
	}
	question := "Delete cluster " + c.Name + " and " + words.Count(count, "instance", "instances")
	if len(use.Jobs) > 0 {
		f.Notef("running jobs: %s", clustertext.Jobs(use.Jobs))
		question += ", and stop " + words.Count(len(use.Jobs), "job", "jobs")
	}
	if use.Others > 0 {
		f.Notef("%s of no job", words.Count(use.Others, "pod", "pods"))
	}
	attached, err := client.Attached(ctx, c.ARN)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		f.Notef("warning: attached policies are unknown: %v", err)
	}
	if len(attached) > 0 {
		var names []string
		for _, a := range attached {
			names = append(names, a.Kind+" "+a.Name)
		}
		f.Notef("warning: SageMaker refuses to delete a cluster with policies; attached: %s", words.Some(names, 10))
	}
	return question + "?", nil
}
