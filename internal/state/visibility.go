package state

import (
	"context"
	"net/url"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// PendingWorkload is the position of a workload in its queues, from 0, in Kueue's visibility API.
type PendingWorkload struct {
	Namespace, Name              string
	InClusterQueue, InLocalQueue int
}

// pendingLimit is far above what a person reads; the API's own default is 1,000.
const pendingLimit = "10000"

// PendingIn reads the order of the workloads that wait in a LocalQueue from Kueue's visibility API. For a
// cluster without that API, kube.IsNotServed or IsNotFound holds for the error.
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
