package inputs

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Instances counts the healthy nodes by instance type; nil: nodes were not read.
func (in *Inputs) Instances() map[string]int {
	for _, m := range in.Missing {
		if m.Resource.Kind == kinds.Node.Kind {
			return nil
		}
	}
	out := map[string]int{}
	for _, n := range in.Nodes {
		typ := n.Labels[corev1.LabelInstanceTypeStable]
		if typ == "" {
			typ = n.Labels[corev1.LabelInstanceType]
		}
		if typ != "" && Healthy(n) {
			out[typ]++
		}
	}
	return out
}

// Healthy reports whether a node takes jobs: ready, not cordoned, and not marked as
// unhealthy by HyperPod.
func Healthy(n *corev1.Node) bool {
	health := n.Labels[kinds.NodeHealthLabel]
	return !n.Spec.Unschedulable && (health == "" || health == kinds.NodeHealthy) && fit.Ready(n)
}
