package listclusternodes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/slurmjob"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/slurmtext"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
	"github.com/hyperpod-cli/hyperpod/internal/slurm/client"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// runSlurm is Run on the Slurm cluster of this machine. A group is a partition.
func runSlurm(ctx context.Context, o *Options, c *client.Client) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return slurmtext.Error("cannot list nodes", err)
	}
	running, err := slurmjob.OnNodes(ctx, c)
	if err != nil {
		return err
	}
	rows := []Row{}
	for _, n := range nodes {
		if r := slurmRow(n, len(running[n.Name])); (o.Group == "" || slices.Contains(n.Partitions, o.Group)) && (!o.Faulty || r.faulty()) {
			rows = append(rows, r)
		}
	}
	return output.Print(f.IO, format, Document{rows}, func() output.Table { return slurmTable(rows) }, func() (out []string) {
		for _, r := range rows {
			out = append(out, *r.Node)
		}
		return out
	})
}

// slurmRow returns a node of Slurm. The status is Slurm's state unless the node takes jobs, and
// the message is the reason that Slurm has for it. Pods are jobs.
func slurmRow(n slurm.Node, jobsOn int) Row {
	ready, out := !n.Out(), n.Out()
	r := Row{InstanceGroup: strings.Join(n.Partitions, ","), Status: running, Message: n.Reason, Node: &n.Name, Ready: &ready, Unschedulable: &out, Pods: &jobsOn,
		HealthRow: jobs.HealthRow{Faults: []string{}}}
	if out {
		r.Status = n.State
	}
	for _, f := range n.Features {
		if t, known := instances.Lookup(f); known {
			r.InstanceType = t.Name
		}
	}
	pending := map[slurm.Action]string{slurm.Replace: "Replacement", slurm.Reboot: "Reboot"}[n.Pending()]
	if pending != "" {
		r.PendingAction = &pending
	}
	return r
}

func slurmTable(rows []Row) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "NODE", Keep: true}, {Title: "PARTITION"}, {Title: "TYPE"}, {Title: "STATE", Keep: true}, {Title: "JOBS", Right: true}, {Title: "PENDING"}, {Title: "REASON", Wrap: true, Below: true}},
		Empty: "no nodes in the Slurm cluster"}
	for _, r := range rows {
		style := output.Plain
		if r.faulty() {
			style = output.Bad
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: *r.Node}, {Text: r.InstanceGroup}, {Text: cmp.Or(r.InstanceType, "-")}, {Text: strings.ToLower(r.Status), Style: style}, {Text: count(r.Pods)}, {Text: text(r.PendingAction)}, {Text: cmp.Or(r.Message, "-")}})
	}
	return t
}
