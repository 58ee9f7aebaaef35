package repairnodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// slurmActions are the reasons that HyperPod's agent acts on.
var slurmActions = map[clusters.Repair]slurm.Action{clusters.Reboot: slurm.Reboot, clusters.Replace: slurm.Replace}

// runSlurm is Run on the Slurm cluster of this machine: it gives nodes the state and the
// reason that HyperPod's agent waits for.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	action, ok := slurmActions[o.verb.repair]
	if !ok {
		return errs.Usagef("%s cannot be used on Slurm: its nodes can be rebooted and replaced", o.verb.name)
	}
	all, err := c.Nodes(ctx)
	if err != nil {
		return slurmtext.Error("cannot list nodes", err)
	}
	chosen, err := o.chooseSlurm(all)
	if err != nil {
		return err
	}
	running, err := slurmjob.OnNodes(ctx, c)
	if err != nil {
		return err
	}
	var rows []Row
	var hit []string
	for _, n := range chosen {
		rows = append(rows, Row{InstanceID: n.Name, InstanceGroup: strings.Join(n.Partitions, ","), Result: planned})
		for _, j := range running[n.Name] {
			hit = append(hit, fmt.Sprintf("%s (%s, %s)", j.Job.Name, j.Slurm.ID, j.Slurm.User))
		}
	}
	f.Notef("%s the state fail and the reason %s for HyperPod's agent; %s jobs stop", words.Count(len(chosen), "node gets", "nodes get"), action, words.Verb(len(chosen), "its", "their"))
	if slices.Sort(hit); len(hit) > 0 {
		f.Notef("affected jobs: %s", words.Some(slices.Compact(hit), 10))
	} else {
		f.Notef("no jobs are affected")
	}
	if o.DryRun {
		return show(f, format, rows)
	}
	if err := f.Agree(ctx, o.Yes, o.verb.does+" "+words.Count(len(chosen), "node", "nodes")+"?", errs.Option("--dry-run").WithNote("shows the nodes and their jobs")); err != nil {
		return err
	}
	var first error
	for i, n := range chosen {
		rows[i].Result = accepted
		if err := c.Recover(ctx, n.Name, action); err != nil {
			rows[i].Result, rows[i].Message = failed, err.Error()
			if first == nil {
				first = slurmtext.Error(fmt.Sprintf("cannot %s node %s", strings.ToLower(o.verb.does), n.Name), err)
			}
		}
	}
	return errs.Also(show(f, format, rows), first)
}

// chooseSlurm returns the nodes that were named, or those of a partition.
func (o *Options) chooseSlurm(all []slurm.Node) ([]slurm.Node, error) {
	var out []slurm.Node
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
		if o.Group != "" && slices.Contains(n.Partitions, o.Group) {
			out = append(out, n)
		}
	}
	if o.Group != "" && len(out) == 0 {
		return nil, errs.NotFoundf("partition %q not found, or it has no nodes", o.Group).Suggest(errs.Run("list-cluster-nodes", "--scheduler", "slurm"))
	}
	for _, name := range o.Nodes {
		at := slices.IndexFunc(all, func(n slurm.Node) bool { return n.Name == name })
		if at < 0 {
			e := errs.NotFoundf("node %q not found on the Slurm cluster", name).Suggest(errs.Run("list-cluster-nodes", "--scheduler", "slurm"))
			if near := errs.Near(name, names); len(near) > 0 {
				e.WithFact("did you mean", strings.Join(near, ", "))
			}
			return nil, e
		}
		if !slices.ContainsFunc(out, func(n slurm.Node) bool { return n.Name == name }) {
			out = append(out, all[at])
		}
	}
	return out, nil
}

// takeSlurm takes all arguments as nodes: the cluster is that of this machine.
func (o *Options) takeSlurm(f *factory.Factory, args []string) bool {
	// On AWS a node is named by its instance id, after its cluster.
	instance := func(arg string) bool { return strings.HasPrefix(arg, "i-") }
	if o.Cluster != "" || !f.SlurmInstead(o.Account == factory.Account{} && !slices.ContainsFunc(args, instance)) {
		return false
	}
	o.Nodes, o.slurm = args, true
	return true
}
