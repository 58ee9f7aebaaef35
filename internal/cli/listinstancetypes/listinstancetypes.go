// Package listinstancetypes is `hyperpod list-instance-types`.
package listinstancetypes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are the arguments and flags of the command.
type Options struct {
	Factory *factory.Factory
	// Words select the types whose name contains one of them.
	Words []string

	Accelerator     string // gpu, trainium, none or a resource name
	MinAccelerators int
	MinVCPU         int
	MinMemory       string // a quantity
	EFA, MIG        bool
	InCluster       bool // only types of the nodes in the cluster
	NoCluster       bool
}

var accelerators = []string{"gpu", "trainium", "none"}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-instance-types [WORD...]",
		Aliases: []string{"list-instance-type"},
		Short:   "List instance types and how many the cluster has",
		Long: `List the instance types of HyperPod clusters whose name contains one of the
words. With a cluster, the list also shows the number of nodes of each type, and
the free accelerators on nodes that are ready and schedulable. For types
that are not in the built-in table, it shows the capacity of their nodes.`,
		Example: `  hyperpod list-instance-types p5
  hyperpod list-instance-types --accelerator gpu --min-memory 1Ti --efa
  hyperpod list-instance-types --in-cluster -o json`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Accelerator, "accelerator", "", "only types with this accelerator: gpu, trainium, none, or a resource name")
	fs.IntVar(&o.MinAccelerators, "min-accelerators", 0, "only types with at least this many accelerators")
	fs.IntVar(&o.MinVCPU, "min-vcpu", 0, "only types with at least this many vCPUs")
	fs.StringVar(&o.MinMemory, "min-memory", "", "only types with at least this much memory, for example 512Gi")
	fs.BoolVar(&o.EFA, "efa", false, "only types with EFA interfaces")
	fs.BoolVar(&o.MIG, "mig", false, "only types whose GPUs support MIG")
	fs.BoolVar(&o.InCluster, "in-cluster", false, "only types of the nodes in the cluster")
	fs.BoolVar(&o.NoCluster, "no-cluster", false, "do not contact the cluster")
	f.CompleteArgs(cmd, factory.InstanceTypes)
	factory.Complete(cmd, "accelerator", accelerators...)
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	o.Words = args
	return nil
}

// accelerator returns the kind of accelerator in lower case, as rows have it.
func (o *Options) accelerator() string { return strings.ToLower(o.Accelerator) }

// minMemory returns the least memory in bytes, 0 without --min-memory.
func (o *Options) minMemory() (int64, error) {
	if o.MinMemory == "" {
		return 0, nil
	}
	q, err := resource.ParseQuantity(o.MinMemory)
	if err != nil || q.Sign() < 0 {
		return 0, factory.Invalid("min-memory", o.MinMemory, "must be a quantity, for example 512Gi")
	}
	return q.Value(), nil
}

// Validate checks the options alone: it reads no cluster.
func (o *Options) Validate() error {
	if kind := o.accelerator(); kind != "" && !slices.Contains(accelerators, kind) && !(strings.Contains(kind, "/") && len(validation.IsQualifiedName(kind)) == 0) {
		e := errs.Usagef("invalid --accelerator %q", o.Accelerator).WithFact("must be one of", strings.Join(accelerators, ", ")+", or a resource name such as nvidia.com/gpu")
		if near := errs.Near(kind, accelerators); len(near) > 0 {
			e.Suggest(errs.Option("--accelerator", near[0]))
		}
		return e
	}
	switch {
	case o.MinAccelerators < 0:
		return factory.Invalid("min-accelerators", o.MinAccelerators, "must be at least 0")
	case o.MinVCPU < 0:
		return factory.Invalid("min-vcpu", o.MinVCPU, "must be at least 0")
	case o.InCluster && o.NoCluster:
		return factory.Excludes("in-cluster", "no-cluster")
	}
	_, err := o.minMemory()
	return err
}

// Run lists the types.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	var found census
	if !o.NoCluster {
		if found, err = o.count(ctx); err != nil {
			return err
		}
	}
	minMemory, err := o.minMemory()
	if err != nil {
		return err
	}
	rows := []Row{}
	for _, r := range catalogue(found) {
		if r.Memory >= minMemory && o.wanted(r) {
			rows = append(rows, r)
		}
	}
	return output.Print(f.IO, format, Document{rows}, func() output.Table { return table(rows, found) }, func() []string {
		var out []string
		for _, r := range rows {
			out = append(out, r.InstanceType)
		}
		return out
	})
}

// count asks the cluster; without one, or one that does not answer, the table
// alone is shown, unless only the cluster's types are wanted.
func (o *Options) count(ctx context.Context) (census, error) {
	f := o.Factory
	c, err := f.Cluster(ctx)
	var st *state.State
	if err == nil {
		st, err = state.Load(ctx, c.Client, state.Want{Nodes: true, Pods: true}, c.Now())
	}
	switch {
	case err == nil:
		found := countNodes(st)
		if o.InCluster && !found.nodesKnown {
			return found, worst(st)
		}
		switch failed := factory.Failures(st.Missing); {
		case failed != nil:
			f.Notef("note: figures of the cluster are missing: %v", failed)
		case inFile(st, kinds.Node):
			f.Notef("note: figures of the cluster are missing: the file has no nodes")
		case !found.nodesKnown:
			f.Notef("note: figures of the cluster are hidden: no permission to list nodes")
		case inFile(st, kinds.Pod):
			f.Notef("note: free accelerators are missing: the file has no pods")
		case !found.podsKnown:
			f.Notef("note: free accelerators are hidden: no permission to list pods in all namespaces")
		}
		return found, nil
	case ctx.Err() != nil || o.InCluster:
		return census{}, err
	case errors.Is(err, kube.ErrNoCluster):
		f.Notef("note: figures of the cluster are missing: no cluster is configured")
	default:
		f.Notef("note: figures of the cluster are missing: %v", err)
	}
	return census{}, nil
}

// inFile reports that the file which is read in place of a cluster lacks a kind.
func inFile(st *state.State, r kinds.Resource) bool {
	return slices.ContainsFunc(st.MissingOf(r), func(m state.Missing) bool { return m.Reason == state.NotInFile })
}

// worst returns why the nodes could not be read.
func worst(st *state.State) error {
	for _, m := range st.Missing {
		if m.Err != nil {
			return m.Err
		}
	}
	return errs.New("cannot list nodes", "the cluster gave no reason")
}

func (o *Options) wanted(r Row) bool {
	hasWord := len(o.Words) == 0
	for _, w := range o.Words {
		hasWord = hasWord || strings.Contains(r.InstanceType, strings.ToLower(w))
	}
	kind := "none"
	switch {
	case strings.HasPrefix(r.resource(), "nvidia.com/"):
		kind = "gpu"
	case strings.HasPrefix(r.resource(), "aws.amazon.com/neuron"):
		kind = "trainium"
	}
	return hasWord &&
		(o.Accelerator == "" || o.accelerator() == kind || o.accelerator() == r.resource()) &&
		r.Accelerators >= o.MinAccelerators && r.VCPU >= o.MinVCPU &&
		(!o.EFA || r.EFA > 0) && (!o.MIG || len(r.MIG) > 0) &&
		(!o.InCluster || r.Nodes != nil && *r.Nodes > 0)
}

func table(rows []Row, found census) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "TYPE", Keep: true}, {Title: "ACCELERATOR"}, {Title: "COUNT", Right: true, Keep: true}, {Title: "EFA", Right: true},
		{Title: "VCPU", Right: true}, {Title: "MEMORY", Right: true}, {Title: "CORES", Right: true, Wide: true},
		{Title: "POD-VCPU", Right: true, Wide: true}, {Title: "POD-MEMORY", Right: true, Wide: true}, {Title: "MIG", Wide: true}, {Title: "NOTE", Wide: true}},
		Empty: "no instance types found"}
	if found.nodesKnown {
		t.Columns = slices.Insert(t.Columns, 6, output.Column{Title: "NODES", Right: true, Keep: true}, output.Column{Title: "FREE", Right: true, Keep: true})
	}
	for _, r := range rows {
		cells := output.T(r.InstanceType, cmp.Or(strings.TrimPrefix(r.resource(), "aws.amazon.com/"), "-"), number(r.Accelerators), number(r.EFA), fmt.Sprint(r.VCPU), gib(r.Memory),
			number(r.CoresPerAccelerator), fmt.Sprintf("%.1f", r.AllocatableVCPU), gib(r.AllocatableMemory), cmp.Or(strings.Join(r.MIG, ","), "-"), cmp.Or(r.Note, "-"))
		if found.nodesKnown {
			cells = slices.Insert(cells, 6, output.T(optional(r.Nodes, found.nodesKnown), optional(r.AcceleratorDevicesAvailable, found.podsKnown && r.Accelerators > 0 && r.Nodes != nil && *r.Nodes > 0))...)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func optional(n *int, known bool) string {
	if n == nil || !known {
		return "-"
	}
	return fmt.Sprint(*n)
}

func gib(bytes int64) string { return fmt.Sprintf("%dGi", bytes>>30) }
