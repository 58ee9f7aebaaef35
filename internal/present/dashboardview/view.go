// Package dashboardview makes the views of the dashboard from what is followed of a cluster: tables for the terminal, one for
// each tab. It is pure.
package dashboardview

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/history/observe"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Task is a job with its status.
type Task struct {
	Job    state.Job
	Status jobs.Status
}

// Snapshot is what is known of a cluster at a time.
type Snapshot struct {
	Time time.Time
	// Namespace limits the jobs; "" is all.
	Namespace string
	State     *state.State
	Tasks     []Task
	// LostSince is when the connection was lost, the zero time while there is one.
	LostSince time.Time
	// LostBy is what ended the connection; nil is unknown.
	LostBy error
	// Stale are lists that do not answer, while others do.
	Stale []Stale
	// Failure ends the dashboard.
	Failure error
	// Rules order the queues.
	Rules order.Rules
	// Trail are the used shares of accelerators, one for each TrailEvery, oldest first; nil where nothing was followed.
	Trail map[history.NodeKey][]float64
	// Use is how busy the accelerators of jobs are; nil where no Prometheus is asked.
	Use map[deviceuse.Key]deviceuse.Use
	// UseErr is why that is not known.
	UseErr error
	// Starts are estimates of when pending workloads start, made at StartsAt; nil where there are none.
	Starts   map[queue.Key]queue.ETA
	StartsAt time.Time
}

// Stale is a list that does not answer since a time.
type Stale struct {
	Source string
	Since  time.Time
}

// Age says how old the figures are, "" where they are new.
func (s *Snapshot) Age(now time.Time) string {
	if !s.LostSince.IsZero() {
		text := "connection lost: the figures are from " + words.Age(now.Sub(s.LostSince)) + " ago"
		var e *errs.Error
		if errors.As(s.LostBy, &e) && e.Why != "" {
			text += " (" + output.Safe(e.Why) + ")"
		}
		return text
	}
	var parts []string
	for _, l := range s.Stale {
		parts = append(parts, fmt.Sprintf("%s from %s ago", l.Source, words.Age(now.Sub(l.Since))))
	}
	if len(parts) == 0 {
		return ""
	}
	return "old figures: " + output.Safe(strings.Join(parts, ", "))
}

// unknown reports whether nothing could be read of a kind.
func (s *Snapshot) unknown(r kinds.Resource, read int) bool {
	return read == 0 && len(s.State.MissingOf(r)) > 0
}

// Note says what is hidden, "" for nothing.
func (s *Snapshot) Note() string {
	var hidden, failed []string
	for _, m := range s.State.Missing {
		switch m.Reason {
		case state.Forbidden:
			hidden = append(hidden, m.Resource.Plural)
		case state.Failed:
			failed = append(failed, m.Resource.Plural)
		}
	}
	var parts []string
	for _, p := range []struct {
		text  string
		names []string
	}{{"no permission to list ", hidden}, {"cannot read ", failed}} {
		if slices.Sort(p.names); len(p.names) > 0 {
			parts = append(parts, p.text+strings.Join(slices.Compact(p.names), ", "))
		}
	}
	text := ""
	if len(parts) > 0 {
		text = "some values are hidden (?): " + strings.Join(parts, "; ")
	}
	if s.UseErr != nil {
		if text != "" {
			text += "; "
		}
		text += "utilization of jobs unknown: " + output.Safe(s.UseErr.Error())
	}
	return text
}

// Tab is one of the views.
type Tab int

// The tabs, in order.
const (
	Utilization Tab = iota
	Teams
	Tasks
	Nodes
	count
)

// Names returns the titles of the tabs.
func Names() []string { return []string{"Utilization", "Teams", "Tasks", "Nodes"} }

// Ref is the job of a row; of other rows only Name is set.
type Ref struct {
	Namespace, Name string
	// Kind is that of a job whose name a job of another kind has, too; else "".
	Kind string
}

// View is a table, with what its rows are.
type View struct {
	Table output.Table
	Refs  []Ref
	// Summary is a line above the table.
	Summary string
	// Sparks are the shares of the last column of each row over time, from 0 to 1; nil without such a column.
	Sparks [][]float64
	// Bars name the parts of the bars, in the order of output.Bar; "" is a part that the tab does not have.
	Bars []string
}

// Of returns the view of a tab. Rows of jobs that user did not create are dimmed; "" dims none.
func Of(s *Snapshot, tab Tab, user string) View {
	switch tab {
	case Teams:
		return teams(s)
	case Tasks:
		return tasks(s, user)
	case Nodes:
		return nodes(s)
	}
	v := utilization(s)
	if s.Trail == nil { // a single reading
		v.Sparks, v.Table.Columns = nil, v.Table.Columns[:len(v.Table.Columns)-1]
		for i := range v.Table.Rows {
			v.Table.Rows[i] = v.Table.Rows[i][:len(v.Table.Columns)]
		}
	}
	return v
}

// use is what there is of a resource on an instance type.
type use struct{ all, healthy, quota, used, nodes, healthyNodes int64 }

func uses(s *Snapshot) map[history.NodeKey]*use {
	bare := *s.State
	bare.Jobs = nil
	o := observe.Of(&bare, nil, "")
	out := map[history.NodeKey]*use{}
	of := func(k history.NodeKey) *use {
		if out[k] == nil {
			out[k] = &use{}
		}
		return out[k]
	}
	for k, f := range o.Nodes {
		u := of(k)
		u.all, u.healthy, u.nodes, u.healthyNodes = f.Capacity, f.Healthy, f.Nodes, f.HealthyNodes
	}
	for k, f := range o.Queues {
		if k.Flavor != "" {
			u := of(history.NodeKey{InstanceType: k.InstanceType, Resource: k.Resource})
			u.quota, u.used = u.quota+f.Nominal, u.used+f.Reserved
		}
	}
	return out
}

// utilization has a row for each instance type and resource.
func utilization(s *Snapshot) View {
	v := View{Table: output.Table{Columns: []output.Column{{Title: "INSTANCE TYPE", Keep: true}, {Title: "RESOURCE", Yield: 4}, {Title: "NODES", Right: true, Yield: 1}, {Title: "HEALTHY", Right: true, Yield: 3},
		{Title: "DEVICES", Right: true}, {Title: "QUOTA", Right: true, Yield: 2}, {Title: "USED", Right: true}, {Title: "IDLE", Right: true}, {Title: "", Bar: true}, {Title: "LAST 10M", Yield: 5}},
		Empty: "no accelerators"}, Bars: []string{"used", "", "", "idle", "unhealthy"}}
	all := uses(s)
	total := use{}
	noNodes, noQueues := s.unknown(kinds.Node, len(s.State.Nodes)), s.unknown(kinds.ClusterQueue, len(s.State.ClusterQueues))
	if noNodes && noQueues {
		v.Table.Empty, v.Summary = "accelerators unknown", "accelerators and nodes unknown"
		return v
	}
	for _, k := range slices.SortedFunc(maps.Keys(all), func(a, b history.NodeKey) int {
		return cmp.Or(strings.Compare(a.InstanceType, b.InstanceType), strings.Compare(a.Resource, b.Resource))
	}) {
		u := all[k]
		if *u == (use{}) {
			continue
		}
		idle := max(0, u.healthy-u.used)
		row := output.T(cmp.Or(k.InstanceType, "(no instance type)"), words.Short(k.Resource), number(u.nodes), number(u.healthyNodes), number(u.all), number(u.quota), number(u.used), number(idle))
		if u.healthyNodes < u.nodes {
			row[3].Style = output.Warn
		}
		bar := output.Cell{Bar: &output.Bar{Full: u.used, Dotted: idle, Alarm: max(0, u.all-max(u.healthy, u.used))}}
		switch {
		case noNodes:
			hide(row, 2, 3, 4, 7)
			bar = output.Cell{}
		case noQueues:
			hide(row, 5, 6, 7)
			bar = output.Cell{}
		}
		v.Table.Rows = append(v.Table.Rows, append(row, bar, output.Cell{}))
		v.Refs, v.Sparks = append(v.Refs, Ref{Name: k.InstanceType}), append(v.Sparks, s.Trail[k])
		total.all, total.used, total.healthy, total.nodes, total.healthyNodes = total.all+u.all, total.used+u.used, total.healthy+u.healthy, total.nodes+u.nodes, total.healthyNodes+u.healthyNodes
	}
	healthy := fmt.Sprintf("%d of %s healthy", total.healthyNodes, words.Count(int(total.nodes), "node", "nodes"))
	switch {
	case noNodes:
		v.Summary = words.Count(int(total.used), "accelerator", "accelerators") + " used; nodes unknown"
		return v
	case noQueues:
		v.Summary = words.Count(int(total.all), "accelerator", "accelerators") + ", use unknown; " + healthy
		return v
	}
	percent := int64(0)
	if total.all > 0 {
		percent = 100 * total.used / total.all
	}
	v.Summary = fmt.Sprintf("%d of %d accelerators used (%d %%), %d idle; %s", total.used, total.all, percent, max(0, total.healthy-total.used), healthy)
	if s.Use != nil {
		unused := int64(0)
		for _, n := range unusedOf(s) {
			unused += n
		}
		v.Summary += fmt.Sprintf("; %d allocated but idle", unused)
	}
	return v
}

// hide makes figures of a row unknown.
func hide(row []output.Cell, at ...int) {
	for _, i := range at {
		row[i] = output.Cell{Text: "?"}
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// teams has a row for each team and accelerator.
func teams(s *Snapshot) View {
	v := View{Table: output.Table{Columns: []output.Column{{Title: "TEAM", Keep: true}, {Title: "RESOURCE", Yield: 5}, {Title: "NOMINAL", Right: true}, {Title: "USED", Right: true}, {Title: "BORROWED", Right: true, Yield: 2},
		{Title: "LENT", Right: true, Yield: 2}, {Title: "FREE", Right: true, Yield: 1}, {Title: "PENDING", Right: true}, {Title: "RUNNING", Right: true, Yield: 4}, {Title: "WAITING", Right: true, Yield: 4}, {Title: "PREEMPTED", Right: true, Yield: 6}, {Title: "STARVED BY", Yield: 3}, {Title: "", Bar: true}},
		Empty: "no teams"}, Bars: []string{"own use", "borrowed", "lent", "free", ""}}
	r := quota.Build(s.State)
	running, waiting, starved := 0, 0, 0
	items := queue.Build(s.State, r, r.Teams, s.Rules, nil)
	by := starvedBy(s, r, items)
	preempted := map[string]int{}
	for i := range items {
		if items[i].Preempted {
			preempted[items[i].ClusterQueue]++
		}
	}
	unused := unusedOf(s)
	for _, t := range r.Teams {
		running, waiting = running+t.Running, waiting+t.Waiting
		for _, row := range t.Resources {
			if !kinds.Accelerator(row.Resource) {
				continue
			}
			if row.Nominal == 0 && row.Reserved == 0 && value(row.Pending) == 0 && !row.NominalHidden {
				continue
			}
			borrowed, lent, free, pending := value(row.Borrowed), value(row.Lent), value(row.Free), value(row.Pending)
			cells := output.T(t.Name, words.Short(row.Resource), number(row.Nominal), number(row.Reserved), known(row.Borrowed), known(row.Lent), known(row.Free), known(row.Pending), strconv.Itoa(t.Running), strconv.Itoa(t.Waiting), strconv.Itoa(preempted[t.ClusterQueue]), cmp.Or(by[[2]string{t.Name, row.Resource}], "-"))
			if row.NominalHidden {
				cells[2].Text = "?"
			}
			if lent > 0 && pending > 0 { // waits while others use its quota
				cells[7].Style = output.Warn
				starved++
			}
			if t.State != quota.Active {
				cells[0].Style = output.Bad
			}
			if s.Use != nil {
				n := unused[queueResource{t.ClusterQueue, row.Resource}]
				cell := output.Cell{Text: number(n)}
				if n > 0 {
					cell.Style = output.Warn
				}
				cells = slices.Insert(cells, 4, cell)
			}
			v.Table.Rows = append(v.Table.Rows, append(cells, output.Cell{Bar: &output.Bar{Full: max(0, row.Reserved-borrowed), Shaded: borrowed, Light: lent, Dotted: free}}))
			v.Refs = append(v.Refs, Ref{Name: t.Name})
		}
	}
	if s.Use != nil {
		v.Table.Columns = slices.Insert(v.Table.Columns, 4, output.Column{Title: "UNUSED", Right: true, Yield: 1})
	}
	v.Summary = fmt.Sprintf("%s, %s with quota, %d waiting", words.Count(len(r.Teams), "team", "teams"), words.Count(running, "job", "jobs"), waiting)
	if starved > 0 {
		v.Summary += fmt.Sprintf("; %s while others use the team's quota", words.Count(starved, "team waits", "teams wait"))
	}
	return v
}

func value(n *int64) int64 {
	if n == nil || *n == quota.Unlimited {
		return 0
	}
	return *n
}

func known(n *int64) string {
	if n == nil {
		return "?"
	}
	if *n == quota.Unlimited {
		return "unlimited"
	}
	return number(*n)
}

// tasks has a row for each job: those that wait first, then those that run, then the others.
func tasks(s *Snapshot, user string) View {
	v := View{Table: output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "NAMESPACE", Yield: 3}, {Title: "STATE", Keep: true}, {Title: "DEVICES", Right: true}, {Title: "OWNER", Yield: 2},
		{Title: "PRIORITY", Yield: 4}, {Title: "SINCE", Right: true, Yield: 1, Ticks: true}, {Title: "REASON", Yield: 5}}, Empty: noJobs(s)}}
	list := slices.Clone(s.Tasks)
	rank := func(t Task) int { return slices.Index(byAttention, t.Status.State) }
	slices.SortStableFunc(list, func(a, b Task) int {
		return cmp.Or(rank(a)-rank(b), a.Status.Since.Compare(b.Status.Since), strings.Compare(a.Job.Namespace, b.Job.Namespace), strings.Compare(a.Job.Name, b.Job.Name))
	})
	named := map[Ref]int{}
	for _, t := range list {
		named[Ref{Namespace: t.Job.Namespace, Name: t.Job.Name}]++
	}
	numbers := map[jobs.State]int{}
	waits := waits(s, list)
	for _, t := range list {
		numbers[t.Status.State]++
		owner := jobs.Creator(t.Job.Labels, t.Job.Annotations)
		devices := int64(0)
		for _, n := range jobs.Devices(t.Job) {
			devices += n
		}
		row := output.T(t.Job.Name, t.Job.Namespace, string(t.Status.State), number(devices), cmp.Or(owner, "-"), cmp.Or(t.Job.Priority(), "-"), words.Since(s.Time, t.Status.Since), cmp.Or(waits[t.Job.UID].reason, why(t.Status)))
		if s.Starts != nil {
			row = slices.Insert(row, 7, output.Cell{Text: cmp.Or(waits[t.Job.UID].start, "-")})
		}
		row[2].Style = looks[t.Status.State]
		if s.Use != nil {
			row = slices.Insert(row, 4, utilizationOf(s, t))
		}
		if user != "" && owner != "" && owner != user {
			for i := range row {
				row[i].Style = output.Dim
			}
		}
		v.Table.Rows = append(v.Table.Rows, row)
		ref := Ref{Namespace: t.Job.Namespace, Name: t.Job.Name}
		if named[ref] > 1 {
			ref.Kind = t.Job.Kind.Kind
		}
		v.Refs = append(v.Refs, ref)
	}
	if s.Starts != nil {
		v.Table.Columns = slices.Insert(v.Table.Columns, 7, output.Column{Title: "ETA", Right: true, Yield: 3, Ticks: true})
	}
	if s.Use != nil {
		v.Table.Columns = slices.Insert(v.Table.Columns, 4, output.Column{Title: "UTIL", Right: true, Yield: 2})
	}
	var parts []string
	for _, state := range byAttention {
		if numbers[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", numbers[state], strings.ToLower(string(state))))
		}
	}
	v.Summary = cmp.Or(strings.Join(parts, ", "), noJobs(s))
	return v
}

func noJobs(s *Snapshot) string {
	if s.Namespace != "" {
		return "no jobs in namespace " + s.Namespace
	}
	return "no jobs"
}

// why says why a job does not run; "-" where it does, or is over.
func why(s jobs.Status) string {
	if s.State == jobs.Running || s.State == jobs.Succeeded {
		return "-"
	}
	return cmp.Or(jobtext.Why(s), "-")
}

// byAttention is how jobs are listed: what needs attention comes first.
var byAttention = []jobs.State{jobs.Preempted, jobs.Pending, jobs.Restarting, jobs.Starting, jobs.Running, jobs.Suspended, jobs.ZeroReplicas, jobs.Failed, jobs.Succeeded}

var looks = map[jobs.State]output.Style{jobs.Running: output.Good, jobs.Failed: output.Bad, jobs.Preempted: output.Warn, jobs.Restarting: output.Warn,
	jobs.Succeeded: output.Dim, jobs.Suspended: output.Dim, jobs.ZeroReplicas: output.Dim, jobs.Starting: output.Accent}
