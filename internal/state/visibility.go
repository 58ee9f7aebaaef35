package state

import (
	"context"
	"net/url"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// PendingWorkload is a workload's place in its queues as Kueue's visibility API
// has it, from 0.
type PendingWorkload struct {
	Namespace, Name              string
	InClusterQueue, InLocalQueue int
}

// pendingLimit is far above what a person reads; the API's own default is 1,000.
const pendingLimit = "10000"

// PendingIn reads the order of what waits in a LocalQueue, as Kueue's visibility
// API tells it. A cluster without that API is an error for which
// kube.IsNotServed or IsNotFound holds.
func PendingIn(ctx context.Context, c *kube.Client, namespace, localQueue string) ([]PendingWorkload, error) {
	r, err := reader.Served(ctx, c, kinds.QueueVisibility)
	if err != nil {
		return nil, err
	}
	var summary struct {
		Items []struct {
			Metadata               wireMeta `json:"metadata"`
			PositionInClusterQueue whole    `json:"positionInClusterQueue"`
			PositionInLocalQueue   whole    `json:"positionInLocalQueue"`
		} `json:"items"`
	}
	if err := c.GetSub(ctx, r, namespace, localQueue, "pendingworkloads", url.Values{"limit": {pendingLimit}}, &summary); err != nil {
		return nil, err
	}
	out := make([]PendingWorkload, len(summary.Items))
	for i, p := range summary.Items {
		out[i] = PendingWorkload{p.Metadata.Namespace, p.Metadata.Name, int(p.PositionInClusterQueue), int(p.PositionInLocalQueue)}
	}
	return out, nil
}
