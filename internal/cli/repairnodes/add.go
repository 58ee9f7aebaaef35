package repairnodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findnode"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/clusters/spec"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// AddOptions are what was typed for add-cluster-nodes.
type AddOptions struct {
	factory.OneCluster
	Factory *factory.Factory
	Group   string
	Count   int
	DryRun  bool
	Yes     bool
}

// continuous is the mode of clusters that add single nodes.
const continuous = "Continuous"

// NewAddCmd returns add-cluster-nodes.
func NewAddCmd(f *factory.Factory, runF func(context.Context, *AddOptions) error) *cobra.Command {
	o := &AddOptions{Factory: f}
	cmd := &cobra.Command{
		Use:     "add-cluster-nodes CLUSTER --group GROUP",
		Aliases: []string{"add-cluster-node"},
		Short:   "Add nodes to an instance group of a HyperPod cluster",
		Long: `Add nodes to an instance group of a cluster with continuous provisioning, 50 per
request. To grow other clusters, use update-cluster.`,
		Example: `  hyperpod add-cluster-nodes ml-prod --group accelerated-p5 --count 2`,
		RunE:    factory.RunE(o, o.Take, RunAdd, runF),
	}
	o.AddFlags(f, cmd)
	fs := cmd.Flags()
	o.AddGroup(f, cmd, &o.Group, "instance group to add nodes to")
	fs.IntVar(&o.Count, "count", 1, "number of nodes to add")
	fs.BoolVar(&o.DryRun, "dry-run", false, "show what would be added; change nothing")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	return cmd
}

// Validate checks the options alone.
func (o *AddOptions) Validate() error {
	switch {
	case o.Group == "":
		return errs.Usagef("--group is required: it names the instance group to add nodes to").Suggest(errs.Run("describe-cluster", o.Cluster).WithNote("shows the instance groups"))
	case o.Count < 1 || o.Count > spec.MostInstances:
		return factory.Invalid("count", o.Count, fmt.Sprintf("must be 1 to %d", spec.MostInstances))
	}
	return nil
}

// RunAdd adds the nodes.
func RunAdd(ctx context.Context, o *AddOptions) error {
	f := o.Factory
	format, client, c, err := o.Connect(ctx, f)
	if err != nil {
		return err
	}
	g, err := findnode.Group(c, o.Group)
	if err != nil {
		return err
	}
	if c.NodeProvisioning != continuous {
		return errs.New("cannot add single nodes to cluster "+c.Name, "it has no continuous node provisioning").
			Suggest(errs.Run("update-cluster", c.Name, "--group", o.Group, "--count", fmt.Sprint(g.Target+o.Count)).WithNote("scales the group instead"))
	}
	added := words.Count(o.Count, "node", "nodes")
	if o.DryRun {
		f.Notef("%s of %s for instance group %s of cluster %s, which has %d", added, strings.Join(g.InstanceTypes, " or "), g.Name, c.Name, g.Current)
		return show(f, format, rowsOf(slices.Repeat([]clusters.Node{{Group: g.Name}}, o.Count), nil))
	}
	question := fmt.Sprintf("Add %s to instance group %s (%d now)?", added, g.Name, g.Current)
	if err := f.Agree(ctx, o.Yes, question); err != nil {
		return err
	}
	outcomes, err := client.AddNodes(ctx, c.Name, o.Group, o.Count)
	if err != nil && len(outcomes) == 0 {
		return err
	}
	nodes := make([]clusters.Node, len(outcomes))
	for i, out := range outcomes {
		nodes[i] = clusters.Node{InstanceID: out.Node, Group: o.Group}
	}
	rows := rowsOf(nodes, outcomes)
	if printErr := show(f, format, rows); printErr != nil {
		return printErr
	}
	return result("Add", rows, o.Count, err)
}
