package listclusternodes

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Document is what -o json prints.
type Document struct {
	Nodes []Row `json:"nodes"`
}

// Row is an instance. Null values are not known: Kubernetes has no such node, or does
// not answer, or Slurm does not record them.
type Row struct {
	InstanceGroup string
	InstanceID    *string `json:"InstanceId"`
	InstanceType  string
	// Status and Message are SageMaker's.
	Status      string
	Message     string
	LaunchTime  *time.Time
	ImageStatus string
	UltraServer string
	// Node is the name of the Kubernetes node.
	Node  *string
	Ready *bool
	// Unschedulable reports whether the node is cordoned.
	Unschedulable *bool
	jobs.HealthRow
	Pods      *int
	LastFault *jobs.FaultRow
}

// running is the status of an instance that works.
const running = "Running"

// fill adds what the Kubernetes node says.
func (r *Row) fill(n state.Node) {
	r.Node, r.Ready, r.Unschedulable = &n.Name, &n.Ready, &n.Unschedulable
	h := jobs.HealthOf(n)
	r.HealthRow, r.LastFault = h.Row(), h.LastRow()
}

// faulty reports a node that does not take jobs, or has faults.
func (r Row) faulty() bool {
	return r.Status != running || r.Ready != nil && !*r.Ready || r.Unschedulable != nil && *r.Unschedulable || r.Health != nil && *r.Health != kinds.NodeHealthy || len(r.Faults) > 0
}

// lastFault returns the last fault in words.
func (r Row) lastFault(now time.Time) string {
	f := r.LastFault
	if f == nil {
		return "-"
	}
	text := jobtext.FaultName(f.Type, f.Reason)
	if f.Time != nil {
		text = words.Age(now.Sub(*f.Time)) + " ago: " + text
	}
	return strings.TrimSuffix(text+": "+words.OneLine(f.Message), ": ")
}

// table returns the rows for people; empty is the notice if there are none.
func table(rows []Row, empty string, now time.Time) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "GROUP", Keep: true}, {Title: "INSTANCE", Keep: true}, {Title: "TYPE", Yield: 1}, {Title: "STATUS"}, {Title: "HEALTH"}, {Title: "DEEP-CHECK", Yield: 2},
		{Title: "PODS", Right: true}, {Title: "FAULTS"}, {Title: "LAST-FAULT", Wide: true}, {Title: "NODE", Wide: true}, {Title: "IMAGE", Wide: true}, {Title: "ULTRASERVER", Wide: true}, {Title: "MESSAGE", Wide: true}},
		Empty: empty}
	for _, r := range rows {
		health := text(r.Health)
		switch {
		case r.PendingAction != nil:
			health = "Pending" + *r.PendingAction
		case r.Ready != nil && !*r.Ready:
			health = "NotReady"
		case r.Unschedulable != nil && *r.Unschedulable && (r.Health == nil || *r.Health == kinds.NodeHealthy):
			health = "Cordoned"
		}
		style := output.Plain
		if r.faulty() {
			style = output.Bad
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: r.InstanceGroup}, {Text: text(r.InstanceID)}, {Text: r.InstanceType}, {Text: r.Status, Style: style}, {Text: health, Style: style}, {Text: text(r.DeepHealth)},
			{Text: count(r.Pods)}, {Text: cmp.Or(strings.Join(r.Faults, ","), "-")}, {Text: r.lastFault(now)}, {Text: text(r.Node)}, {Text: cmp.Or(r.ImageStatus, "-")}, {Text: cmp.Or(r.UltraServer, "-")}, {Text: cmp.Or(r.Message, "-")}})
	}
	return t
}

func count(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
