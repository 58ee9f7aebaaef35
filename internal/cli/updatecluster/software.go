package updatecluster

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterwait"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findnode"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/present/clustertext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// SoftwareOptions are what was typed for update-cluster-software.
type SoftwareOptions struct {
	factory.OneCluster
	Factory *factory.Factory
	Groups  []string
	Image   string
	// Batch and RollbackBatch are a number of instances or a percentage.
	Batch, RollbackBatch string
	Interval             time.Duration
	Alarms               []string
	DryRun               bool
	Yes                  bool
	Wait                 clusterwait.Flags
}

// NewSoftwareCmd returns update-cluster-software. Tests pass runF to check the options alone.
func NewSoftwareCmd(f *factory.Factory, runF func(context.Context, *SoftwareOptions) error) *cobra.Command {
	o := &SoftwareOptions{Factory: f}
	cmd := &cobra.Command{
		Use:   "update-cluster-software CLUSTER",
		Short: "Update the machine images of a HyperPod cluster",
		Long: `Update the machine images of a HyperPod cluster, or of some of its instance
groups. Instances that are updated restart: jobs on them stop. The command names
those jobs and prompts.

With --batch-size, the update is rolling: it updates this many instances at a
time, and returns to the old image if an alarm goes off.`,
		Example: `  hyperpod update-cluster-software ml-prod --batch-size 10% --interval 5m
  hyperpod update-cluster-software ml-prod --group accelerated-p5 --batch-size 2 --alarm gpu-errors --wait`,
		RunE: factory.RunE(o, o.Take, RunSoftware, runF),
	}
	o.AddFlags(f, cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&o.Groups, "group", nil, "update this instance group (repeatable; default: all groups)")
	o.CompleteGroups(f, cmd, "group")
	fs.StringVar(&o.Image, "image-id", "", "image to update to: an AMI, or default (default: the latest HyperPod image)")
	fs.StringVar(&o.Batch, "batch-size", "", "instances to update at a time: a number, or a percentage such as 10%")
	fs.StringVar(&o.RollbackBatch, "rollback-batch-size", "", "instances to roll back at a time (default: like --batch-size)")
	fs.DurationVar(&o.Interval, "interval", 0, "time between batches, at most 1h")
	fs.StringSliceVar(&o.Alarms, "alarm", nil, "roll back when this CloudWatch alarm goes off (repeatable)")
	fs.BoolVar(&o.DryRun, "dry-run", false, "print the request; send nothing")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	o.Wait.Add(cmd, "all instance groups are in service")
	return cmd
}

// Validate checks the options alone.
func (o *SoftwareOptions) Validate() error {
	for _, b := range []struct{ flag, text string }{{"batch-size", o.Batch}, {"rollback-batch-size", o.RollbackBatch}} {
		if b.text != "" && capacity(b.text) == nil {
			return factory.Invalid(b.flag, b.text, "must be a number of instances, or a percentage from 1% to 100%")
		}
	}
	switch {
	case o.Batch == "" && (o.RollbackBatch != "" || o.Interval != 0 || len(o.Alarms) > 0):
		return errs.Usagef("--rollback-batch-size, --interval and --alarm require --batch-size").Suggest(errs.Option("--batch-size", "10%"))
	case o.Interval < 0 || o.Interval > time.Hour:
		return factory.Invalid("interval", o.Interval, "must be 0 to 1h")
	case len(o.Alarms) > 10:
		return factory.Invalid("alarm", strings.Join(o.Alarms, ","), "must be at most 10 alarms")
	case o.Image != "" && o.Image != "default" && !strings.HasPrefix(o.Image, "ami-"):
		return factory.Invalid("image-id", o.Image, "must be an AMI such as ami-0123456789abcdef0, or default")
	case o.DryRun && o.Wait.Wait:
		return factory.Excludes("dry-run", "wait")
	}
	return o.Wait.Validate()
}

// capacity returns a number of instances as the API has it, nil if the text is none.
func capacity(text string) map[string]any {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n < 1 || percent && n > 100:
		return nil
	case percent:
		return map[string]any{"Type": "CAPACITY_PERCENTAGE", "Value": n}
	}
	return map[string]any{"Type": "INSTANCE_COUNT", "Value": n}
}

// request returns the request of the API.
func (o *SoftwareOptions) request(name string) map[string]any {
	out := map[string]any{"ClusterName": name}
	for _, g := range o.Groups {
		out["InstanceGroups"] = append(objectsOf(out["InstanceGroups"]), map[string]any{"InstanceGroupName": g})
	}
	if o.Image != "" {
		out["ImageId"] = o.Image
	}
	if o.Batch == "" {
		return out
	}
	policy := map[string]any{"MaximumBatchSize": capacity(o.Batch)}
	if o.RollbackBatch != "" {
		policy["RollbackMaximumBatchSize"] = capacity(o.RollbackBatch)
	}
	deployment := map[string]any{"RollingUpdatePolicy": policy}
	if o.Interval > 0 {
		deployment["WaitIntervalInSeconds"] = int(o.Interval / time.Second)
	}
	for _, a := range o.Alarms {
		deployment["AutoRollbackConfiguration"] = append(objectsOf(deployment["AutoRollbackConfiguration"]), map[string]any{"AlarmName": a})
	}
	out["DeploymentConfig"] = deployment
	return out
}

// RunSoftware updates the images.
func RunSoftware(ctx context.Context, o *SoftwareOptions) error {
	f := o.Factory
	client, c, err := o.Describe(ctx, f)
	if err != nil {
		return err
	}
	for _, g := range o.Groups {
		if _, err := findnode.Group(c, g); err != nil {
			return err
		}
	}
	nodes, err := client.ListNodes(ctx, c.Name)
	if err != nil {
		return err
	}
	nodes = nodesIn(nodes, o.Groups)
	how := "all at once"
	if o.Batch != "" {
		how = o.Batch + " at a time"
	}
	f.Notef("this restarts %s of cluster %s, %s", words.Count(len(nodes), "instance", "instances"), c.Name, how)
	if len(nodes) > 0 {
		use, err := findnode.UseOf(ctx, f, client, c, nodes)
		if err != nil {
			return err
		}
		if len(use.Jobs) > 0 {
			f.Notef("affected jobs: %s", clustertext.Jobs(use.Jobs))
		}
	}
	request := o.request(c.Name)
	if o.DryRun {
		f.Notef("nothing is sent (dry run)")
		return clusterfile.Print(f, request)
	}
	if err := f.Agree(ctx, o.Yes, "Update the software of cluster "+c.Name+"?", errs.Option("--dry-run").WithNote("prints the request")); err != nil {
		return err
	}
	if err := client.UpdateClusterSoftware(ctx, c.Name, request); err != nil {
		return err
	}
	return finish(ctx, f, client, c, o.Wait, "Updating the software of cluster ", "Updated the software of cluster ")
}

// nodesIn returns the nodes of groups; no group means all.
func nodesIn(list []clusters.Node, groups []string) (out []clusters.Node) {
	for _, n := range list {
		if len(groups) == 0 || slices.Contains(groups, n.Group) {
			out = append(out, n)
		}
	}
	return out
}
