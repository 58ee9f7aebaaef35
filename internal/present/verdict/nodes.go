package verdict

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// nodesMessage returns the message of the nodes layer where placements do not say it.
func nodesMessage(v *check.Verdict) string {
	n := &v.Nodes
	switch {
	case n.Status == check.StatusUnknown:
		return "not checked: " + whyUnread(v, n.Unread)
	case n.Elsewhere:
		return "the pods run on a worker cluster"
	case n.Status == check.StatusNotApplicable:
		return "the job has no pods"
	case n.Reason == check.NoNodes && len(n.Placements) == 0:
		return "the cluster has no nodes"
	}
	return ""
}

// nodesText returns the nodes layer in words, "" where it does not apply.
func nodesText(v *check.Verdict) string {
	n := &v.Nodes
	switch n.Status {
	case check.StatusUnknown:
		return n.Message
	case check.StatusNotApplicable:
		return ""
	case check.StatusOK:
		pods, nodes := 0, 0
		for _, g := range n.Placements {
			pods, nodes = pods+g.PodsPlaced, nodes+g.Nodes
		}
		if len(n.Placements) > 1 {
			return words.All(pods, "pod", "pods") + " " + words.Verb(pods, "fits", "fit") + " on nodes"
		}
		return fmt.Sprintf("%s %s on %s", words.Count(pods, "pod", "pods"), words.Verb(pods, "fits", "fit"), words.Count(nodes, "node", "nodes"))
	}
	return nodesWhy(v)
}

// nodesWhy returns why the pods of the first role that does not fit do not.
func nodesWhy(v *check.Verdict) string {
	n := &v.Nodes
	for _, g := range n.Placements {
		if g.PodsPlaced >= g.Pods {
			continue
		}
		if n.Reason == check.NoNodes {
			return "no node belongs to the flavor: " + NodeReasons(g.Reasons)
		}
		where := ""
		switch n.Reason {
		case check.NodesTooSmall:
			where = OnEmptyNodes(g)
		case check.NodesFull:
			where = " on the nodes now"
		}
		return PodsPlaced(g, podSetName(v, g.PodSet), where)
	}
	return n.Message
}

// OnEmptyNodes is where the pods of a role do not all fit whatever runs on the nodes.
func OnEmptyNodes(g fit.Placement) string {
	if g.PodsPlaced > 0 {
		return " on empty nodes"
	}
	return " even on empty nodes"
}

// PodsPlaced returns how many pods of a role fit, and why the nodes cannot take the next one. "Then" is with the pods that
// fit: "3 of 4 pods (worker) fit on the nodes now; for the next pod, 7 nodes have fewer than 8 free nvidia.com/gpu".
func PodsPlaced(g fit.Placement, role, where string) string {
	text := fmt.Sprintf("%d of %s", g.PodsPlaced, words.Count(g.Pods, "pod", "pods"))
	if role != "" {
		text += " (" + role + ")"
	}
	text += words.Verb(g.Pods, " fits", " fit") + where
	if g.PodsPlaced > 0 {
		return "only " + text + "; for the next pod, " + NodeReasons(g.Reasons)
	}
	return text + ": " + NodeReasons(g.Reasons)
}

// NodeReasons sums up why nodes cannot take a pod: "6 nodes have fewer than 8 free
// nvidia.com/gpu; 2 nodes are cordoned".
func NodeReasons(reasons []fit.Reason) string {
	var parts []string
	for _, r := range reasons {
		parts = append(parts, words.Count(r.Nodes, "node", "nodes")+" "+nodeReason(r))
	}
	return strings.Join(parts, "; ")
}

func nodeReason(r fit.Reason) string {
	verb := func(one, many string) string { return words.Verb(r.Nodes, one, many) }
	switch r.Reason {
	case fit.NotReady:
		return verb("is", "are") + " not ready"
	case fit.Cordoned:
		return verb("is", "are") + " cordoned"
	case fit.Unhealthy:
		return verb("is", "are") + " excluded by HyperPod (" + r.Message + ")"
	case fit.WrongNode:
		text := verb("does", "do") + " not match the job's node selector"
		if r.Message != "" {
			text += " (" + r.Message + ")"
		}
		return text
	case fit.WrongFlavor:
		return verb("belongs", "belong") + " to another flavor"
	case fit.WrongDomain:
		return verb("is", "are") + " outside the topology domain"
	case fit.Tainted:
		return verb("has", "have") + " the taint " + r.Message
	case fit.TooManyPods:
		return verb("runs its", "run their") + " maximum number of pods"
	case fit.TooSmall:
		return fmt.Sprintf("%s at most %s (a pod needs %s)", verb("has", "have"), words.Amount(r.Resource, r.Most), words.Number(r.Resource, r.Needed))
	case fit.Insufficient:
		less := "fewer"
		if words.InBytes(r.Resource) {
			less = "less"
		}
		return fmt.Sprintf("%s %s than %s free %s", verb("has", "have"), less, words.Number(r.Resource, r.Needed), r.Resource)
	}
	return "(" + r.Reason + ")"
}
