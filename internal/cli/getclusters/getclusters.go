// Package getclusters is `hyperpod get-clusters`.
package getclusters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Options are what was typed.
type Options struct {
	Factory      *factory.Factory
	Account      factory.Account
	Clusters     []string
	Namespaces   []string
	Orchestrator string
	Group        bool
	Watch        bool
	// Tick paces --watch; nil is every 30 seconds.
	Tick <-chan time.Time
}

// The values of --orchestrator.
const all = "all"

var orchestrators = []string{all, "eks", "slurm"}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "get-clusters",
		Aliases: []string{"list-clusters", "get-cluster"},
		Short:   "List HyperPod clusters and their free accelerators",
		Long: `List the HyperPod clusters of a region, with one row for each instance type. The
free accelerators come from the nodes and pods of the cluster. With --namespace,
the list also shows the accelerator quota of a team.

The command reads the clusters in parallel and does not change the kubeconfig. A
cluster that cannot be read keeps its rows, with SageMaker's counts.

With --watch, the command reads the clusters every 30 seconds. A terminal shows
the current list; a pipe or a file gets a line for each changed row.`,
		Example: `  hyperpod get-clusters --region us-west-2
  hyperpod get-clusters --clusters ml-prod,ml-dev -n hyperpod-ns-ml-engineers
  hyperpod get-clusters --group -o json
  hyperpod get-clusters --watch`,
		RunE: factory.RunE(o, factory.NoArgs, Run, runF),
	}
	fs := cmd.Flags()
	factory.AddAccountFlags(f, cmd, &o.Account)
	fs.StringSliceVar(&o.Clusters, "clusters", nil, "names of the clusters to show (default: all of the region)")
	fs.StringSliceVarP(&o.Namespaces, "namespace", "n", nil, "show the accelerator quota of this namespace (repeatable)")
	fs.StringVar(&o.Orchestrator, "orchestrator", all, "only clusters with this orchestrator: all|eks|slurm")
	fs.BoolVar(&o.Group, "group", false, "in JSON, group the instance types of a cluster")
	fs.BoolVarP(&o.Watch, "watch", "w", false, "watch for changes until interrupted")
	factory.Complete(cmd, "orchestrator", orchestrators...)
	f.CompleteFlag(cmd, "clusters", factory.HyperPodClusters(&o.Account))
	f.CompleteFlag(cmd, "namespace", factory.Namespaces)
	return cmd
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	if !slices.Contains(orchestrators, o.Orchestrator) {
		return factory.Invalid("orchestrator", o.Orchestrator, "must be one of "+strings.Join(orchestrators, ", "))
	}
	for _, ns := range o.Namespaces {
		if why := kinds.NotNamespace(ns); why != "" {
			return errs.Usagef("--namespace %s", why)
		}
	}
	if slices.ContainsFunc(o.Clusters, func(name string) bool { return strings.TrimSpace(name) == "" }) {
		return errs.Usagef("--clusters has an empty name")
	}
	return nil
}

// Run lists the clusters.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	client, err := f.AWS(ctx, o.Account, "")
	if err != nil {
		return err
	}
	if o.Watch {
		return o.watch(ctx, client, format)
	}
	found, err := o.find(ctx, client)
	if err != nil {
		return err
	}
	for _, text := range notes(found, format) {
		f.Notef("%s", text)
	}
	rows := flat(found)
	var document any = rows
	if o.Group {
		document = grouped(found)
	}
	err = output.Print(f.IO, format, document, func() output.Table { return o.table(rows, client.Region()) }, func() (out []string) {
		for _, c := range found {
			out = append(out, c.name)
		}
		return out
	})
	return output.Outcome(err, nothing(found))
}

// find reads the chosen clusters.
func (o *Options) find(ctx context.Context, client *aws.Client) ([]cluster, error) {
	names := make([]string, 0, len(o.Clusters))
	for _, name := range o.Clusters {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		list, err := client.ListClusters(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			names = append(names, s.Name)
		}
	}
	found := o.readAll(ctx, client, names)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(c cluster) bool {
		return o.Orchestrator != all && c.orchestrator != "" && !strings.EqualFold(c.orchestrator, o.Orchestrator)
	}), nil
}

// notes returns the remarks on clusters that were not read in full.
func notes(found []cluster, format output.Format) (out []string) {
	for _, c := range found {
		for _, note := range c.notes {
			out = append(out, fmt.Sprintf("note: %s: %s", c.name, note))
		}
		if c.err != nil && format.IsTable() {
			out = append(out, fmt.Sprintf("warning: %s: %v", c.name, c.err))
		}
	}
	return out
}

// nothing returns the error if no cluster could be read.
func nothing(found []cluster) error {
	if len(found) == 0 || slices.ContainsFunc(found, func(c cluster) bool { return c.err == nil }) {
		return nil
	}
	if len(found) == 1 {
		return found[0].err
	}
	return errs.Wrap(found[0].err, fmt.Sprintf("cannot read any of the %d clusters", len(found))).WithCode(errs.Failure)
}

// cluster is what is known of one cluster.
type cluster struct {
	name, status, orchestrator string
	types                      []instanceType
	err                        error
	notes                      []string
}

// instanceType are the figures of one instance type; nil is not known.
type instanceType struct {
	name                                 string
	nodes, free, schedulable, passedDeep *int64
	namespaces                           map[string]Quota
}

// ofGroups returns the instance types by what SageMaker knows of the instance groups.
func ofGroups(c clusters.Cluster) (out []instanceType) {
	at := map[string]int{}
	for _, g := range c.Groups {
		name := strings.Join(g.InstanceTypes, ",")
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, instanceType{name: name, nodes: new(int64)})
		}
		*out[i].nodes += int64(g.Current)
	}
	slices.SortFunc(out, func(a, b instanceType) int { return strings.Compare(a.name, b.name) })
	return out
}
