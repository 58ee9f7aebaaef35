// Package plantext words the plans of governance documents.
package plantext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// shown is the number of lines of one kind in a plan.
const shown = 12

// MostRows is the number of figures in a table for people.
const MostRows = 40

// line is a line of a plan with its weight: what takes away more comes first where not all lines are shown.
type line struct {
	text   string
	weight int
}

// The weights of lines, and what the rest of each is called.
const (
	removal = iota
	reduction
	newTeam
	newObject
	other
)

var restOf = [][2]string{{"team removed", "teams removed"}, {"reduction", "reductions"}, {"new team", "new teams"}, {"new object", "new objects"}, {"other change", "other changes"}}

// Changes returns the differences, a line each. Of many, those that take something away come first, and the rest is counted.
func Changes(p *plan.Plan) []string {
	var out []line
	loses := p.Losses()
	weigh := func(c policy.Change) int {
		switch {
		case c.Field == "" && c.Action == policy.Delete:
			return removal
		case loses(c):
			return reduction
		case c.Field == "" && c.Action == policy.Create:
			return newTeam
		}
		return other
	}
	for _, c := range p.Actions {
		out = append(out, line{change(c, p.Target), weigh(c)})
	}
	for i := range p.Operations {
		if op := &p.Operations[i]; own(op) {
			out = append(out, line{operation(op), map[policy.Action]int{policy.Create: newObject, policy.Update: other, policy.Delete: reduction}[op.Action]})
		}
	}
	for _, c := range p.Manual {
		out = append(out, line{change(c, p.Target) + manual(c, p.Target), other})
	}
	return cut(out)
}

// cut returns the texts of lines, or the heaviest of them and a count of the rest.
func cut(lines []line) []string {
	var out []string
	if len(lines) > shown+3 {
		slices.SortStableFunc(lines, func(a, b line) int { return a.weight - b.weight })
		rest := make([]int, len(restOf))
		for _, l := range lines[shown:] {
			rest[l.weight]++
		}
		var parts []string
		for weight, n := range rest {
			if n > 0 {
				parts = append(parts, words.Count(n, restOf[weight][0], restOf[weight][1]))
			}
		}
		more := fmt.Sprintf("and %d more: %s (-o json)", len(lines)-shown, strings.Join(parts, ", "))
		if len(parts) == 1 {
			more = "and " + parts[0] + " (-o json)"
		}
		lines = append(lines[:shown:shown], line{text: more})
	}
	for _, l := range lines {
		out = append(out, l.text)
	}
	return out
}

// own reports an operation that the differences do not already show.
func own(op *policy.Operation) bool {
	switch op.Kind {
	case kinds.ClusterQueue.Kind:
		return false
	case service.Policy:
		return op.Recovers || op.Action == policy.Create
	case service.Quota:
		return op.Recovers
	}
	return op.Action != policy.Delete
}

var signs = map[policy.Action]string{policy.Create: "+ ", policy.Update: "~ ", policy.Delete: "- "}

func change(c policy.Change, target string) string {
	subject := c.Team
	if c.Field != "" {
		subject = strings.TrimSpace(c.Team + "  " + c.Field)
	}
	text := signs[c.Action] + subject
	switch {
	case c.Field == "" && c.Action == policy.Create:
		return text + "  (new team)"
	case c.Field == "" && target == plan.SageMaker:
		return text + "  (the team is removed, and its namespace with everything in it)"
	case c.Field == "":
		return text + "  (the team is removed: its namespace stays, and its jobs can no longer be admitted)"
	case c.Action == policy.Create:
		return text + "  " + value(c.To)
	case c.Action == policy.Delete:
		return text + "  " + value(c.From)
	}
	return fmt.Sprintf("%s  %s -> %s", text, value(c.From), value(c.To))
}

func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case map[string]any:
		var parts []string
		for _, k := range sorted(v) {
			parts = append(parts, k+" "+value(v[k]))
		}
		return strings.Join(parts, ", ")
	case []any:
		return words.Count(len(v), "entry", "entries")
	}
	return fmt.Sprint(v)
}

func sorted(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// manual says how a difference is made that apply cannot make.
func manual(c policy.Change, target string) string {
	switch {
	case target == plan.SageMaker && strings.HasPrefix(c.Field, "kueue"):
		return "  (not applied: SageMaker has no such field)"
	case target == plan.SageMaker:
		return "  (not applied: SageMaker cannot rename it)"
	case c.Field == "policy.fairShare":
		return "  (not applied: set fairSharing in the ConfigMap kueue-manager-config and restart Kueue)"
	}
	return "  (not applied: only the service shares idle capacity)"
}

func operation(op *policy.Operation) string {
	name := op.Name
	switch {
	case op.Recovers && op.Action == policy.Update:
		return signs[op.Action] + op.Kind + " " + name + "  (update again)"
	case op.Recovers && op.Action == policy.Delete:
		return signs[op.Action] + op.Kind + " " + name + "  (delete, to create it again)"
	}
	if op.Namespace != "" {
		name = op.Namespace + "/" + op.Name
	}
	out := signs[op.Action] + op.Kind + " " + name
	if op.Action == policy.Update && len(op.Fields) > 0 {
		out += "  " + strings.Join(op.Fields, ", ")
	}
	return out
}

func limited(lines []string) []string { return limitedTo(lines, "more") }

// limitedTo cuts a list; more says what the rest is, behind its number.
func limitedTo(lines []string, more string) []string {
	if len(lines) <= shown+3 {
		return lines
	}
	return append(lines[:shown:shown], fmt.Sprintf("and %d %s (-o json)", len(lines)-shown, more))
}

// Remarks returns what to know beside the changes.
func Remarks(p *plan.Plan) []string {
	var troubles, renamed []string
	for _, t := range p.Troubles {
		troubles = append(troubles, Trouble(t))
	}
	for _, r := range p.Renamed {
		renamed = append(renamed, fmt.Sprintf("%s looks like %s under another name: a team cannot be renamed, %s is a new team with a namespace of its own", r.To, r.From, r.To))
	}
	out := slices.Concat(limited(removed(p)), limited(troubles), limited(renamed))
	out = append(out, kept(p.Kept, "team", "teams")...)
	out = append(out, kept(p.KeptClasses, "priority class", "priority classes")...)
	out = append(out, limited(findings(p))...)
	out = append(out, owned(p)...)
	for _, field := range p.NotCompared {
		why := "the configuration of Kueue could not be read"
		if !strings.HasPrefix(field, "policy.") {
			why = "the labels of its namespace are unknown"
		}
		out = append(out, field+" is not compared: "+why)
	}
	if p.Unforeseen && len(p.Operations) > 0 {
		out = append(out, "the effects on jobs are unknown")
	}
	if len(p.Operations) > 0 {
		for _, a := range p.Assumptions {
			out = append(out, "assumption: "+policytext.Assumption(a))
		}
	}
	return out
}

// removed returns the teams whose namespaces are deleted; many of them begin with their number.
func removed(p *plan.Plan) []string {
	var out []string
	if n := len(p.Removed); n > shown+3 {
		out = append(out, fmt.Sprintf("DELETES %d teams and their namespaces with everything in them", n))
	}
	for _, r := range p.Removed {
		text := fmt.Sprintf("DELETES team %s and its namespace %s with everything in it", r.Team, r.Namespace)
		if r.Workloads != nil {
			text += ": " + words.Count(*r.Workloads, "workload", "workloads")
		}
		out = append(out, text)
	}
	return out
}

// kept returns the line about names that the cluster has and the file does not; none without names.
func kept(names []string, one, many string) []string {
	n := len(names)
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s not in the file %s: %s (--prune removes %s)", words.Count(n, one, many), words.Verb(n, "stays", "stay"), strings.Join(limited(names), ", "), words.Verb(n, "it", "them"))}
}

// findings returns the findings as lines, each once with how often it occurs. If not all are shown, the worst come first.
func findings(p *plan.Plan) []string {
	found := visible(p)
	if len(found) > shown+3 {
		found = slices.SortedStableFunc(slices.Values(found), func(a, b policy.Finding) int { return a.Level.Compare(b.Level) })
	}
	var lines []string
	times := map[string]int{}
	for _, f := range found {
		text := fmt.Sprintf("%s %s: %s", f.Code, strings.ToLower(string(f.Level)), f.Message)
		if times[text]++; times[text] == 1 {
			lines = append(lines, text)
		}
	}
	for i, text := range lines {
		if n := times[text]; n > 1 {
			lines[i] += fmt.Sprintf(" (%d times)", n)
		}
	}
	return lines
}

// visible returns the findings but those that the simulation reports as problems.
func visible(p *plan.Plan) []policy.Finding {
	if !foreseen(p.Consequences) {
		return p.Findings
	}
	return slices.DeleteFunc(slices.Clone(p.Findings), func(f policy.Finding) bool { return f.Code == policy.OverCapacity })
}

// foreseen reports whether the simulation already says that quota exceeds capacity.
func foreseen(c *plan.Consequences) bool {
	return c != nil && slices.ContainsFunc(c.Problems, func(p simulate.Problem) bool {
		return p.Code == quota.OverCapacity && p.Change == simulate.Added
	})
}

// owned names the other field managers whose fields change.
func owned(p *plan.Plan) []string {
	objects := map[string][]string{} // by manager
	for _, op := range p.Operations {
		name := op.Kind + " " + strings.TrimPrefix(op.Namespace+"/"+op.Name, "/")
		for _, manager := range op.Owners {
			objects[manager] = append(objects[manager], name)
		}
	}
	var out []string
	for _, manager := range slices.Sorted(maps.Keys(objects)) {
		out = append(out, fmt.Sprintf("%s owns fields that this changes: %s (apply --force-fields takes them over)", manager, words.Some(objects[manager], 4)))
	}
	return limitedTo(out, "more field managers")
}

// Summary returns the last line.
func Summary(p *plan.Plan) string {
	switch {
	case !p.Changes && len(p.NotCompared) > 0:
		return "no changes in what could be compared with " + p.File
	case !p.Changes:
		return "no changes: the cluster matches " + p.File
	}
	n := len(p.Actions) + len(p.Manual)
	if n == 0 {
		n = len(p.Operations)
	}
	return words.Count(n, "change", "changes") + levels(p)
}

// levels counts what Remarks and Effects show.
func levels(p *plan.Plan) string {
	n := map[policy.Level]int{}
	for _, f := range visible(p) {
		n[f.Level]++
	}
	out := ""
	if c := p.Consequences; c != nil {
		added := 0
		for _, x := range c.Problems {
			if x.Change == simulate.Added {
				added++
			}
		}
		if added > 0 {
			out += ", " + words.Count(added, "problem", "problems")
		}
	}
	if n[policy.LevelError] > 0 {
		out += ", " + words.Count(n[policy.LevelError], "error", "errors")
	}
	if n[policy.LevelWarning] > 0 {
		out += ", " + words.Count(n[policy.LevelWarning], "warning", "warnings")
	}
	return out
}

// Trouble words the status of a resource of the service and what to do about it.
func Trouble(t service.Trouble) string {
	text := fmt.Sprintf("%s %s is in status %s", t.Kind, t.Name, t.Status)
	if t.Reason != "" {
		text += " (" + words.OneLine(t.Reason) + ")"
	}
	return text + ": " + recovery(t)
}

func recovery(t service.Trouble) string {
	name := cmp.Or(t.Team, service.PolicyName)
	switch t.Recovery {
	case service.Wait:
		return "SageMaker is still making the change"
	case service.Retry:
		return "apply updates it again"
	case service.Redelete:
		if t.Planned {
			return "apply deletes it again"
		}
		return "delete it again (--prune without it in the file, or --recreate " + name + ")"
	}
	if t.Planned {
		return "apply deletes it and creates it again"
	}
	return "delete it and create it again (--recreate " + name + "); no other change can succeed"
}
