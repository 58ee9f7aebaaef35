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
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// outlook is the position of a pending workload and the next decision about it.
type outlook struct {
	position, of int
	decision     admission.Decision
}

// predict returns notes on the effect of another priority class: a job that holds quota
// keeps it; a pending job changes its position and may be admitted.
func predict(ctx context.Context, c *factory.Cluster, t patch.Target, choice discovery.PriorityChoice) []string {
	if t.Workload == nil {
		return nil
	}
	if t.Workload.Admission != nil && !choice.Known {
		return []string{"the job keeps its quota; jobs of its queue with a higher priority can now preempt it"}
	}
	if t.Workload.Admission != nil {
		return []string{fmt.Sprintf("the job keeps its quota; jobs of its queue with a priority above %d can now preempt it", choice.Value)}
	}
	if !t.Workload.Active {
		return []string{"the job stays suspended: the priority counts when it is queued again"}
	}
	if !choice.Known {
		return []string{"cannot predict the effect: no permission to list workloadpriorityclasses"}
	}
	in, err := inputs.Load(ctx, c.Client, inputs.Options{Namespaces: func(ctx context.Context) ([]string, error) {
		return c.KnownNamespaces(ctx, t.Job.Namespace, kinds.Workload)
	}}, c.Now())
	if err != nil {
		return []string{fmt.Sprintf("cannot predict the effect: %v", err)}
	}
	at := slices.IndexFunc(in.Workloads, func(w *kueue.Workload) bool { return string(w.UID) == t.Workload.UID })
	if at < 0 {
		return []string{"cannot predict the effect: no permission to read its Workload"}
	}
	before, err := look(ctx, in, at)
	if err != nil {
		return []string{fmt.Sprintf("cannot predict the effect: %v", err)}
	}
	next := *in
	next.Workloads = slices.Clone(in.Workloads)
	w := in.Workloads[at].DeepCopy()
	w.Spec.Priority = &choice.Value
	w.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef(choice.Name)
	next.Workloads[at] = w
	after, err := look(ctx, &next, at)
	if err != nil {
		return []string{fmt.Sprintf("cannot predict the effect: %v", err)}
	}
	out := []string{effect(before, after, in)}
	if !in.Rules().Known {
		out = append(out, "the prediction assumes Kueue's default configuration: no permission to read the cluster's")
	}
	if in.Partial() {
		out = append(out, "the prediction is incomplete: no permission to read everything that Kueue decides on")
	}
	return out
}

// look returns the outlook of one workload of the inputs.
func look(ctx context.Context, in *inputs.Inputs, at int) (outlook, error) {
	e, _, err := in.Engine(ctx)
	if err != nil {
		return outlook{}, notetext.Error(err)
	}
	w := in.Workloads[at]
	var o outlook
	if o.decision, err = e.Probe(ctx, w); err != nil {
		return o, err
	}
	line := e.Pending(o.decision.ClusterQueue)
	o.of = len(line)
	o.position = 1 + slices.IndexFunc(line, func(p admission.PendingWorkload) bool { return p.Namespace == w.Namespace && p.Name == w.Name })
	return o, nil
}

// effect returns the difference in words.
func effect(before, after outlook, in *inputs.Inputs) string {
	position := ""
	switch {
	case after.position == 0 || before.position == 0:
	case after.position == before.position:
		position = fmt.Sprintf("its position in the queue stays %d of %d", after.position, after.of)
	default:
		position = fmt.Sprintf("its position in the queue changes from %d to %d of %d", before.position, after.position, after.of)
	}
	now := "it would stay pending: " + after.decision.Message
	if after.decision.Message == "" {
		now = "it would stay pending"
	}
	if after.decision.Outcome == admission.Admitted {
		now = "it would start now"
	}
	if names := preempted(after.decision, in); names != "" {
		now = "it would start now and preempt " + names
	}
	return strings.TrimPrefix(position+"; "+now, "; ")
}

// preempted returns the names of the jobs that would be preempted.
func preempted(d admission.Decision, in *inputs.Inputs) string {
	var out []string
	for _, p := range d.Preempts {
		name := p.Namespace + "/" + in.JobName(p.Namespace, p.Name)
		if p.Lost {
			name += " (" + words.JobLost + ")"
		}
		out = append(out, name)
	}
	return words.Some(out, 4)
}
