// Package policytext words the findings, faults, changes and assumptions of governance
// documents.
package policytext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fault words a fault in the text of a document.
func Fault(f policy.Fault) string {
	switch f.Kind {
	case policy.Documents:
		return fmt.Sprintf("the file contains %s documents; it must contain one", f.Got)
	case policy.Manifest:
		return fmt.Sprintf("the file is a Kubernetes manifest (kind %s), not a governance file", f.Got)
	case policy.UnknownField:
		return fmt.Sprintf("unknown field %q%s", f.Path, meant(f.Near, "available", f.Want))
	case policy.WrongType:
		return fmt.Sprintf("%s must be %s, not %s", f.Path, strings.Join(f.Want, " or "), f.Got)
	case policy.Newer:
		return fmt.Sprintf("a newer hyperpod wrote the file (%s; this version reads %s)", f.Got, f.Want[0])
	case policy.WrongValue:
		return fmt.Sprintf("invalid %s %q%s", f.Path, f.Got, meant(f.Near, "must be one of", f.Want))
	case policy.Missing:
		return fmt.Sprintf("%s is required", f.Path)
	}
	return f.Got
}

// meant adds near names, or all of them.
func meant(near []string, label string, all []string) string {
	switch {
	case len(near) > 0:
		return "; did you mean " + quoted(near) + "?"
	case len(all) == 0:
		return ""
	}
	return "; " + label + ": " + strings.Join(all, ", ")
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, " or ")
}

// Fill sets the messages of findings.
func Fill(found []policy.Finding) {
	for i := range found {
		if found[i].Message == "" {
			found[i].Message = message(found[i])
		}
	}
}

// message words a finding of the check.
func message(f policy.Finding) string {
	n, limit := figure(f.Value), figure(f.Limit)
	switch f.Code {
	case policy.OverCapacity:
		return fmt.Sprintf("quota of %s exceeds capacity: %s %s %s, the cluster has %s", f.Subject, teams(f.Names),
			words.Verb(len(f.Names), "reserves", "reserve"), words.Amount(f.Text, *f.Value), words.Number(f.Text, *f.Limit))
	case policy.BorrowIgnored:
		return fmt.Sprintf("%s has no effect with strategy %s", f.Subject, f.Text)
	case policy.NobodyToShare, policy.NobodyLends:
		return fmt.Sprintf("team %s cannot borrow: no other team lends %s", f.Team, words.Some(f.Names, 8))
	case policy.NoClasses:
		return "no priority classes: tasks rank first come, first served"
	case policy.WeightIgnored:
		return fmt.Sprintf("weight %s of team %s has no effect: fair share is disabled", n, f.Team)
	case policy.WeightZero:
		return fmt.Sprintf("team %s has weight 0: it is the first to lose what it borrows", f.Team)
	case policy.SameNamespace:
		return fmt.Sprintf("LocalQueue %s also belongs to team %s", f.Text, words.Some(f.Names, 5))
	case policy.BadPartition:
		if f.Text == "" {
			return fmt.Sprintf("acceleratorPartition cannot be combined with %s", strings.Join(f.Names, ", "))
		}
		if len(f.Names) == 0 {
			return fmt.Sprintf("%s has no MIG profiles", f.Subject)
		}
		return fmt.Sprintf("%s has no MIG profile %q; available: %s", f.Subject, f.Text, strings.Join(f.Names, ", "))
	case policy.OutOfRange:
		if strings.HasSuffix(f.Path, "description") {
			return fmt.Sprintf("description has %s characters; must be at most %s", n, limit)
		}
		if *f.Value < *f.Limit {
			return fmt.Sprintf("invalid %s %s: must be at least %s", last(f.Path), n, limit)
		}
		return fmt.Sprintf("invalid %s %s: must be at most %s", last(f.Path), n, limit)
	case policy.BadName:
		return fmt.Sprintf("invalid %s %q: must consist of %s", last(f.Path), f.Text, form(f.Path))
	case policy.BadText:
		return fmt.Sprintf("description has the character %q; must consist of letters, digits, spaces, punctuation and symbols", f.Text)
	case policy.Duplicate:
		if len(f.Names) > 0 {
			return fmt.Sprintf("%s %s also belongs to team %s", f.Subject, f.Text, words.Some(f.Names, 5))
		}
		return fmt.Sprintf("duplicate %s %q", f.Subject, f.Text)
	case policy.TooMany:
		return fmt.Sprintf("%s has %s entries; must have at most %s", last(f.Path), n, limit)
	case policy.LargeBorrow:
		return fmt.Sprintf("borrowLimit %s %%: older versions of the API accept at most %s %%", n, limit)
	case policy.UnknownInstance:
		return fmt.Sprintf("unknown instance type %q%s", f.Text, meant(f.Names, "", nil))
	case policy.UnitMissing:
		if f.Text != "" {
			return fmt.Sprintf("%s has no %s", f.Subject, f.Text)
		}
		return fmt.Sprintf("no amount of %s: set count, accelerators, acceleratorPartition, vcpu or memoryInGiB", f.Subject)
	case policy.UnitConflict:
		return fmt.Sprintf("count cannot be combined with %s", strings.Join(f.Names, ", "))
	case policy.TwiceDescribed:
		return fmt.Sprintf("team %s has quota both in rows and in kueue.spec.resourceGroups", f.Team)
	case policy.BadSpec:
		return "Kueue's API does not accept this: " + strings.TrimPrefix(f.Text, "json: ")
	case policy.BorrowsNothing:
		return fmt.Sprintf("team %s can borrow nothing: %s %% of %s of %s is less than 1", f.Team, limit, words.Count(int(*f.Value), "accelerator", "accelerators"), f.Subject)
	case policy.PartOfInstance:
		return fmt.Sprintf("%s of %s: an instance has %s, so jobs that need whole instances cannot use all of it", words.Count(int(*f.Value), "accelerator", "accelerators"), f.Subject, limit)
	case policy.Unreserved:
		return fmt.Sprintf("no team has reserved %s of %s %s of %s: they are idle unless idleResourceSharing is Enabled", n, limit, f.Text, f.Subject)
	case policy.ClassInUse:
		return fmt.Sprintf("%s with priority class %s still exist: keep the class", words.Count(int(*f.Value), "workload", "workloads"), f.Text)
	case policy.BelowUse:
		return fmt.Sprintf("quota of team %s falls to %s of %s, below the %s in use: jobs become borrowers and can be preempted", f.Team, words.Amount(f.Text, *f.Limit), f.Subject, words.Number(f.Text, *f.Value))
	case policy.BeingDeleted:
		return deleted(f)
	}
	return f.Code
}

// deleted says that an object that the file wants is being deleted.
func deleted(f policy.Finding) string {
	if f.Team == "" {
		return fmt.Sprintf("%s %s is being deleted: apply the file when it is gone", f.Text, f.Subject)
	}
	return fmt.Sprintf("%s %s of team %s is being deleted: it stays until the jobs that hold its quota end; apply the file then", f.Text, f.Subject, f.Team)
}

func last(path string) string {
	if name, ok := strings.CutPrefix(path, "cluster.capacity."); ok {
		return "capacity of " + name // an instance type has dots
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// form returns what a name must consist of.
func form(path string) string {
	if strings.HasSuffix(path, ".name") && !strings.Contains(path, "priorityClasses") {
		return "at most 63 letters, digits and hyphens, and begin and end with a letter or digit"
	}
	return "at most 40 lower-case letters, digits and hyphens, and begin and end with a letter or digit"
}

// teams lists names, the first few of many.
func teams(names []string) string {
	return words.Verb(len(names), "team ", "teams ") + words.Some(names, 5)
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return words.Number("", *v)
}

// Assumption words something that the mapping to Kueue infers.
func Assumption(a policy.Assumption) string {
	switch a {
	case policy.AssumedRounding:
		return "a percentage of a quota is rounded to whole devices"
	case policy.AssumedLend:
		return "strategy Lend means borrowing limit 0 in the shared cohort"
	case policy.AssumedDontLend:
		return "strategy DontLend puts the team into a cohort of its own"
	case policy.AssumedPartition:
		return "MIG slices are covered as nvidia.com/mig-PROFILE"
	case policy.AssumedActivation:
		return "activation is the label activate-quota of the team's namespace"
	case policy.AssumedClass:
		return "the value of a WorkloadPriorityClass is the weight of the class"
	case policy.AssumedEFA:
		return "EFA interfaces follow the accelerators"
	}
	return string(a)
}

// Notes words the remarks on an export. Of many teams beyond the terms, they give the
// number.
func Notes(notes []policy.Note) []string {
	const most = 5
	var out, beyond []string
	for _, n := range notes {
		if n.Code == policy.BeyondTerms {
			beyond = append(beyond, note(n))
		} else {
			out = append(out, note(n))
		}
	}
	if len(beyond) > most {
		beyond = []string{fmt.Sprintf("%d teams have fields in kueue.spec, which the other fields cannot express", len(beyond))}
	}
	return append(out, beyond...)
}

// note words a remark on an export.
func note(n policy.Note) string {
	switch n.Code {
	case policy.FairSharingUnread:
		return "policy.fairShare is left out: the configuration of Kueue could not be read"
	case policy.BeyondTerms:
		return fmt.Sprintf("team %s: kueue.spec keeps %s of ClusterQueue %s, which the other fields cannot express", n.Team, strings.Join(n.Fields, ", "), n.Queue)
	case policy.IdleQueue:
		return fmt.Sprintf("ClusterQueue %s is left out: the service makes it to share idle capacity", n.Queue)
	case policy.UnknownValue:
		of := ""
		if n.Team != "" {
			of = "team " + n.Team + ": "
		}
		return fmt.Sprintf("%s%s is left out: this version does not know the value %q; it stays as it is", of, strings.Join(n.Fields, ", "), n.Value)
	case policy.TwiceAllocated:
		return fmt.Sprintf("team %s has several compute allocations; the file has the first", n.Team)
	case policy.SeveralPolicies:
		return fmt.Sprintf("the cluster has several policies; the file has %s", n.Value)
	}
	return string(n.Code)
}
