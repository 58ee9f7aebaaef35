package slurm

import (
	"slices"
	"strings"
	"time"
)

// Node is a node as sinfo shows it.
type Node struct {
	Name, Host string
	// State is Slurm's, such as idle or drained; flags are removed.
	State string
	// Reason is why an administrator, Slurm or HyperPod took it out, By who and Since when.
	Reason, By string
	Since      time.Time
	Partitions []string
	Features   []string
	// Devices is the number of accelerators by resource.
	Devices map[string]int64
}

// nodeFields are the columns of sinfo --Format.
var nodeFields = []column[Node]{
	{"NodeList", func(n *Node, v string) { n.Name = v }},
	{"NodeHost", func(n *Node, v string) { n.Host = v }},
	{"StateLong", func(n *Node, v string) { n.State = strings.TrimRight(v, "*~#!%$@^-+") }},
	{"Reason", func(n *Node, v string) { n.Reason = v }},
	{"User", func(n *Node, v string) { n.By = v }},
	{"Timestamp", func(n *Node, v string) { n.Since = moment(v) }},
	{"PartitionName", func(n *Node, v string) { n.Partitions = []string{v} }},
	{"Features", func(n *Node, v string) { n.Features = list(v) }},
	{"Gres", func(n *Node, v string) {
		n.Devices = map[string]int64{}
		for _, item := range list(v) {
			addGres(n.Devices, "gres:"+item, 1)
		}
	}},
}

func list(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == '&' || r == '|' })
}

// NodeFormat returns the value of sinfo --Format with a separator.
func NodeFormat(separator string) string { return formatOf(nodeFields, separator) }

// ParseNodes reads what sinfo printed in that format: a line for each node in each
// partition.
func ParseNodes(text, separator string) ([]Node, error) {
	list, err := recordsOf(text, separator, "node", nodeFields, presentNode)
	var out []Node
	at := map[string]int{}
	for _, n := range list {
		if i, seen := at[n.Name]; seen {
			out[i].Partitions = append(out[i].Partitions, n.Partitions...)
			continue
		}
		at[n.Name] = len(out)
		out = append(out, n)
	}
	return out, err
}

func presentNode(v string) string {
	if v = present(v); v == "none" {
		return ""
	}
	return v
}

// Out reports a node that takes no jobs because somebody or something took it out.
func (n Node) Out() bool {
	return slices.Contains([]string{"down", "drained", "draining", "drain", "fail", "failing", "error", "inval", "unknown", "reboot", "maint"}, strings.ToLower(n.State))
}

// Action is what HyperPod's agent does with a node whose state is fail and whose reason is
// exactly this text: SageMaker's developer guide, "Manually replace or reboot a node using
// Slurm".
type Action string

// The actions.
const (
	Reboot  Action = "Action:Reboot"
	Replace Action = "Action:Replace"
)

// Pending returns what HyperPod is asked to do with the node, "" for nothing.
func (n Node) Pending() Action {
	for _, a := range []Action{Reboot, Replace} {
		if n.Reason == string(a) {
			return a
		}
	}
	return ""
}
