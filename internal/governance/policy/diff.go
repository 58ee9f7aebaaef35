package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Action is what happens to a part of a document.
type Action string

// The actions.
const (
	Create Action = "Create"
	Update Action = "Update"
	Delete Action = "Delete"
)

// Change is a difference of two documents in their own terms. A change of a whole team
// or class has no Field.
type Change struct {
	Action Action
	// Team is the team, "" for the policy.
	Team string `json:",omitempty"`
	// Field is the path within the team, or from policy on: borrowLimit,
	// quota[ml.p5.48xlarge].count, policy.fairShare.
	Field    string `json:",omitempty"`
	From, To any    `json:",omitempty"`
}

// Diff returns the changes from one document to another, first of the policy, then of the teams in the order of the
// second document. With prune, it deletes teams that only the first document has; otherwise they stay (see Kept).
func Diff(from, to *Document, prune bool) []Change {
	return (&differ{}).documents(from, to, prune)
}

// DiffExact is Diff for the service, which keeps what Kueue's objects do not have: names
// and descriptions, and Lend apart from a borrowing limit of 0. Descriptions that the
// second document leaves out stay.
func DiffExact(from, to *Document, prune bool) []Change {
	return (&differ{exact: true}).documents(from, to, prune)
}

func (d *differ) documents(from, to *Document, prune bool) []Change {
	if to.Policy != nil {
		p := ClusterPolicy{}
		if from.Policy != nil {
			p = *from.Policy
		}
		d.policy(&p, to.Policy, prune)
	}
	before := from.ByName()
	for i := range to.Teams {
		t := &to.Teams[i]
		old := before[t.Team]
		if old == nil {
			d.add(Change{Action: Create, Team: t.Team})
			continue
		}
		d.team(old, t)
	}
	if prune {
		for _, name := range Kept(from, to) {
			d.add(Change{Action: Delete, Team: name})
		}
	}
	d.fields("", "kueue", plainOf(from.Kueue), plainOf(to.Kueue), false)
	return d.out
}

// Kept returns the teams that only the first document has, in its order.
func Kept(from, to *Document) []string {
	var out []string
	stay := to.ByName()
	for i := range from.Teams {
		if stay[from.Teams[i].Team] == nil {
			out = append(out, from.Teams[i].Team)
		}
	}
	return out
}

// KeptClasses returns the priority classes that only the first document has, in its order, where the second one has a
// policy.
func KeptClasses(from, to *Document) []string {
	if from.Policy == nil || to.Policy == nil {
		return nil
	}
	var out []string
	for _, c := range from.Policy.PriorityClasses {
		if !slices.ContainsFunc(to.Policy.PriorityClasses, func(o PriorityClass) bool { return o.Name == c.Name }) {
			out = append(out, c.Name)
		}
	}
	return out
}

type differ struct {
	out []Change
	// exact: as the service has it, not as Kueue does.
	exact bool
}

func (d *differ) add(c Change) { d.out = append(d.out, c) }

func (d *differ) policy(from, to *ClusterPolicy, prune bool) {
	if to.FairShare != "" && from.FairShare != to.FairShare {
		d.field("", "policy.fairShare", from.FairShare, to.FairShare)
	}
	if to.IdleResourceSharing != "" && from.IdleResourceSharing != to.IdleResourceSharing {
		d.field("", "policy.idleResourceSharing", from.IdleResourceSharing, to.IdleResourceSharing)
	}
	if d.exact {
		d.texts("", "policy.", [2]string{from.Name, to.Name}, [2]string{from.Description, to.Description})
	}
	weights := func(p *ClusterPolicy) map[string]any {
		out := map[string]any{}
		for _, c := range p.PriorityClasses {
			out[c.Name] = float64(c.Weight)
		}
		return out
	}
	d.fields("", "policy.priorityClasses", weights(from), weights(to), prune)
}

// team compares two allocations with defaults filled in, so that writing a default out changes nothing.
func (d *differ) team(from, to *Team) {
	if d.exact {
		d.texts(to.Team, "", [2]string{from.AllocationName(), to.Name}, [2]string{from.Description, to.Description})
	}
	d.fields(to.Team, "", tree(from, d.exact), tree(to, d.exact), true)
}

// texts compares names and descriptions, from and to; what is left out stays.
func (d *differ) texts(team, path string, name, description [2]string) {
	if name[1] != "" && name[0] != "" && name[0] != name[1] {
		d.field(team, path+"name", name[0], name[1])
	}
	if description[1] != "" && description[0] != description[1] {
		d.field(team, path+"description", description[0], description[1])
	}
}

// tree returns a team as a tree: defaults filled in, rows by instance type.
func tree(t *Team, exact bool) map[string]any {
	c := *t
	c.Name, c.Description = "", ""
	c.Strategy = t.Shares()
	percent, weight := t.Percent(), t.Weight()
	c.BorrowLimit, c.FairShareWeight = &percent, &weight
	switch {
	case exact && c.Strategy != LendAndBorrow:
		c.BorrowLimit, c.AbsoluteBorrowLimits = nil, nil
	case c.Strategy == Lend: // in effect, borrowing with a limit of 0
		c.Strategy, c.AbsoluteBorrowLimits = LendAndBorrow, nil
	}
	if t.Kueue != nil && t.Kueue.Spec["resourceGroups"] != nil {
		c.BorrowLimit = nil
	}
	if c.PreemptTeamTasks == "" {
		c.PreemptTeamTasks = LowerPriority
	}
	if c.Activation == "" {
		c.Activation = Enabled
	}
	plain := plainOf(&c)
	for _, key := range []string{"quota", "absoluteBorrowLimits"} {
		rows, _ := plain[key].([]any)
		by := map[string]any{}
		for _, r := range rows {
			row, _ := r.(map[string]any)
			name := fmt.Sprint(row["instanceType"])
			delete(row, "instanceType")
			by[instances.Full(name)] = row
		}
		plain[key] = by
	}
	return plain
}

func plainOf(v any) map[string]any {
	out := map[string]any{}
	if data, err := json.Marshal(v); err == nil && !reflect.ValueOf(v).IsNil() {
		_ = json.Unmarshal(data, &out) // JSON of our own
	}
	return out
}

// fields compares two trees of values and adds a change for each leaf. With gone, what
// only the first has is deleted.
func (d *differ) fields(team, path string, from, to map[string]any, gone bool) {
	keys := map[string]bool{}
	for k := range from {
		keys[k] = true
	}
	for k := range to {
		keys[k] = true
	}
	for _, k := range sorted(keys) {
		at := k
		if strings.Contains(k, ".") {
			at = "[" + k + "]"
		}
		if path != "" && !strings.HasPrefix(at, "[") {
			at = "." + at
		}
		at = path + at
		x, had := from[k]
		y, has := to[k]
		fx, mapX := x.(map[string]any)
		fy, mapY := y.(map[string]any)
		lx, listX := x.([]any)
		ly, listY := y.([]any)
		switch {
		case mapX && mapY:
			d.fields(team, at, fx, fy, gone)
		case reflect.DeepEqual(x, y):
		case gone && listX && listY && d.lists(team, at, lx, ly):
		case !had:
			d.add(Change{Action: Create, Team: team, Field: at, To: y})
		case !has:
			if gone {
				d.add(Change{Action: Delete, Team: team, Field: at, From: x})
			}
		default:
			d.field(team, at, x, y)
		}
	}
}

func (d *differ) field(team, path string, from, to any) {
	if from == "" {
		from = nil
	}
	d.add(Change{Action: Update, Team: team, Field: path, From: from, To: to})
}

func sorted(keys map[string]bool) []string { return slices.Sorted(maps.Keys(keys)) }

// Form returns a text that is the same for two teams that differ in their names alone.
func Form(t *Team) string {
	plain := tree(t, false)
	delete(plain, "team")
	text, err := json.Marshal(plain)
	if err != nil {
		return t.Team // a tree that was decoded from JSON always has a JSON form
	}
	return string(text)
}
