// Package plan compares a governance document with a cluster: what would change, in the
// terms of the document and as operations on Kueue objects, and what that does to teams
// and jobs, by Kueue's own decisions (package simulate).
package plan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema is the version of the plan's shape.
const Schema = "hyperpod.governance-plan/v1"

// Plan is the difference between a document and a cluster. docs/governance.md describes
// it.
type Plan struct {
	Schema string
	File   string
	// Target is what apply changes: kueue or sagemaker. Cluster is the name of the
	// HyperPod cluster of the latter.
	Target  string `json:"AppliesTo"`
	Cluster string `json:",omitempty"`
	// Changes: the document and the cluster differ.
	Changes bool
	// Actions are the differences in the document's terms.
	Actions []policy.Change
	// Manual are the differences that apply cannot make on a cluster without the add-on.
	Manual []policy.Change
	// NotCompared are fields of the document, behind the name of their team, whose values in the cluster could not be read.
	NotCompared []string `json:",omitempty"`
	// Kept are teams of the cluster that the document does not have.
	Kept []string
	// KeptClasses are priority classes of the cluster that the policy of the document does not have.
	KeptClasses []string
	// Renamed are created teams that look like one that goes or is kept.
	Renamed []Rename
	// Operations are the changes of Kueue objects or of the service's resources, in the
	// order of apply.
	Operations []policy.Operation
	// Troubles are resources that the service is changing or failed to change, Removed the
	// teams that it deletes.
	Troubles    []service.Trouble `json:",omitempty"`
	Removed     []Removed         `json:",omitempty"`
	Findings    []policy.Finding
	Assumptions []policy.Assumption
	// Consequences is nil where they were not asked for or nothing changes.
	Consequences *Consequences `json:",omitempty"`
	// Missing is what could not be read of the cluster.
	Missing []state.Unread `json:",omitempty"`

	// Unforeseen: the cluster that consequences need could not be read.
	Unforeseen bool `json:"-"`

	// kueue are the changes of Kueue objects that consequences follow from.
	kueue []policy.Operation
}

// The targets of a plan.
const (
	Kueue     = "kueue"
	SageMaker = "sagemaker"
)

// Rename is a team that would be created beside an equal one.
type Rename struct{ From, To string }

// Consequences are what the operations do, by Kueue's rules on the current state.
type Consequences struct {
	// Time is when the cluster was read.
	Time time.Time
	// Settled is false when the policy never converges; Loop shows the steps that repeat.
	Settled   bool
	Loop      *simulate.Loop `json:",omitempty"`
	CyclesRun int
	// Tie: Kueue is undecided between several outcomes; this is one of them.
	Tie bool
	// Between: the outcome depends on whether Kueue decides between the changes that raise quota and those that lower it.
	Between       *simulate.Between `json:",omitempty"`
	Before, After simulate.Totals
	// Teams are the teams whose figures change; the figures are those of get-quota.
	Teams     []simulate.Team
	Preempted []simulate.Preemption
	Evicted   []simulate.Eviction
	// Started run afterwards and did not before; NoNodes get quota, and no node takes their
	// pods; Never cannot run any more. Unknown depend on what is not modelled or could not be read.
	Started, NoNodes, Never, Unknown []simulate.Job
	// Problems are what get-quota would report.
	Problems []simulate.Problem
	Notes    []simulate.Note
}

// Request is what is compared.
type Request struct {
	File     string
	Document *policy.Document
	At       policy.Positions
	Mapping  policy.Mapping
	// Prune deletes teams and priority classes that the document does not have.
	Prune bool
	Live  *policy.Live
	// Inputs are the state of the cluster.
	Inputs *inputs.Inputs
}

// ErrEmpty is the error of a document without teams on a cluster with teams, with Prune:
// more likely a mistake than the wish to delete everything.
var ErrEmpty = errors.New("the document has no teams")

// Build compares. The error is that of a document that cannot be mapped, which
// policy.Check finds too.
func Build(r Request) (*Plan, error) {
	now, _ := policy.FromKueue(r.Live, r.Mapping)
	want, err := policy.ToKueue(r.Document, r.Mapping)
	if err != nil {
		return nil, err
	}
	p := &Plan{Schema: Schema, File: r.File, Target: Kueue, Actions: []policy.Change{}, Manual: []policy.Change{}, Renamed: []Rename{},
		Kept: append([]string{}, policy.Kept(now, r.Document)...), KeptClasses: append([]string{}, policy.KeptClasses(now, r.Document)...)}
	var prune policy.Prune
	if r.Prune {
		if len(r.Document.Teams) == 0 && len(now.Teams) > 0 {
			return nil, ErrEmpty
		}
		teams := now.ByName()
		for _, name := range p.Kept {
			prune.Queues = append(prune.Queues, teams[name].Queue())
		}
		for _, q := range r.Live.Leaving { // its LocalQueues go, too
			if !slices.ContainsFunc(want.ClusterQueues, func(w *kueue.ClusterQueue) bool { return w.Name == q.Name }) {
				prune.Queues = append(prune.Queues, q.Name)
			}
		}
		if r.Document.Policy != nil {
			prune.Classes = unwanted(r.Live, want)
		}
	}
	for _, c := range policy.Diff(now, policy.Align(r.Document, now, r.Mapping), r.Prune) {
		switch {
		case unread(r, c):
			p.NotCompared = append(p.NotCompared, strings.TrimSpace(c.Team+" "+c.Field))
		case manual(c):
			p.Manual = append(p.Manual, c)
		default:
			p.Actions = append(p.Actions, c)
		}
	}
	p.Renamed = append(p.Renamed, renames(now, r.Document, p.Kept, p.Actions)...)
	if r.Prune {
		p.Kept, p.KeptClasses = []string{}, []string{}
	}
	p.Operations = listed(policy.Differences(r.Live, want, prune))
	p.kueue = p.Operations
	p.Changes = len(p.Actions)+len(p.Manual)+len(p.Operations) > 0
	if p.Assumptions, err = assumptions(r, p); err != nil {
		return nil, err
	}
	p.Findings = findings(r, now, r.Document, policy.Facts{Capacity: r.Inputs.Instances()})
	p.Findings = append(p.Findings, against(r, p, prune)...)
	p.Findings = append(p.Findings, leaving(r, want)...)
	return p, nil
}

// mostTwins is how many equal teams may be kept, or created, for the others to look like them under a new name.
const mostTwins = 10

// renames returns the created teams that look like one that is kept. Teams of a form that many have look like each other
// without being renamed.
func renames(now, doc *policy.Document, kept []string, actions []policy.Change) []Rename {
	if len(kept) == 0 {
		return nil
	}
	have, want := now.ByName(), doc.ByName()
	keptOf, createdOf := map[string][]string{}, map[string][]string{}
	var forms []string // of created teams, in their order
	for _, c := range actions {
		if c.Action == policy.Create && c.Field == "" {
			form := policy.Form(want[c.Team])
			createdOf[form] = append(createdOf[form], c.Team)
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return nil
	}
	for _, name := range kept {
		form := policy.Form(have[name])
		keptOf[form] = append(keptOf[form], name)
	}
	var out []Rename
	turn := map[string]int{}
	for _, form := range forms {
		to := createdOf[form][turn[form]]
		turn[form]++
		if len(keptOf[form]) > mostTwins || len(createdOf[form]) > mostTwins {
			continue
		}
		for _, from := range keptOf[form] {
			out = append(out, Rename{from, to})
		}
	}
	return out
}

// findings returns those of a document together with what stays beside it in the cluster: the
// teams that the document does not have share capacity and quota with its own, and a policy
// that it leaves out holds. What is wrong with them alone is not of this document.
func findings(r Request, now, doc *policy.Document, facts policy.Facts) []policy.Finding {
	full := *doc
	full.Teams = slices.Clone(doc.Teams)
	if !r.Prune {
		teams := now.ByName()
		for _, name := range policy.Kept(now, doc) {
			full.Teams = append(full.Teams, *teams[name])
		}
	}
	if doc.Policy == nil {
		full.Policy = now.Policy
	}
	stays := map[string]bool{} // by the first part of the path
	for i := range full.Teams[len(doc.Teams):] {
		stays[fmt.Sprintf("teams[%d]", len(doc.Teams)+i)] = true
	}
	if doc.Policy == nil {
		stays["policy"] = true
	}
	return slices.DeleteFunc(listed(policy.Check(&full, r.At, facts)), func(f policy.Finding) bool {
		first, _, _ := strings.Cut(f.Path, ".")
		return stays[first]
	})
}

// assumptions returns those behind what changes.
func assumptions(r Request, p *Plan) ([]policy.Assumption, error) {
	part := &policy.Document{}
	teams, added := r.Document.ByName(), map[string]bool{}
	for _, c := range p.Actions {
		if strings.HasPrefix(c.Field, "policy.priorityClasses") {
			part.Policy = r.Document.Policy
		}
		if t := teams[c.Team]; t != nil && !added[c.Team] {
			added[c.Team] = true
			part.Teams = append(part.Teams, *t)
		}
	}
	assumed, err := policy.Assumed(part, r.Mapping)
	return listed(assumed), err
}

// listed returns a list that is not nil: JSON prints it as one.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

const fairShare = "policy.fairShare"

// unread reports a difference from something that could not be read: Kueue's configuration, or the labels of a namespace.
func unread(r Request, c policy.Change) bool {
	switch c.Field {
	case fairShare:
		return r.Live.FairSharing == nil
	case "activation":
		name := r.Document.ByName()[c.Team].Namespace()
		return slices.ContainsFunc(r.Live.Namespaces, func(n *corev1.Namespace) bool { return n.Name == name && kinds.Assumed(n.Annotations) })
	}
	return false
}

// manual reports a difference that lies in Kueue's configuration or in the service, not
// in objects.
func manual(c policy.Change) bool {
	return c.Field == fairShare || c.Field == "policy.idleResourceSharing"
}

// unwanted returns the priority classes that the document does not have.
func unwanted(l *policy.Live, want *policy.Objects) []string {
	stay := map[string]bool{}
	for _, c := range want.Classes {
		stay[c.Name] = true
	}
	var out []string
	for _, c := range l.Classes {
		if !stay[c.Name] {
			out = append(out, c.Name)
		}
	}
	return out
}

// against are findings about the cluster's current state.
func against(r Request, p *Plan, prune policy.Prune) []policy.Finding {
	if r.Inputs == nil {
		return nil
	}
	var out []policy.Finding
	add := func(code, path string, f policy.Finding) {
		out = append(out, policy.NewFinding(code, path, r.At, f))
	}
	users := map[string]int{}
	for _, w := range r.Inputs.Workloads {
		if ref := w.Spec.PriorityClassRef; ref != nil {
			users[ref.Name]++
		}
	}
	for _, name := range prune.Classes {
		if n := float64(users[name]); n > 0 {
			add(policy.ClassInUse, "policy.priorityClasses", policy.Finding{Text: name, Value: &n})
		}
	}
	usage := r.Inputs.Usage()
	queues := map[string]*kueue.ClusterQueue{}
	for _, q := range r.Inputs.ClusterQueues {
		queues[q.Name] = q
	}
	teams := map[string]int{} // by ClusterQueue: the place in the document
	for i := range r.Document.Teams {
		if name := r.Document.Teams[i].Queue(); teams[name] == 0 {
			teams[name] = i + 1
		}
	}
	for _, op := range p.kueue {
		q, ok := op.After.(*kueue.ClusterQueue)
		if !ok || op.Action != policy.Update || len(usage[q.Name]) == 0 {
			continue
		}
		old := queues[q.Name]
		before, after := nominal(old), nominal(q)
		devices := accelerators(before)
		for _, k := range sortedKeys(usage[q.Name]) {
			if devices[k.Flavor] != kinds.Accelerator(k.Resource) {
				continue // the other resources follow the accelerators
			}
			if used := usage[q.Name][k]; used > after[k] && after[k] < before[k] {
				team, path := quota.TeamOf(q.Name), "teams"
				if i := teams[q.Name] - 1; i >= 0 {
					team, path = r.Document.Teams[i].Team, fmt.Sprintf("teams[%d].quota", i)
				}
				value, limit := quota.Number(k.Resource, used), quota.Number(k.Resource, after[k])
				add(policy.BelowUse, path, policy.Finding{Team: team, Subject: k.Flavor, Text: k.Resource, Value: &value, Limit: &limit})
			}
		}
	}
	return out
}

// leaving are findings about objects that are being deleted, and that the document wants.
func leaving(r Request, want *policy.Objects) (out []policy.Finding) {
	for _, o := range r.Live.Deleted(want) {
		f, path := policy.Finding{Subject: o.Name, Text: o.Kind}, ""
		i := slices.IndexFunc(r.Document.Teams, func(t policy.Team) bool { return t.Queue() == o.Name })
		if o.Kind == kinds.ClusterQueue.Kind && i >= 0 {
			f.Team, path = r.Document.Teams[i].Team, fmt.Sprintf("teams[%d]", i)
		}
		out = append(out, policy.NewFinding(policy.BeingDeleted, path, r.At, f))
	}
	return out
}

// changes returns the operations of a plan as changes: those that raise quota, and then those that lower it or delete,
// between which Kueue may decide.
func (p *Plan) changes() (first, then []simulate.Change) {
	var raise, lower, remove []client.Object
	for _, op := range p.kueue {
		switch {
		case op.Action == policy.Delete:
			remove = append(remove, op.After)
		case op.Lowers:
			lower = append(lower, op.After)
		default:
			raise = append(raise, op.After)
		}
	}
	then = []simulate.Change{simulate.NewObjects(p.File, lower, remove)}
	if len(raise) == 0 {
		return then, nil
	}
	first = []simulate.Change{simulate.NewObjects(p.File, raise, nil)}
	if len(lower)+len(remove) == 0 {
		return first, nil
	}
	return first, then
}

// Foresee simulates the operations of a plan on the current state.
func (p *Plan) Foresee(ctx context.Context, in *inputs.Inputs) error {
	if len(p.kueue) == 0 {
		return nil
	}
	first, then := p.changes()
	report, err := simulate.RunSeen(ctx, in, first, simulate.Options{Then: then})
	if err != nil {
		return err
	}
	c := &Consequences{Time: report.Time, Settled: report.Settled, Loop: report.Loop, CyclesRun: report.CyclesRun, Tie: report.Tie, Between: report.Between,
		Before: report.Before, After: report.After, Teams: []simulate.Team{},
		Preempted: report.Preempted, Evicted: report.Evicted,
		Started: append([]simulate.Job{}, report.Started()...), Never: append([]simulate.Job{}, report.Never()...),
		Problems: append([]simulate.Problem{}, report.Problems...), Notes: slices.Concat([]simulate.Note{}, report.Notes, simulate.RuleNotes(in))}
	c.NoNodes, c.Unknown = []simulate.Job{}, []simulate.Job{}
	for _, j := range report.Jobs {
		switch {
		case j.After == nil:
		case j.After.State == simulate.Unknown:
			c.Unknown = append(c.Unknown, j)
		case j.After.State == simulate.WaitsForNodes && (j.Before == nil || j.Before.State != simulate.WaitsForNodes):
			c.NoNodes = append(c.NoNodes, j)
		}
	}
	for _, t := range report.Teams {
		if !reflect.DeepEqual(t.Before, t.After) {
			c.Teams = append(c.Teams, t)
		}
	}
	p.Consequences = c
	return nil
}
