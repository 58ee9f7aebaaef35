package service

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// Request is what is compared.
type Request struct {
	State    *State
	Document *policy.Document
	Mapping  policy.Mapping
	// Prune deletes allocations of teams that the document does not have, and priority
	// classes.
	Prune bool
	// Recreate are teams, or PolicyName, to delete and create again where the service
	// failed to change them.
	Recreate []string
}

// PolicyName stands for the policy among teams.
const PolicyName = "policy"

// Trouble is a resource that the service is changing or failed to change.
type Trouble struct {
	Kind   string
	Name   string
	Team   string `json:",omitempty"`
	Status string
	Reason string `json:",omitempty"`
	// Recovery is what to do; Planned: an operation does it.
	Recovery Recovery
	Planned  bool
}

// Result is what leads from the service's state to a document.
type Result struct {
	// Now is the service's document, Wanted the given one with values that this program
	// does not know as they are.
	Now, Wanted *policy.Document
	Changes     []policy.Change
	// Manual are differences that no request makes: names, and fields of Kueue's objects.
	Manual     []policy.Change
	Kept       []string
	Operations []policy.Operation
	Troubles   []Trouble
}

// Compare returns what leads from the service's state to a document.
func Compare(r Request) (*Result, error) {
	now, err := document(r.State)
	if err != nil {
		return nil, err
	}
	wanted := adopt(now, r.Document)
	out := &Result{Now: now, Wanted: wanted, Kept: policy.Kept(now, wanted)}
	c := &comparison{Request: r, Result: out, byTeam: map[string][]policy.Change{}}
	for _, change := range policy.DiffExact(now, wanted, r.Prune) {
		c.byTeam[change.Team] = append(c.byTeam[change.Team], change)
		if manual(change) {
			out.Manual = append(out.Manual, change)
		} else {
			out.Changes = append(out.Changes, change)
		}
	}
	c.policy()
	for i := range wanted.Teams {
		c.team(&wanted.Teams[i])
	}
	c.kept()
	slices.SortStableFunc(out.Operations, func(a, b policy.Operation) int { return cmp.Compare(turn(a), turn(b)) })
	if r.Prune {
		out.Kept = nil
	}
	return out, nil
}

// manual reports a difference that no request makes.
func manual(c policy.Change) bool {
	return strings.HasPrefix(c.Field, "kueue") || c.Field == "name" || c.Field == "policy.name"
}

// adopt returns a copy of a document in which fields that it leaves out have the
// service's value, where this program does not know that value.
func adopt(now, doc *policy.Document) *policy.Document {
	out := *doc
	out.Teams = slices.Clone(doc.Teams)
	if doc.Policy != nil {
		p := *doc.Policy
		out.Policy = &p
	}
	unknown := map[string]string{}
	each(now, func(team, field string, value *string, known []string) {
		if *value != "" && !slices.Contains(known, *value) {
			unknown[team+"\n"+field] = *value
		}
	})
	each(&out, func(team, field string, value *string, _ []string) {
		if *value == "" {
			*value = unknown[team+"\n"+field]
		}
	})
	return &out
}

// turn is when an operation is made: the policy first, quotas that rise before those that
// fall, and what goes last.
func turn(o policy.Operation) int {
	switch {
	case o.Kind == Policy:
		return 0
	case o.Action == policy.Create && !o.Recovers:
		return 2
	case o.Action == policy.Update && !o.Lowers:
		return 1
	case o.Recovers && o.Action != policy.Update:
		return 3 // a deletion and the creation after it
	case o.Action == policy.Update:
		return 4
	}
	return 5
}

type comparison struct {
	Request
	*Result
	byTeam map[string][]policy.Change
}

func (c *comparison) policy() {
	p := c.Wanted.Policy
	name := ""
	if p != nil {
		name = p.Name
	}
	r := c.State.Policy(name)
	var changes []policy.Change
	for _, change := range c.byTeam[""] {
		if strings.HasPrefix(change.Field, "policy.") && !manual(change) {
			changes = append(changes, change)
		}
	}
	if r == nil {
		if p != nil {
			in := createPolicy(c.State.ARN, p, nil)
			c.add(policy.Operation{Action: policy.Create, Kind: Policy, Name: or(p.Name, defaultPolicy), Object: in})
		}
		return
	}
	op := policy.Operation{Kind: Policy, Name: r.Name, ID: r.ID, Version: r.Version, Fields: fieldsOf(changes)}
	if c.trouble(r, PolicyName, p != nil) {
		if p == nil {
			return
		}
		c.recreate(op, createPolicy(c.State.ARN, p, r))
		return
	}
	recovery := RecoveryOf(r.Status)
	if p != nil && (recovery == "" || recovery == Wait) && len(changes) > 0 || p != nil && recovery == Retry {
		op.Action, op.Recovers, op.Object = policy.Update, recovery == Retry, updatePolicy(r, p, changes, c.Prune)
		c.add(op)
	}
}

func (c *comparison) team(t *policy.Team) {
	r := c.State.Allocation(t.Team)
	if r == nil {
		c.add(policy.Operation{Action: policy.Create, Kind: Quota, Name: t.AllocationName(), Team: t.Team, Object: createQuota(c.State.ARN, t, nil)})
		return
	}
	changes := slices.DeleteFunc(slices.Clone(c.byTeam[t.Team]), manual)
	op := policy.Operation{Kind: Quota, Name: r.Name, Team: t.Team, ID: r.ID, Version: r.Version, Fields: fieldsOf(changes)}
	if c.trouble(r, t.Team, true) {
		c.recreate(op, createQuota(c.State.ARN, t, r))
		return
	}
	recovery := RecoveryOf(r.Status)
	if (recovery == "" || recovery == Wait) && len(changes) > 0 || recovery == Retry {
		now := c.Now.Team(t.Team)
		op.Action, op.Recovers, op.Object = policy.Update, recovery == Retry, updateQuota(r, t, changes)
		op.Lowers = policy.Lowers(now, t, c.Mapping)
		c.add(op)
	}
}

// kept deletes the allocations of teams that the document does not have, with prune.
func (c *comparison) kept() {
	for i := range c.State.Allocations {
		r := &c.State.Allocations[i]
		if c.Wanted.Team(r.Team) != nil {
			continue
		}
		if c.Prune {
			c.add(policy.Operation{Action: policy.Delete, Kind: Quota, Name: r.Name, Team: r.Team, ID: r.ID, Version: r.Version, Lowers: true})
		}
		if recovery := RecoveryOf(r.Status); recovery != "" {
			c.Troubles = append(c.Troubles, Trouble{r.Kind, r.Name, r.Team, r.Status, r.FailureReason, recovery, c.Prune})
		}
	}
}

// trouble notes a status that needs something to be done, and reports that the resource
// is deleted and created again, if that is wanted, or else left alone.
func (c *comparison) trouble(r *Resource, name string, wanted bool) (left bool) {
	recovery := RecoveryOf(r.Status)
	if recovery == "" {
		return false
	}
	left = recovery == Recreate || recovery == Redelete
	planned := wanted && (recovery == Retry || left && slices.Contains(c.Recreate, name))
	c.Troubles = append(c.Troubles, Trouble{r.Kind, r.Name, r.Team, r.Status, r.FailureReason, recovery, planned})
	return left
}

// recreate deletes a resource and creates it again, if that is wanted.
func (c *comparison) recreate(op policy.Operation, in JSON) {
	name := op.Team
	if op.Kind == Policy {
		name = PolicyName
	}
	if !slices.Contains(c.Recreate, name) {
		return
	}
	op.Fields, op.Recovers = nil, true
	remove, create := op, op
	remove.Action = policy.Delete
	create.Action, create.ID, create.Version, create.Object = policy.Create, "", 0, in
	c.add(remove)
	c.add(create)
}

func (c *comparison) add(op policy.Operation) { c.Operations = append(c.Operations, op) }

func fieldsOf(changes []policy.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Field)
	}
	return out
}
