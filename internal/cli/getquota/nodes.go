package getquota

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// NodesDocument is the JSON of --by instance-type and node-group.
type NodesDocument struct {
	Schema   string
	Capacity []quota.CapacityJSON
	Problems []quota.Problem

	byGroup bool
}

// List returns the rows of custom-columns.
func (d NodesDocument) List() any { return d.Capacity }

// Metrics returns the document as metrics.
func (d NodesDocument) Metrics() []metrics.Family {
	return quota.CapacityMetrics(d.Capacity, d.byGroup)
}

// lines returns the rows of --watch -o json.
func (d NodesDocument) lines() []output.Line {
	var out []output.Line
	for _, c := range d.Capacity {
		out = append(out, output.Line{Key: c.InstanceType + "\x00" + c.NodeGroup, Value: c})
	}
	return out
}

// nodes returns the view by instance type or node group.
func (o *Options) nodes(s *state.State) (view, error) {
	if missing := s.MissingOf(kinds.Node); len(missing) > 0 {
		return view{}, errs.Wrap(missing[0].Err, "cannot show capacity").Suggest(errs.Run("get-quota").WithNote("needs no nodes"))
	}
	byGroup := o.By == byNodeGroup
	all := quota.ByInstanceType(s)
	if byGroup {
		all = quota.ByNodeGroup(s)
	}
	resources, err := o.pick(quota.Resources(all, true), quota.Resources(all, false))
	if err != nil {
		return view{}, err
	}
	doc := NodesDocument{Schema: quota.NodesSchema, Capacity: quota.CapacityDocument(all, byGroup, resources), Problems: []quota.Problem{}, byGroup: byGroup}
	doc.Problems = append(doc.Problems, quota.OverCapacities(all)...)
	quotatext.Problems(doc.Problems)
	table := func(wide bool) output.Table { return o.nodesTable(all, resources, byGroup, wide) }
	return newView(doc.Problems, func() any { return doc }, table, doc.lines), nil
}

func (o *Options) nodesTable(all []quota.Capacity, resources []string, byGroup, wide bool) output.Table {
	title := "INSTANCE-TYPE"
	if byGroup {
		title = "NODE-GROUP"
	}
	many := len(resources) > 1
	if len(resources) == 1 {
		title = resources[0]
	}
	// Columns of zeros give way first, what is wrong with nodes last.
	sum := quota.SumCapacity(all)
	unhealthy, unknown := 6, 7
	if sum.Unhealthy > 0 {
		unhealthy = 0
	}
	if sum.Unknown > 0 {
		unknown = 2
	}
	t := output.Table{Empty: "no nodes", Columns: []output.Column{{Title: title, Keep: true}, {Title: "NODES", Right: true}, {Title: "HEALTHY", Right: true},
		{Title: "UNHEALTHY", Right: true, Yield: unhealthy}, {Title: "UNKNOWN", Right: true, Yield: unknown}, {Title: "NOT-READY", Right: true, Wide: true},
		{Title: "CORDONED", Right: true, Wide: true}}}
	if many {
		t.Columns = append(t.Columns, output.Column{Title: "RESOURCE", Keep: true})
	}
	t.Columns = append(t.Columns, output.Column{Title: "CAPACITY", Right: true, Yield: 4}, output.Column{Title: "ALLOCATABLE", Right: true, Wide: true},
		output.Column{Title: "ON-HEALTHY", Right: true, Yield: 8})
	if !byGroup {
		t.Columns = append(t.Columns, output.Column{Title: "QUOTA", Right: true})
	}
	t.Columns = append(t.Columns, output.Column{Title: "GOVERNED", Right: true}, output.Column{Title: "UNGOVERNED", Right: true}, output.Column{Bar: true, Yield: 1})
	ungoverned := false
	short := quota.ShortNames(resources)
	for _, c := range all {
		for _, name := range resources {
			called := ""
			switch {
			case many && wide:
				called = name
			case many:
				called = short[name]
			}
			if c.Capacity[name] == 0 && c.Reserved[name] == 0 {
				continue
			}
			t.Rows = append(t.Rows, nodesCells(c, name, called, byGroup))
			t.Keys = append(t.Keys, c.Name+"\x00"+name)
			ungoverned = ungoverned || c.Ungoverned[name] > 0
		}
	}
	if len(t.Rows) == 0 {
		return t
	}
	t.Notes = append(t.Notes, o.Factory.IO.Legend("governed", "ungoverned", "", "idle"))
	if ungoverned {
		t.Notes = append(t.Notes, "UNGOVERNED counts running pods that Kueue did not admit; quota does not include them")
	}
	if sum.Unknown > 0 {
		t.Notes = append(t.Notes, "UNKNOWN nodes do not have the label "+kinds.NodeHealthLabel)
	}
	return t
}

// nodesCells returns a row; called is the resource's name in it, "" where it has none.
func nodesCells(c quota.Capacity, name, called string, byGroup bool) []output.Cell {
	text := func(a state.Amounts) output.Cell {
		if a == nil {
			return output.Cell{Text: "?", Style: output.Dim}
		}
		return output.Cell{Text: quota.Text(name, a[name])}
	}
	label := c.Name
	if label == "" {
		label = "(no label)"
	}
	unhealthy := output.Cell{Text: fmt.Sprint(c.Unhealthy)}
	if c.Unhealthy > 0 {
		unhealthy.Style = output.Warn
	}
	out := append([]output.Cell{{Text: label}}, output.T(fmt.Sprint(c.Nodes), fmt.Sprint(c.Healthy))...)
	out = append(out, unhealthy)
	out = append(out, output.T(fmt.Sprint(c.Unknown), fmt.Sprint(c.NotReady), fmt.Sprint(c.Cordoned))...)
	if called != "" {
		out = append(out, output.Cell{Text: called})
	}
	out = append(out, text(c.Capacity), text(c.Allocatable), text(c.HealthyAllocatable))
	if !byGroup {
		reserved := output.Cell{Text: quota.Text(name, c.Reserved[name])}
		if kinds.Accelerator(name) && c.Reserved[name] > c.Capacity[name] {
			reserved.Style = output.Warn
		}
		out = append(out, reserved)
	}
	ungoverned := text(c.Ungoverned)
	if c.Ungoverned[name] > 0 {
		ungoverned.Style = output.Warn
	}
	bar := output.Bar{Full: c.Governed[name], Shaded: c.Ungoverned[name]}
	bar.Dotted = max(0, c.Allocatable[name]-bar.Full-bar.Shaded)
	return append(out, text(c.Governed), ungoverned, output.Cell{Bar: &bar})
}
