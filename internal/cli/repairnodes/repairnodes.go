// Package repairnodes has the commands that act on nodes of a HyperPod cluster:
// `hyperpod reboot-cluster-nodes`, `replace-cluster-nodes`, `delete-cluster-nodes`,
// `check-cluster-nodes` and `add-cluster-nodes`.
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
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/clustertext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
	// Nodes are instance ids or names of Kubernetes nodes.
	Nodes []string
	// Group chooses all nodes of an instance group.
	Group string
	// Checks are the deep health checks of check-cluster-nodes.
	Checks []string
	DryRun bool
	Yes    bool

	verb verb
	// slurm: the nodes are those of the Slurm cluster of this machine.
	slurm bool
}

// verb is what a command does to nodes.
type verb struct {
	repair clusters.Repair // "" is a deep health check
	// name is the command, does the verb in questions.
	name, does string
	// effect says what becomes of pods and data.
	effect string
}

// The commands.
var (
	reboot  = verb{clusters.Reboot, "reboot-cluster-nodes", "Reboot", "all pods stop"}
	replace = verb{clusters.Replace, "replace-cluster-nodes", "Replace", "all pods stop, and data on local disks is lost"}
	remove  = verb{clusters.Delete, "delete-cluster-nodes", "Delete", "all pods stop, data on local disks is lost, and the instance groups shrink"}
	check   = verb{"", "check-cluster-nodes", "Check", "no new pods meanwhile, and nodes that fail are rebooted or replaced"}
)

// NewRebootCmd returns reboot-cluster-nodes.
func NewRebootCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	return newCmd(f, reboot, "Reboot nodes of a HyperPod cluster", `Reboot nodes of a HyperPod cluster, 25 per request.
`+common+commonSlurm, runF)
}

// NewReplaceCmd returns replace-cluster-nodes.
func NewReplaceCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	return newCmd(f, replace, "Replace nodes of a HyperPod cluster with new instances", `Replace nodes of a HyperPod cluster with new instances, 25 per request.
`+common+commonSlurm, runF)
}

// NewDeleteCmd returns delete-cluster-nodes.
func NewDeleteCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	return newCmd(f, remove, "Delete nodes of a HyperPod cluster", `Delete nodes of a HyperPod cluster, 99 per request. Their instance groups
shrink.
`+common, runF)
}

// NewCheckCmd returns check-cluster-nodes.
func NewCheckCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	return newCmd(f, check, "Start deep health checks on HyperPod nodes", `Start deep health checks on nodes of a HyperPod cluster: stress tests of the
instance, and of the connections between instances.
`+common, runF)
}

const common = `
The command names the jobs on the nodes and prompts. Each node succeeds or fails
on its own; the exit code is 1 if one failed.

Name a node by its instance id or by its Kubernetes node.`

const commonSlurm = `

With --scheduler slurm, omit CLUSTER: the nodes are those of the Slurm cluster
of this machine.`

func newCmd(f *factory.Factory, v verb, short, long string, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, verb: v}
	cmd := &cobra.Command{
		Use:     v.name + " CLUSTER NODE...",
		Aliases: []string{strings.TrimSuffix(v.name, "s")},
		Short:   short,
		Long:    long,
		Example: "  hyperpod " + v.name + " ml-prod i-0d64806b32c3ee282\n  hyperpod " + v.name + " ml-prod --group accelerated-p5 --dry-run",
		RunE:    factory.RunE(o, o.take, Run, runF),
	}
	o.AddFlags(f, cmd)
	o.CompleteNodeArgs(f, cmd, 0)
	fs := cmd.Flags()
	o.AddGroup(f, cmd, &o.Group, "all nodes of this instance group")
	if v.repair == "" {
		fs.StringSliceVar(&o.Checks, "check", healthChecks, "deep health checks to run")
		factory.Complete(cmd, "check", healthChecks...)
	}
	fs.BoolVar(&o.DryRun, "dry-run", false, "show the nodes and their jobs; change nothing")
	fs.BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	if o.takeSlurm(o.Factory, args) {
		return nil
	}
	o.Nodes = args
	if o.Cluster == "" && len(args) > 0 {
		o.Cluster, o.Nodes = args[0], args[1:]
	}
	_, err := factory.HyperPodCluster(o.Cluster, nil)
	return err
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	switch {
	case len(o.Nodes) == 0 && o.Group == "":
		return errs.Usagef("a node is required").Suggest(errs.Run("list-cluster-nodes", o.Cluster, "--faulty").WithNote("shows nodes with faults"), errs.Option("--group", "GROUP"))
	case len(o.Nodes) > 0 && o.Group != "":
		return errs.Usagef("node names cannot be used with --group").WithAdvice("remove one of them")
	}
	for _, c := range o.Checks {
		if !slices.Contains(healthChecks, c) {
			return invalidCheck(c)
		}
	}
	if o.verb.repair == "" && len(o.Checks) == 0 {
		return invalidCheck("")
	}
	if o.slurm {
		return nil // Slurm's nodes have any name
	}
	return findnode.CheckNames(o.Nodes)
}

func invalidCheck(given string) error {
	return factory.Invalid("check", given, "must be "+strings.Join(healthChecks, " or "))
}

// Row is what became of a node.
type Row struct {
	InstanceID    string `json:"InstanceId"`
	InstanceGroup string
	// Result is Accepted, Failed, or Planned with --dry-run.
	Result string
	// ErrorCode and Message are SageMaker's.
	ErrorCode, Message string
}

// Document is what -o json prints.
type Document struct {
	Nodes []Row `json:"nodes"`
}

// healthChecks are the deep health checks of the API.
var healthChecks = spec.HealthCheck().Enum

// The results.
const (
	accepted = "Accepted"
	failed   = "Failed"
	planned  = "Planned"
)

// Run acts on the nodes.
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
	nodes, err := o.choose(ctx, client, c)
	if err != nil {
		return err
	}
	if err := o.name(ctx, client, c, nodes); err != nil {
		return err
	}
	if o.DryRun {
		return show(f, format, rowsOf(nodes, nil))
	}
	if err := f.Agree(ctx, o.Yes, o.verb.does+" "+words.Count(len(nodes), "node", "nodes")+" of cluster "+c.Name+"?", errs.Option("--dry-run").WithNote("shows the nodes and their jobs")); err != nil {
		return err
	}
	outcomes, err := o.act(ctx, client, c, nodes)
	if err != nil && len(outcomes) == 0 {
		return err
	}
	rows := rowsOf(nodes[:len(outcomes)], outcomes)
	if printErr := show(f, format, rows); printErr != nil {
		return printErr
	}
	return result(o.verb.does, rows, len(nodes), err)
}

// choose returns the nodes that were named.
func (o *Options) choose(ctx context.Context, client *aws.Client, c clusters.Cluster) ([]clusters.Node, error) {
	if o.Group != "" {
		if _, err := findnode.Group(c, o.Group); err != nil {
			return nil, err
		}
	}
	list, err := client.ListNodes(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	if o.Group == "" {
		return findnode.Nodes(list, o.Nodes, c.Name)
	}
	list = slices.DeleteFunc(list, func(n clusters.Node) bool { return n.Group != o.Group || n.InstanceID == "" })
	if len(list) == 0 {
		return nil, errs.NotFoundf("instance group %s of cluster %s has no instances", o.Group, c.Name)
	}
	return list, nil
}

// name says what the command does to whom.
func (o *Options) name(ctx context.Context, client *aws.Client, c clusters.Cluster, nodes []clusters.Node) error {
	f := o.Factory
	use, err := findnode.UseOf(ctx, f, client, c, nodes)
	if err != nil {
		return err
	}
	f.Notef("%s of cluster %s: %s", words.Count(len(nodes), "node", "nodes"), c.Name, o.verb.effect)
	switch {
	case len(use.Jobs) > 0:
		f.Notef("affected jobs: %s", clustertext.Jobs(use.Jobs))
	case use.Known:
		f.Notef("no jobs are affected")
	}
	return nil
}

// act sends the requests.
func (o *Options) act(ctx context.Context, client *aws.Client, c clusters.Cluster, nodes []clusters.Node) ([]clusters.Outcome, error) {
	var ids []string
	groups := map[string][]string{}
	var all []clusters.Outcome
	for _, n := range nodes {
		ids = append(ids, n.InstanceID)
		groups[n.Group] = append(groups[n.Group], n.InstanceID)
		all = append(all, clusters.Outcome{Node: n.InstanceID})
	}
	if o.verb.repair != "" {
		return client.Repair(ctx, c.Name, o.verb.repair, ids)
	}
	if err := client.CheckNodes(ctx, c.Name, groups, o.Checks); err != nil {
		return nil, err
	}
	return all, nil
}

// rowsOf joins nodes with their outcomes; without outcomes the nodes are planned.
func rowsOf(nodes []clusters.Node, outcomes []clusters.Outcome) []Row {
	rows := []Row{}
	for i, n := range nodes {
		r := Row{InstanceID: n.InstanceID, InstanceGroup: n.Group, Result: planned}
		if outcomes != nil {
			r.Result = accepted
			if o := outcomes[i]; !o.OK() {
				r.Result, r.ErrorCode, r.Message = failed, o.Code, o.Message
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func show(f *factory.Factory, format output.Format, rows []Row) error {
	return output.Print(f.IO, format, Document{rows}, func() output.Table { return table(rows) }, func() (out []string) {
		for _, r := range rows {
			if r.InstanceID != "" {
				out = append(out, r.InstanceID)
			}
		}
		return out
	})
}

func table(rows []Row) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "INSTANCE", Keep: true}, {Title: "GROUP"}, {Title: "RESULT", Keep: true}, {Title: "ERROR"}, {Title: "MESSAGE", Wrap: true, Below: true}}, Empty: "no nodes"}
	for _, r := range rows {
		style := output.Plain
		if r.Result == failed {
			style = output.Bad
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: dash(r.InstanceID)}, {Text: r.InstanceGroup}, {Text: r.Result, Style: style}, {Text: dash(r.ErrorCode)}, {Text: dash(r.Message)}})
	}
	return t
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// result returns the error about nodes that failed, or were not reached because a request
// failed.
func result(does string, rows []Row, wanted int, err error) error {
	bad := 0
	for _, r := range rows {
		if r.Result == failed {
			bad++
		}
	}
	if err != nil {
		return errs.Wrap(err, fmt.Sprintf("only %d of %s were sent", len(rows), words.Count(wanted, "node", "nodes"))).WithCode(errs.ExitOf(err))
	}
	if bad == 0 {
		return nil
	}
	return errs.New(fmt.Sprintf("cannot %s %d of %s", strings.ToLower(does), bad, words.Count(wanted, "node", "nodes")), "SageMaker refused")
}
