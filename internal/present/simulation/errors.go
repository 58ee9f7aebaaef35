package simulation

import (
	"errors"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Error words an error of package simulate. Other errors stay as they are.
func Error(err error) error {
	var e *simulate.Error
	if !errors.As(err, &e) {
		return err
	}
	var out *errs.Error
	switch e.Code {
	case simulate.InChange:
		inner := Error(e.Err)
		return errs.Wrap(inner, "change "+strconv.Itoa(e.Count)).WithCode(errs.ExitOf(inner))
	case simulate.NotFound:
		out = notFound(e)
	case simulate.NoQuota:
		out = errs.NotFoundf("%s has no quota for %s", subject(e.Change), strings.Trim(e.Change.Resource+"@"+e.Change.Flavor, "@")).
			WithFact("available", words.Some(e.Names, mostOffered))
	case simulate.InvalidRules:
		out = errs.New("cannot simulate with the rules of the cluster", e.Err.Error())
	case simulate.NotRun:
		out = errs.Wrap(e.Err, "cannot simulate")
	case simulate.NeverConverges:
		out = errs.New("cannot simulate the time until "+e.Value, "the policy never converges")
	default:
		if out = unreadable(e); out == nil {
			out = unsuited(e)
		}
	}
	return out.WithCause(err)
}

// subject returns whose setting it is.
func subject(c simulate.Change) string {
	if name, ok := c.Cohort(); ok {
		return "cohort " + name
	}
	return "team " + c.Target
}

// mostOffered are the names that a fact of an error lists.
const mostOffered = 20

func notFound(e *simulate.Error) *errs.Error {
	out := errs.NotFoundf("%s %q not found", e.Kind, e.Value)
	switch near := errs.Near(e.Value, e.Names); {
	case e.Removed:
		out = errs.NotFoundf("%s %q not found: another change removes it", e.Kind, e.Value)
	case len(near) > 0:
		out.WithFact("did you mean", strings.Join(near, ", "))
	case len(e.Names) > 0:
		out.WithFact("available", words.Some(e.Names, mostOffered))
	}
	if e.Copied {
		out.WithAdvice("name an instance type with at least one node: new nodes copy it")
	}
	return out
}

// unreadable words a change that cannot be read; nil for other errors.
func unreadable(e *simulate.Error) *errs.Error {
	c := e.Change
	switch e.Code {
	case simulate.EmptyChange:
		return errs.Usagef("%s is empty", c.Kind)
	case simulate.UnknownChange:
		return errs.Usagef("change %q not found", c.Kind).WithFact("available", words.Some(e.Names, mostOffered))
	case simulate.TeamForm:
		return errs.Usagef("invalid team %q: must be NAME=TEAM", c.Text).Suggest(suggest.AddTeam("NAME", "TEAM"))
	case simulate.PriorityForm:
		return errs.Usagef("invalid priority change %q: must be JOB=CLASS or JOB=NUMBER", c.Text).Suggest(suggest.SetPriority("JOB", "CLASS"))
	case simulate.SettingForm:
		return errs.Usagef("invalid setting %q: must be TEAM.SETTING=VALUE", c.Text).
			Suggest(suggest.SetPolicy("TEAM", "borrow-limit", "0"), suggest.SetPolicy("TEAM", "quota", "32"), suggest.SetPolicy("TEAM", "quota/nvidia.com/gpu@ml.p5.48xlarge", "32"))
	case simulate.NodeCount:
		example := suggest.AddNodes
		if c.Kind == simulate.RemoveNodes {
			example = suggest.RemoveNodes
		}
		return errs.Usagef("invalid number of nodes %q: must be between 1 and 100000", e.Value).Suggest(example("ml.p5.48xlarge", "2"))
	case simulate.FairSharing:
		return errs.Usagef("invalid fair-sharing %q: must be on or off", c.Value)
	case simulate.NoSetting:
		out := errs.Usagef("setting %q not found", c.Setting)
		for _, n := range errs.Near(c.Setting, e.Names) {
			out.Suggest(suggest.SetPolicy(c.Target, n, "VALUE"))
		}
		return out.WithFact("available", words.Some(e.Names, mostOffered))
	case simulate.NoValue:
		return errs.Usagef("%s has no value", c.Text)
	case simulate.NotWord:
		return errs.Usagef("invalid %s %q: must be one of %s", c.Setting, c.Value, strings.Join(e.Names, ", "))
	case simulate.NotAmount:
		return errs.Usagef("invalid amount %q: must be a quantity, for example 32, 500m or 64Gi", c.Value)
	case simulate.NotPercentage:
		return errs.Usagef("invalid percentage %q: must be a number of at least 0%%", e.Value)
	case simulate.NotWeight:
		return errs.Usagef("invalid weight %q: must be a number of at least 0, or a percentage of the current weight", c.Value)
	case simulate.Negative:
		return errs.Usagef("invalid %s: must be at least 0", c.Text)
	case simulate.TooLarge:
		return errs.Usagef("invalid %s: the amount is too large", c.Text)
	case simulate.PriorityRange:
		return errs.Usagef("invalid priority %s: must be between -2147483648 and 2147483647", c.Value)
	case simulate.NotChanges:
		return errs.Usagef("cannot read the file of changes: it must contain a list under \"changes\"").
			WithFact("example", "changes:\n- set: TEAM.borrow-limit=0\n- addJob: train.yaml")
	case simulate.NotText:
		return errs.Usagef("change %d: %s must be a text", e.Count, e.Value)
	case simulate.InvalidFile:
		return errs.Usagef("cannot read %s: %s", c.Text, words.OneLine(e.Err.Error()))
	case simulate.NoObjects:
		return errs.Usagef("%s contains no object", c.Text)
	case simulate.ObjectIgnored:
		return errs.Usagef("cannot simulate a change of %s %s", e.Kind, e.Value)
	}
	return nil
}

// unsuited words a change that does not suit the cluster.
func unsuited(e *simulate.Error) *errs.Error {
	c := e.Change
	switch e.Code {
	case simulate.TeamExists:
		return errs.Usagef("cannot add team %s: ClusterQueue %s already exists", c.Target, e.Value)
	case simulate.Ambiguous:
		return errs.Usagef("%d jobs are named %q", e.Count, e.Value).WithFact("found", words.Some(e.Names, mostOffered))
	case simulate.WhichQuota:
		return errs.Usagef("%s does not name a resource and flavor", c.Text).WithFact("available", words.Some(e.Names, mostOffered)).
			Suggest(suggest.SetPolicy(c.Target, c.Setting+"/"+e.Names[0], c.Value))
	case simulate.PercentOfQuota:
		return errs.Usagef("%s of a quota of %s is too large", c.Value, e.Value)
	case simulate.TeamsOnly:
		return errs.Usagef("%s is a setting of teams: a cohort has none", c.Setting).WithFact("available", words.Some(e.Names, mostOffered))
	case simulate.Refused:
		what := e.Kind + " " + e.Value
		if e.Kind == "ClusterQueue" {
			what = "ClusterQueue of team " + quota.TeamOf(e.Value)
		}
		return errs.Usagef("Kueue refuses the %s with these changes", what).WithFact("reason", refusals(e.Refusals))
	case simulate.TooFewNodes:
		return errs.Usagef("cannot remove %d nodes of %s: the cluster has %d", c.Count, c.Target, e.Count)
	case simulate.NoNodes:
		return errs.New("cannot remove nodes", "the cluster has no nodes, or you have no permission to list them").WithCode(errs.Usage)
	case simulate.NoJob:
		return errs.Usagef("%s contains no job that Kueue queues", c.Text).WithFact("supported", strings.Join(e.Names, ", "))
	case simulate.InvalidJob:
		return errs.Wrap(Error(e.Err), "cannot add "+c.Text).WithCode(errs.Usage)
	case simulate.GroupLacksPods:
		return errs.Usagef("cannot add %s: %s", c.Text, jobtext.Incomplete(e.Value, e.Count, e.Whole)).WithAdvice("add all pods of the group: Kueue creates no workload before")
	case simulate.GroupMismatch:
		return errs.Usagef("cannot add %s: Kueue does not admit pod group %s: %s", c.Text, e.Value, jobtext.Mismatch(e.Mismatch))
	case simulate.NoNamespace:
		return errs.Usagef("%s names no namespace", c.Text).Suggest(suggest.Namespace("NAMESPACE"))
	case simulate.NoQueue:
		return errs.New("", "namespace "+e.Value+" has no LocalQueue")
	case simulate.WhichQueue:
		return errs.New("", "namespace "+e.Value+" has several LocalQueues and the job names none").WithFact("available", words.Some(e.Names, mostOffered))
	case simulate.JobExists:
		return errs.Usagef("cannot add %s: %s %s already exists in %s", c.Text, e.Kind, e.Value, e.Namespace).
			Suggest(suggest.RemoveJob(e.Namespace, e.Value))
	}
	return errs.New("cannot simulate", e.Error())
}

func refusals(list []simulate.Refusal) string {
	texts := make([]string, len(list))
	for i, r := range list {
		if texts[i] = "borrow-preemption requires reclaim LowerPriority or Any"; r.Err != nil {
			texts[i] = notetext.Invalid(r.Err)
		}
	}
	return strings.Join(texts, "; ")
}
