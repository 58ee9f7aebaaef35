package inputs

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Instances counts the healthy nodes by instance type: ready, not cordoned, and not
// marked as unhealthy by HyperPod. Nil: nodes were not read.
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
		if typ == "" || n.Spec.Unschedulable || !ready(n) {
			continue
		}
		if health := n.Labels[kinds.NodeHealthLabel]; health == "" || health == "Schedulable" {
			out[typ]++
		}
	}
	return out
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
