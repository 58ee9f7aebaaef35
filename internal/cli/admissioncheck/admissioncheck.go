// Package admissioncheck is shared by the commands that ask the admission checker: it
// reads the cluster for it and prints its answers.
package admissioncheck

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/collector"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Load reads what the checker needs. For a user without permission to list all
// namespaces it reads those that it finds, the given one among them.
func Load(ctx context.Context, c *factory.Cluster, namespace string) (*inputs.Inputs, error) {
	defer collector.Grow()()
	in, err := inputs.Load(ctx, c.Client, inputs.Options{Finished: true, Namespaces: func(ctx context.Context) ([]string, error) {
		names, _ := c.KnownNamespaces(ctx, namespace, kinds.Workload) // without team namespaces, that of the job
		return names, nil
	}}, c.Now())
	if err == nil && c.Snapshot != nil && c.Snapshot.Plain {
		lackInFile(in)
	}
	return in, err
}

// lackInFile notes the kinds that decide about quota and that are missing in a file of plain objects. The
// cluster may still have some.
func lackInFile(in *inputs.Inputs) {
	for _, k := range []struct {
		kinds.Resource
		objects int
	}{
		{kinds.LocalQueue, len(in.LocalQueues)}, {kinds.ClusterQueue, len(in.ClusterQueues)},
		{kinds.ResourceFlavor, len(in.Flavors)}, {kinds.Workload, len(in.Workloads)},
	} {
		known := slices.ContainsFunc(in.Missing, func(m state.Missing) bool { return m.Resource.FullName() == k.FullName() })
		if k.objects == 0 && !known && (k.Kind != kinds.Workload.Kind || !countsNone(in)) {
			in.Missing = append(in.Missing, state.Missing{Resource: k.Resource, Verb: "list", Reason: state.NotInFile})
		}
	}
}

// countsNone reports whether the status of every ClusterQueue is known. One that counts workloads is missing them already.
func countsNone(in *inputs.Inputs) bool {
	return len(in.ClusterQueues) > 0 && !slices.ContainsFunc(in.ClusterQueues, func(q *kueue.ClusterQueue) bool { return len(q.Status.Conditions) == 0 })
}

// submittable returns the team namespaces in which the user can create jobs. It asks for each of them, unless the user can
// list all namespaces and create jobs in all of them.
func submittable(ctx context.Context, c *factory.Cluster, in *inputs.Inputs) (names []string) {
	if len(in.Namespaces) > 0 {
		if all, err := c.CanI(ctx, "create", kinds.PyTorchJob.Resource, "", ""); err == nil && all {
			for _, n := range in.Namespaces {
				if n.Labels[kinds.ManagedQueueLabel] == "true" {
					names = append(names, n.Name)
				}
			}
			return names
		}
	}
	names, _ = discovery.AccessibleNamespaces(ctx, c.Client, "create", kinds.PyTorchJob.Resource) // without them, the job's namespace remains
	return names
}

// Queues returns the local queues of the namespace, and of the other team namespaces
// in which the user can create jobs.
func Queues(ctx context.Context, c *factory.Cluster, in *inputs.Inputs, namespace string) []*kueue.LocalQueue {
	usable := map[string]bool{namespace: true}
	for _, n := range submittable(ctx, c, in) {
		usable[n] = true
	}
	var out []*kueue.LocalQueue
	for _, own := range []bool{true, false} {
		for _, q := range in.LocalQueues {
			if usable[q.Namespace] && (q.Namespace == namespace) == own {
				out = append(out, q)
			}
		}
	}
	return out
}

// PermissionCheck returns the function that reports whether the user has a permission. It asks the
// cluster once for each verb, kind and namespace, and returns true where the cluster
// does not answer: the command itself reports a refusal.
func PermissionCheck(c *factory.Cluster) func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool {
	type right struct{ verb, kind, namespace string }
	asked := map[right]bool{}
	return func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool {
		r := right{verb, k.FullName(), namespace}
		may, again := asked[r]
		if !again {
			allowed, err := c.CanI(ctx, verb, k, namespace, "")
			may = err != nil || allowed
			asked[r] = may
		}
		return may
	}
}

// AddAllHoldersFlag adds the flag that lists every job of the lists that a verdict cuts.
func AddAllHoldersFlag(cmd *cobra.Command, all *bool) {
	cmd.Flags().BoolVar(all, "all-holders", false, "list every job that holds the missing quota or would be preempted (default: the 10 nearest)")
}

// Print prints a document of the checker, as a text page instead of a table. A verdict
// at the start of the page is colored.
func Print(f *factory.Factory, format output.Format, document any, text func() string, name string) error {
	if !format.IsTable() {
		return output.Print(f.IO, format, document, nil, func() []string { return []string{name} })
	}
	page := output.SafeLines(text())
	word, rest, _ := strings.Cut(page, " ")
	style := map[string]output.Style{"ADMITTED": output.Good, "WAITS": output.Warn, "NEVER": output.Bad, "UNKNOWN": output.Warn}
	if s, ok := style[word]; ok {
		word = f.IO.Paint(s, word)
	}
	_, err := io.WriteString(f.IO.Out, word+" "+rest)
	return err
}

// IgnoreUnavailable drops the error of a read that the answer does not need: forbidden, not
// served or not found.
func IgnoreUnavailable(err error) error {
	if kube.IsForbidden(err) || kube.IsNotServed(err) || kube.IsNotFound(err) {
		return nil
	}
	return err
}
