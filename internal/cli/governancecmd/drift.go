package governancecmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/apply"
	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/plantext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// mostOwners is the maximum number of objects to examine for who changed them.
const mostOwners = 20

// owner finds who last changed what a difference is about: "" and zero if nobody knows.
type owner func(c policy.Change) (by string, at time.Time)

// drift returns the differences of the file and the cluster, or SageMaker.
func (o *AuditOptions) drift(ctx context.Context, c *factory.Cluster) ([]audit.Finding, error) {
	doc, at, err := parse(ctx, o.Factory, o.File)
	if err != nil {
		return nil, err
	}
	r := plan.Request{File: o.File, Document: doc, At: at, Mapping: o.Mapping.mapping()}
	if !o.Target.remote() {
		p, live, _, err := build(ctx, o.Factory, r, false)
		if err != nil {
			return nil, err
		}
		return differences(p, clusterOwner(ctx, c, live, r)), nil
	}
	name, err := o.Target.name(doc)
	if err != nil {
		return nil, err
	}
	remote, err := openRemote(ctx, o.Factory, o.Target.account, name)
	if err != nil {
		return nil, err
	}
	p, err := buildRemote(ctx, remote, r, recreation{}, false)
	if err != nil {
		return nil, err
	}
	return differences(p, func(c policy.Change) (string, time.Time) {
		resource := remote.state.Policy("")
		if c.Team != "" {
			resource = remote.state.Allocation(c.Team)
		}
		if resource == nil {
			return "", time.Time{}
		}
		return resource.By, resource.At
	}), nil
}

// differences returns what the plan would change, and what the cluster has beyond the file: a team that somebody made by hand.
func differences(p *plan.Plan, who owner) []audit.Finding {
	var out []audit.Finding
	for i, line := range plantext.Changes(p) {
		f := audit.Finding{Code: audit.Drift, Name: strings.TrimSpace(line) + " (cluster -> file)"}
		if i < len(p.Actions) {
			f.Team = p.Actions[i].Team
			by, at := who(p.Actions[i])
			if f.ChangedBy = by; !at.IsZero() {
				f.ChangedAt = &at
			}
		}
		out = append(out, f)
	}
	for _, k := range []struct {
		names     []string
		one, many string
	}{{p.Kept, "team", "teams"}, {p.KeptClasses, "priority class", "priority classes"}} {
		if n := len(k.names); n > 0 {
			out = append(out, audit.Finding{Code: audit.Drift, Name: fmt.Sprintf("%s of the cluster %s not in the file: %s", words.Count(n, k.one, k.many), words.Verb(n, "is", "are"), words.Some(k.names, 20))})
		}
	}
	return out
}

// clusterOwner asks the API server for the managed fields of ClusterQueues and priority
// classes, each once. Without permission nobody knows.
func clusterOwner(ctx context.Context, c *factory.Cluster, live *policy.Live, r plan.Request) owner {
	type change struct {
		by string
		at time.Time
	}
	seen := map[string]change{}
	now, _ := policy.FromKueue(live, r.Mapping)
	return func(d policy.Change) (string, time.Time) {
		kind, name := kinds.ClusterQueue, ""
		if class, ok := strings.CutPrefix(d.Field, "policy.priorityClasses."); ok {
			kind, name = kinds.WorkloadPriorityClass, policy.ClassObject(class)
		} else if team := now.Team(d.Team); team != nil {
			name = team.Queue()
		}
		key := kind.Kind + " " + name
		if _, ok := seen[key]; !ok && name != "" && len(seen) < mostOwners {
			fields, err := apply.Managers(ctx, c.Client, kind, "", name)
			if err == nil {
				by, at := audit.LastChange(fields)
				seen[key] = change{by, at}
			}
		}
		return seen[key].by, seen[key].at
	}
}
