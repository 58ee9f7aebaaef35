package integration

import (
	"context"
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
)

// RestoreJob returns a job as it was submitted. It uses the job's Workload (JSON, of any served version) to remove what
// Kueue added to the pod templates at the start. The result is JSON, and suspended.
func RestoreJob(ctx context.Context, job, workload []byte) ([]byte, error) {
	list, err := decode.Objects(workload)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if wl, ok := o.(*kueue.Workload); ok {
			return SuspendJob(ctx, job, wl)
		}
	}
	return nil, fmt.Errorf("the object is not a Workload")
}
