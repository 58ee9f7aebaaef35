package patchjob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/patch"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// outlook is where a waiting workload stands.
type outlook struct {
	place, of int
	decision  admission.Decision
}

// predict says what another priority does to a job: nothing to one that holds
// quota, another place and perhaps admission to one that waits.
func predict(ctx context.Context, c *factory.Cluster, t patch.Target, choice discovery.PriorityChoice) []string {
	if t.Workload == nil {
		return nil
	}
	if t.Workload.Admission != nil {
		return []string{fmt.Sprintf("it has its quota and keeps it; from now on jobs of its queue with a priority above %d may preempt it", choice.Value)}
	}
	in, err := inputs.Load(ctx, c.Client, inputs.Options{Namespaces: func(ctx context.Context) ([]string, error) {
		return discovery.AccessibleNamespaces(ctx, c.Client, "list", kinds.Workload)
	}}, c.Now())
	if err != nil {
		return []string{fmt.Sprintf("its effect cannot be predicted: %v", err)}
	}
	at := slices.IndexFunc(in.Workloads, func(w *kueue.Workload) bool { return string(w.UID) == t.Workload.UID })
	if at < 0 {
		return []string{"its effect cannot be predicted: its Workload cannot be seen"}
	}
	before, err := look(ctx, in, at)
	if err != nil {
		return []string{fmt.Sprintf("its effect cannot be predicted: %v", err)}
	}
	next := *in
	next.Workloads = slices.Clone(in.Workloads)
	w := in.Workloads[at].DeepCopy()
	w.Spec.Priority = &choice.Value
	w.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef(choice.Name)
	next.Workloads[at] = w
	after, err := look(ctx, &next, at)
	if err != nil {
		return []string{fmt.Sprintf("its effect cannot be predicted: %v", err)}
	}
	out := []string{effect(before, after, in)}
	if !in.Rules().Known {
		out = append(out, "that is with Kueue's default configuration: the cluster's own cannot be read")
	}
	if in.Partial() {
		out = append(out, "that is as far as can be seen: you may not read everything that Kueue decides on")
	}
	return out
}

// look asks the checker about one workload of the inputs.
func look(ctx context.Context, in *inputs.Inputs, at int) (outlook, error) {
	e, _, err := in.Engine(ctx)
	if err != nil {
		return outlook{}, err
	}
	w := in.Workloads[at]
	var o outlook
	if o.decision, err = e.Probe(ctx, w); err != nil {
		return o, err
	}
	line := e.Pending(o.decision.ClusterQueue)
	o.of = len(line)
	o.place = 1 + slices.IndexFunc(line, func(p admission.PendingWorkload) bool { return p.Namespace == w.Namespace && p.Name == w.Name })
	return o, nil
}

// effect words the difference.
func effect(before, after outlook, in *inputs.Inputs) string {
	place := ""
	switch {
	case after.place == 0 || before.place == 0:
	case after.place == before.place:
		place = fmt.Sprintf("its place stays %d of %d", after.place, after.of)
	default:
		place = fmt.Sprintf("its place goes from %d to %d of %d", before.place, after.place, after.of)
	}
	now := "it would still wait: " + after.decision.Message
	if after.decision.Message == "" {
		now = "it would still wait"
	}
	if after.decision.Outcome == admission.Admitted {
		now = "it would start now"
	}
	if names := preempted(after.decision, in); names != "" {
		now = "it would start now, in the place of " + names
	}
	return strings.TrimPrefix(place+"; "+now, "; ")
}

// preempted are the jobs that would make room, by the names people gave them.
func preempted(d admission.Decision, in *inputs.Inputs) string {
	var out []string
	for _, p := range d.Preempts {
		out = append(out, p.Namespace+"/"+in.JobName(p.Namespace, p.Name))
	}
	return strings.Join(out, ", ")
}
