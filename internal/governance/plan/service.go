package plan

import (
	"fmt"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
)

// Removed is a team whose compute allocation is deleted. The service deletes the
// namespace with it.
type Removed struct {
	Team, Namespace string
	// Workloads in the namespace; nil: the cluster was not read.
	Workloads *int `json:",omitempty"`
}

// Remote is the service's side of a request.
type Remote struct {
	State *service.State
	// Recreate are teams to delete and create again, where the service failed to change
	// them.
	Recreate []string
	// Capacity is the number of instances that the service knows of; the nodes of the
	// cluster win where they can be read.
	Capacity map[string]int
}

// AmbiguousError is the error of a team with several compute allocations.
type AmbiguousError struct{ Teams []string }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several compute allocations: %v", e.Teams)
}

// UnknownRecreate is the error of names to recreate that no failed team or policy has.
type UnknownRecreate struct{ Names []string }

func (e *UnknownRecreate) Error() string {
	return fmt.Sprintf("no failed team or policy to recreate: %v", e.Names)
}

// BuildRemote compares a document with the service. Live and Inputs of the request are
// nil where the cluster cannot be read: then there are no consequences.
func BuildRemote(r Request, remote Remote) (*Plan, error) {
	if twice := remote.State.Duplicated(); len(twice) > 0 {
		return nil, &AmbiguousError{twice}
	}
	found, err := service.Compare(service.Request{State: remote.State, Document: r.Document, Mapping: r.Mapping, Prune: r.Prune, Recreate: remote.Recreate})
	if err != nil {
		return nil, err
	}
	if r.Prune && len(r.Document.Teams) == 0 && len(found.Now.Teams) > 0 {
		return nil, ErrEmpty
	}
	if unused := unused(remote.Recreate, found.Operations); len(unused) > 0 {
		return nil, &UnknownRecreate{unused}
	}
	p := &Plan{Schema: Schema, File: r.File, Target: SageMaker, Cluster: remote.State.Cluster, Actions: append([]policy.Change{}, found.Changes...),
		Manual: append([]policy.Change{}, found.Manual...), Kept: append([]string{}, found.Kept...), KeptClasses: []string{}, Renamed: []Rename{}, Assumptions: []policy.Assumption{},
		Operations: append([]policy.Operation{}, found.Operations...), Troubles: found.Troubles}
	if !r.Prune {
		p.KeptClasses = append(p.KeptClasses, policy.KeptClasses(found.Now, r.Document)...)
	}
	p.Changes = len(p.Actions)+len(p.Manual)+len(p.Operations) > 0
	p.Renamed = append(p.Renamed, renames(found.Now, found.Wanted, policy.Kept(found.Now, r.Document), p.Actions)...)
	facts := policy.Facts{Capacity: remote.Capacity, Served: service.Served(remote.State)}
	var prune policy.Prune
	if r.Inputs != nil {
		if nodes := r.Inputs.Instances(); nodes != nil {
			facts.Capacity = nodes
		}
		if prune, err = p.shift(r, found); err != nil {
			return nil, err
		}
	}
	p.removed(r, found)
	p.Findings = findings(r, found.Now, r.Document, facts)
	p.Findings = append(p.Findings, against(r, p, prune)...)
	p.classes(r)
	return p, nil
}

// classes reports a policy that would have too many classes, with those that only the
// service has.
func (p *Plan) classes(r Request) {
	for _, op := range p.Operations {
		config, _ := op.Object["SchedulerConfig"].(service.JSON)
		list, _ := config["PriorityClasses"].([]any)
		if n, most := float64(len(list)), float64(policy.MaxClasses); n > most && len(r.Document.Policy.PriorityClasses) <= policy.MaxClasses {
			p.Findings = append(p.Findings, policy.NewFinding(policy.TooMany, "policy.priorityClasses", r.At, policy.Finding{Value: &n, Limit: &most}))
		}
	}
}

// unused returns the names that no operation creates again.
func unused(names []string, ops []policy.Operation) []string {
	var out []string
	for _, name := range names {
		if !slices.ContainsFunc(ops, func(op policy.Operation) bool {
			return op.Recovers && op.Action == policy.Create && (op.Team == name || op.Team == "" && name == service.PolicyName)
		}) {
			out = append(out, name)
		}
	}
	return out
}

// shift finds the changes of Kueue objects that the service will make.
func (p *Plan) shift(r Request, found *service.Result) (policy.Prune, error) {
	var prune policy.Prune
	blocked := func(team string) bool {
		return slices.ContainsFunc(found.Troubles, func(t service.Trouble) bool {
			return t.Team == team && t.Team != "" && !t.Planned && t.Recovery != service.Wait
		})
	}
	to := *found.Wanted
	to.Teams = slices.DeleteFunc(slices.Clone(to.Teams), func(t policy.Team) bool { return blocked(t.Team) })
	want, err := policy.Shift(r.Live, found.Now, &to, r.Mapping)
	if err != nil {
		return prune, err
	}
	if r.Prune {
		for _, name := range policy.Kept(found.Now, found.Wanted) {
			prune.Queues = append(prune.Queues, found.Now.Team(name).Queue())
		}
		for _, name := range policy.KeptClasses(found.Now, r.Document) {
			prune.Classes = append(prune.Classes, policy.ClassObject(name))
		}
	}
	p.kueue = policy.Differences(r.Live, want, prune)
	if len(p.kueue) > 0 {
		p.Assumptions = append(p.Assumptions, want.Assumptions...)
	}
	return prune, nil
}

// removed lists the teams whose namespace goes.
func (p *Plan) removed(r Request, found *service.Result) {
	for _, op := range p.Operations {
		if op.Action != policy.Delete || op.Kind != service.Quota {
			continue
		}
		gone := Removed{Team: op.Team, Namespace: found.Now.Team(op.Team).Namespace()}
		if r.Inputs != nil {
			n := 0
			for _, w := range r.Inputs.Workloads {
				if w.Namespace == gone.Namespace {
					n++
				}
			}
			gone.Workloads = &n
		}
		p.Removed = append(p.Removed, gone)
	}
}
