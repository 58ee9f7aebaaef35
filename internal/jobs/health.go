package jobs

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Recovery is what HyperPod has marked a node for.
type Recovery string

// The recoveries. A node that is marked loses its pods.
const (
	Replacement Recovery = "Replacement"
	Reboot      Recovery = "Reboot"
)

// notReady is the health of a node whose kubelet does not report, or reports that it
// cannot run pods.
const notReady = "NotReady"

// NodeHealth is what Kubernetes and HyperPod report about a node.
type NodeHealth struct {
	Node string
	// Health is HyperPod's health label, or NotReady; "" where HyperPod says nothing.
	Health string
	// DeepCheck is the state of the deep health check, "" where none ran.
	DeepCheck string
	// Pending is what HyperPod has marked the node for, "" for nothing.
	Pending Recovery
	// Types and Reasons are the labels of the present fault, "" where HyperPod says
	// nothing.
	Types, Reasons string
	// Last is the latest fault that the node records.
	Last NodeFault
}

// NodeFault is a fault that HyperPod found on a node.
type NodeFault struct {
	Time                  time.Time
	Type, Reason, Message string
}

// HealthOf reads a node's labels, taints, conditions and annotations. Source: the pages
// on resilience-related labels and on the health monitoring agent of the SageMaker guide.
func HealthOf(n state.Node) NodeHealth {
	h := NodeHealth{Node: n.Name, Health: n.Labels[kinds.NodeHealthLabel], DeepCheck: n.Labels[kinds.DeepHealthLabel],
		Types: n.Labels[kinds.FaultTypesLabel], Reasons: n.Labels[kinds.FaultReasonsLabel]}
	if i := slices.IndexFunc(n.Taints, func(t state.Taint) bool { return t.Key == kinds.NodeHealthLabel }); i >= 0 && (h.Health == "" || h.Health == kinds.NodeHealthy) {
		h.Health = n.Taints[i].Value
	}
	switch h.Health {
	case kinds.NodePendingReplacement:
		h.Pending = Replacement
	case kinds.NodePendingReboot:
		h.Pending = Reboot
	case "", kinds.NodeHealthy:
		if ready, known := state.Find(n.Conditions, "Ready"); known && !ready.True() {
			h.Health = notReady
		}
	}
	h.Last = lastFault(n, h)
	return h
}

// Bad reports whether a node does not take jobs, or has a fault.
func (h NodeHealth) Bad() bool {
	return h.Health != "" && h.Health != kinds.NodeHealthy || h.Types != "" || h.Reasons != ""
}

// lastFault returns the latest fault that a node records: in its annotation (a JSON array that loses its oldest
// entries), else in a condition of the fault's type, else in its labels.
func lastFault(n state.Node, h NodeHealth) NodeFault {
	var details []faultDetail
	if text := strings.TrimSpace(n.Annotations[kinds.FaultDetailsAnnotation]); strings.HasPrefix(text, "{") {
		details = make([]faultDetail, 1)
		_ = json.Unmarshal([]byte(text), &details[0]) // a form that is not known says nothing
	} else if text != "" {
		_ = json.Unmarshal([]byte(text), &details)
	}
	last := NodeFault{}
	for _, d := range details {
		if f := d.fault(); f.Time.After(last.Time) || last == (NodeFault{}) {
			last = f
		}
	}
	if last != (NodeFault{}) {
		return last
	}
	for _, c := range n.Conditions {
		if c.True() && c.Type != "Ready" && h.Types != "" && strings.Contains(h.Types, c.Type) && c.LastTransitionTime.After(last.Time) {
			last = NodeFault{c.LastTransitionTime, c.Type, c.Reason, c.Message}
		}
	}
	if last == (NodeFault{}) {
		last.Type, last.Reason = h.Types, h.Reasons
	}
	return last
}

// faultDetail is an entry of the annotation. The time is text, or seconds.
type faultDetail struct {
	Timestamp             json.RawMessage
	Type, Reason, Message string
}

func (d faultDetail) fault() NodeFault {
	f := NodeFault{Type: d.Type, Reason: d.Reason, Message: d.Message}
	var text string
	var seconds float64
	switch {
	case json.Unmarshal(d.Timestamp, &text) == nil:
		f.Time, _ = time.Parse(time.RFC3339, text)
	case json.Unmarshal(d.Timestamp, &seconds) == nil:
		f.Time = time.Unix(int64(seconds), 0).UTC()
	}
	return f
}

// Resilience is what is known of the faults of a job and of what HyperPod does about
// them.
type Resilience struct {
	Resume
	// Nodes is the number of nodes that the job's pods run on.
	Nodes int
	// Bad are those of them that are not healthy; those that the job is about to lose
	// come first.
	Bad []NodeHealth
	// Last is the last fault that hit the job.
	Last JobFault
}

// JobFault is a fault of a node, or a pod that was lost with its node.
type JobFault struct {
	NodeFault
	Node, Pod string
}

// AwaitingRepair returns the nodes that HyperPod has marked for replacement or a reboot.
func (r Resilience) AwaitingRepair() []NodeHealth {
	for i, h := range r.Bad {
		if h.Pending == "" {
			return r.Bad[:i]
		}
	}
	return r.Bad
}

// ResilienceOf joins a job's pods with the nodes that they run on. nodes may hold others
// too, and may be nil where they could not be read.
func ResilienceOf(j state.Job, events []state.Event, pods []state.Pod, nodes []state.Node) Resilience {
	r := Resilience{Resume: resumeOf(j, events, pods)}
	since := map[string]time.Time{} // when the first pod of the job came to a node
	on := map[string]bool{}
	for _, p := range pods {
		if p.NodeName == "" {
			continue
		}
		if !Ended(p) {
			on[p.NodeName] = true
		}
		if t, ok := since[p.NodeName]; !ok || p.CreationTimestamp.Before(t) {
			since[p.NodeName] = p.CreationTimestamp
		}
		if c, ok := state.Find(p.Conditions, "DisruptionTarget"); ok && c.True() && c.LastTransitionTime.After(r.Last.Time) {
			r.Last = JobFault{NodeFault{c.LastTransitionTime, "", c.Reason, c.Message}, p.NodeName, p.Name}
		}
	}
	r.Nodes = len(on)
	for _, n := range nodes {
		from, ours := since[n.Name]
		if !ours {
			continue
		}
		h := HealthOf(n)
		if on[n.Name] && h.Bad() {
			r.Bad = append(r.Bad, h)
		}
		switch f := h.Last; {
		case f == (NodeFault{}):
		case f.Time.IsZero() && on[n.Name] && h.Bad() && r.Last == (JobFault{}),
			!f.Time.Before(from) && f.Time.After(r.Last.Time): // an older fault is not the job's
			r.Last = JobFault{NodeFault: f, Node: n.Name}
		}
	}
	marked := func(h NodeHealth) int {
		if h.Pending != "" {
			return 0
		}
		return 1
	}
	slices.SortFunc(r.Bad, func(a, b NodeHealth) int {
		return cmp.Or(cmp.Compare(marked(a), marked(b)), cmp.Compare(a.Node, b.Node))
	})
	return r
}
