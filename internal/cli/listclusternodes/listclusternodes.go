// Package listclusternodes is `hyperpod list-cluster-nodes`.
package listclusternodes

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findnode"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
	Group   string
	Faulty  bool

	// slurm: no cluster of AWS is named, and Slurm is chosen.
	slurm bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-cluster-nodes CLUSTER",
		Aliases: []string{"list-cluster-node"},
		Short:   "List the nodes of a HyperPod cluster",
		Long: `List the instances of a HyperPod cluster as SageMaker sees them, joined with the
nodes of its EKS cluster: health, deep health checks, whether HyperPod is about
to replace or reboot them, faults, and the number of pods. If the EKS cluster
does not answer, these values are unknown (-).

With --scheduler slurm and no CLUSTER, list the nodes of the Slurm cluster of
this machine, with the reasons of those that take no jobs.`,
		Example: `  hyperpod list-cluster-nodes ml-prod
  hyperpod list-cluster-nodes ml-prod --group accelerated-p5 --faulty -o wide`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	fs := cmd.Flags()
	o.AddFlags(f, cmd)
	o.AddGroup(f, cmd, &o.Group, "only nodes of this instance group")
	fs.BoolVar(&o.Faulty, "faulty", false, "only nodes that do not take jobs or have a fault")
	return cmd
}

// take takes the name of the cluster. The Slurm cluster of this machine needs none.
func (o *Options) take(cmd *cobra.Command, args []string) error {
	if o.slurm = len(args) == 0 && o.Cluster == "" && o.Factory.SlurmInstead(o.Account == factory.Account{}); o.slurm {
		return nil
	}
	return o.Take(cmd, args)
}

// Validate has nothing to check beyond the name.
func (o *Options) Validate() error { return nil }

// Run lists the nodes.
func Run(ctx context.Context, o *Options) error {
	if o.slurm {
		c, err := o.Factory.Slurm()
		if err != nil {
			return err
		}
		return runSlurm(ctx, o, c)
	}
	f := o.Factory
	format, client, c, err := o.Connect(ctx, f)
	if err != nil {
		return err
	}
	if o.Group != "" {
		if _, err := findnode.Group(c, o.Group); err != nil {
			return err
		}
	}
	list, err := client.ListNodes(ctx, c.Name)
	if err != nil {
		return err
	}
	var s *state.State
	if c.Orchestrator == clusters.EKS {
		if s, err = findnode.ReadKubernetes(ctx, f, client, c, state.Want{Nodes: true, Pods: true}); ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			f.Notef("warning: values of Kubernetes are unknown: %v", err)
		}
	}
	rows := join(list, s)
	rows = slices.DeleteFunc(rows, func(r Row) bool { return o.Group != "" && r.InstanceGroup != o.Group || o.Faulty && !r.faulty() })
	return output.Print(f.IO, format, Document{rows}, func() output.Table { return table(rows, o.empty(c.Name), f.Now()) }, func() (out []string) {
		for _, r := range rows {
			out = append(out, text(r.InstanceID))
		}
		return out
	})
}

// join adds to each instance what its node says.
func join(list []clusters.Node, s *state.State) []Row {
	nodes, pods := map[string]state.Node{}, map[string]int{}
	if s != nil {
		for _, n := range s.Nodes {
			nodes[clusters.InstanceOf(n.Name)] = n
		}
		for _, p := range s.Pods {
			if p.Phase != "Succeeded" && p.Phase != "Failed" {
				pods[p.NodeName]++
			}
		}
	}
	out := []Row{}
	for _, n := range list {
		r := Row{InstanceGroup: n.Group, InstanceID: &n.InstanceID, InstanceType: n.InstanceType, Status: n.Status, Message: n.Message, LaunchTime: &n.Launched,
			ImageStatus: n.ImageStatus, UltraServer: n.UltraServer, HealthRow: jobs.HealthRow{Faults: []string{}}}
		if k, ok := nodes[n.InstanceID]; ok && n.InstanceID != "" {
			r.fill(k)
			if len(s.MissingOf(kinds.Pod)) == 0 {
				count := pods[k.Name]
				r.Pods = &count
			}
		}
		out = append(out, r)
	}
	return out
}

// empty is the notice about no nodes.
func (o *Options) empty(cluster string) string {
	nodes, where := "no nodes", "cluster "+cluster
	if o.Faulty {
		nodes = "no faulty nodes"
	}
	if o.Group != "" {
		where = "instance group " + o.Group + " of " + where
	}
	return nodes + " in " + where
}
