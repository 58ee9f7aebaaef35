package dashboardview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// nodes has a row for each node, those with problems first.
func nodes(s *Snapshot) View {
	v := View{Table: output.Table{Columns: []output.Column{{Title: "NODE", Keep: true}, {Title: "INSTANCE TYPE", Yield: 1}, {Title: "HEALTH"}, {Title: "STATE"}, {Title: "DEVICES", Right: true}, {Title: "FAULT", Yield: 3}, {Title: "AGE", Right: true, Yield: 2, Ticks: true}}, Empty: "no nodes"}}
	list := slices.Clone(s.State.Nodes)
	bad := func(n state.Node) int {
		health := n.Labels[kinds.NodeHealthLabel]
		switch {
		case health != "" && health != kinds.NodeHealthy, !n.Ready:
			return 0
		case n.Unschedulable:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b state.Node) int { return cmp.Or(bad(a)-bad(b), strings.Compare(a.Name, b.Name)) })
	troubled := 0
	for _, n := range list {
		devices := int64(0)
		for resource, amount := range n.Allocatable {
			if kinds.Accelerator(resource) {
				devices += amount
			}
		}
		condition := "ready"
		switch {
		case !n.Ready:
			condition = "not ready"
		case n.Unschedulable:
			condition = "cordoned"
		}
		row := output.T(n.Name, cmp.Or(n.InstanceType(), "-"), cmp.Or(n.Labels[kinds.NodeHealthLabel], "-"), condition, number(devices), fault(n), words.Since(s.Time, n.CreationTimestamp))
		if bad(n) < 2 {
			troubled++
			row[2].Style, row[3].Style, row[5].Style = output.Warn, output.Warn, output.Warn
		}
		v.Table.Rows = append(v.Table.Rows, row)
		v.Refs = append(v.Refs, Ref{Name: n.Name})
	}
	if s.unknown(kinds.Node, len(list)) {
		v.Table.Empty, v.Summary = "nodes unknown", "nodes unknown"
		return v
	}
	v.Summary = fmt.Sprintf("%s, %d with problems", words.Count(len(list), "node", "nodes"), troubled)
	return v
}

// fault says what is wrong with a node, "-" for nothing.
func fault(n state.Node) string {
	if h := jobs.HealthOf(n); h.Bad() {
		return jobtext.Health(h)
	}
	return "-"
}

// PodsOf has a row for each pod of a node.
func PodsOf(node string, pods []state.Pod, now time.Time) View {
	v := View{Table: output.Table{Columns: []output.Column{{Title: "POD", Keep: true}, {Title: "NAMESPACE"}, {Title: "PHASE"}, {Title: "DEVICES", Right: true}, {Title: "RESTARTS", Right: true, Yield: 2}, {Title: "AGE", Right: true, Yield: 1, Ticks: true}}, Empty: "no pods on " + node}}
	list := slices.Clone(pods)
	slices.SortFunc(list, func(a, b state.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for _, p := range list {
		devices := int64(0)
		for resource, amount := range p.Requests {
			if kinds.Accelerator(resource) {
				devices += amount
			}
		}
		v.Table.Rows = append(v.Table.Rows, output.T(p.Name, p.Namespace, cmp.Or(p.Phase, "-"), number(devices), fmt.Sprint(p.Restarts), words.Since(now, p.CreationTimestamp)))
		v.Refs = append(v.Refs, Ref{Namespace: p.Namespace, Name: p.Name})
	}
	v.Summary = words.Count(len(list), "pod", "pods") + " on " + node
	return v
}
