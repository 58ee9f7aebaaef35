package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// NodesUnread is the code of a note: the nodes could not be read.
const NodesUnread = "NodesUnread"

// resilience sets the health of the nodes that the job's pods run on.
func (e *Explanation) resilience(c *check.Checker, q Question) {
	if c == nil || !slices.ContainsFunc(q.Pods, func(p state.Pod) bool { return p.NodeName != "" }) {
		return
	}
	var nodes []state.Node
	for _, n := range c.In.Nodes {
		nodes = append(nodes, nodeOf(n))
	}
	i := slices.IndexFunc(c.In.Missing, func(m state.Missing) bool { return m.Of(kinds.Node) })
	unread := i >= 0
	e.Health = jobs.ResilienceOf(q.Job, q.Events, q.Pods, nodes)
	row := e.Health.Row(!unread)
	if e.Resilience = &row; unread {
		e.Notes = append(e.Notes, inputs.Note{Code: NodesUnread, Unread: c.In.Missing[i].Reason})
	}
}

// losing makes the loss of a node the cause for a job whose pods run.
func (e *Explanation) losing() {
	if losing := e.Health.AwaitingRepair(); len(losing) > 0 {
		e.Cause, e.Reason = LosingNodes, NodePendingReplacement
		if losing[0].Pending == jobs.Reboot {
			e.Reason = NodePendingReboot
		}
	}
}

// nodeOf has what HealthOf reads.
func nodeOf(n *corev1.Node) state.Node {
	out := state.Node{Meta: state.Meta{Name: n.Name, Labels: n.Labels, Annotations: n.Annotations}}
	for _, t := range n.Spec.Taints {
		out.Taints = append(out.Taints, state.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	for _, c := range n.Status.Conditions {
		out.Conditions = append(out.Conditions, state.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime.Time})
	}
	return out
}
