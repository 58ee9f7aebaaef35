package live

import (
	"context"
	"fmt"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Rest reads the state and returns an error while Kueue still moves jobs: the simulation of the state without a change
// changes something, or Kueue has not evaluated a workload. gates are the feature gates that Kueue was given on its command
// line. Kueue must write a reason for every pending workload (UnadmittedWorkloadsObservability).
func Rest(ctx context.Context, c *kube.Client, gates map[string]bool) (*inputs.Inputs, error) {
	in, err := inputs.Load(ctx, c, inputs.Options{}, time.Now())
	if err != nil {
		return nil, err
	}
	in.Manager.Gates = gates
	r, err := simulate.Run(ctx, simulate.Of(in), nil, simulate.Options{})
	if err != nil {
		return nil, err
	}
	var moving []string
	for _, j := range r.Jobs {
		if j.Changed() || j.Before.State == simulate.Evicting {
			moving = append(moving, j.Namespace+"/"+j.Name)
		}
	}
	for _, w := range in.Workloads {
		if !isActive(w) {
			continue
		}
		// Kueue frees quota before it tries the parked workloads again: one that it has not tried yet could come first.
		c := QuotaOf(w)
		if c.Reason == kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads || c.Settled(inStrictQueue(in, w), true) != nil {
			moving = append(moving, w.Namespace+"/"+w.Name)
		}
	}
	if len(moving) > 0 {
		return nil, fmt.Errorf("these still change: %v", moving)
	}
	return in, nil
}

// isActive reports that Kueue looks at a workload; it does not look at one of a suspended job.
func isActive(w *kueue.Workload) bool { return w.Spec.Active == nil || *w.Spec.Active }

func inStrictQueue(in *inputs.Inputs, w *kueue.Workload) bool {
	lq := in.LocalQueue(w.Namespace, string(w.Spec.QueueName))
	if lq == nil {
		return false
	}
	cq := in.ClusterQueue(string(lq.Spec.ClusterQueue))
	return cq != nil && cq.Spec.QueueingStrategy == kueue.StrictFIFO
}
