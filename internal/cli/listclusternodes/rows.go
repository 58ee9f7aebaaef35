package listclusternodes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

type document struct {
	Nodes []Row `json:"nodes"`
}

// Row is an instance. Null values are not known: Kubernetes has no such node, or does
// not answer.
type Row struct {
	InstanceGroup string
	InstanceID    string `json:"InstanceId"`
	InstanceType  string
	// Status and Message are SageMaker's.
	Status      string
	Message     string
	LaunchTime  time.Time
	ImageStatus string
	UltraServer string
	// Node is the name of the Kubernetes node.
	Node  *string
	Ready *bool
	// Unschedulable tells whether the node is cordoned.
	Unschedulable *bool
	// Health and DeepHealth are the node's labels.
	Health     *string
	DeepHealth *string
	Faults     []string
	Pods       *int
}

// running is the status of an instance that works.
const running = "Running"

// fill adds what the Kubernetes node says.
func (r *Row) fill(n state.Node) {
	health, deep := n.Labels[kinds.NodeHealthLabel], n.Labels[kinds.DeepHealthLabel]
	r.Node, r.Ready, r.Unschedulable = &n.Name, &n.Ready, &n.Unschedulable
	if health != "" {
		r.Health = &health
	}
	if deep != "" {
		r.DeepHealth = &deep
	}
	for _, label := range []string{kinds.FaultTypesLabel, kinds.FaultReasonsLabel} {
		if text := n.Labels[label]; text != "" && !slices.Contains(r.Faults, text) {
			r.Faults = append(r.Faults, text)
		}
	}
}

// faulty reports a node that does not take jobs, or has faults.
func (r Row) faulty() bool {
	return r.Status != running || r.Ready != nil && !*r.Ready || r.Unschedulable != nil && *r.Unschedulable || r.Health != nil && *r.Health != kinds.NodeHealthy || len(r.Faults) > 0
}

func table(rows []Row, cluster string) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "GROUP", Keep: true}, {Title: "INSTANCE", Keep: true}, {Title: "TYPE"}, {Title: "STATUS"}, {Title: "HEALTH"}, {Title: "DEEP-CHECK", Yield: 1},
		{Title: "PODS", Right: true}, {Title: "FAULTS"}, {Title: "NODE", Wide: true}, {Title: "IMAGE", Wide: true}, {Title: "ULTRASERVER", Wide: true}, {Title: "MESSAGE", Wide: true}},
		Empty: "no nodes in cluster " + cluster}
	for _, r := range rows {
		health := text(r.Health)
		switch {
		case r.Ready != nil && !*r.Ready:
			health = "NotReady"
		case r.Unschedulable != nil && *r.Unschedulable && (r.Health == nil || *r.Health == kinds.NodeHealthy):
			health = "Cordoned"
		}
		style := output.Plain
		if r.faulty() {
			style = output.Bad
		}
		pods := "-"
		if r.Pods != nil {
			pods = strconv.Itoa(*r.Pods)
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: r.InstanceGroup}, {Text: r.InstanceID}, {Text: r.InstanceType}, {Text: r.Status, Style: style}, {Text: health, Style: style}, {Text: text(r.DeepHealth)},
			{Text: pods}, {Text: orDash(strings.Join(r.Faults, ","))}, {Text: text(r.Node)}, {Text: orDash(r.ImageStatus)}, {Text: orDash(r.UltraServer)}, {Text: orDash(r.Message)}})
	}
	return t
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
