// Package verdict puts the verdict of the admission check (package check) into words:
// the sentences of its JSON document and its text page. It is the only place where the
// codes and values of packages check, remedy and fit become sentences, commands and
// flags; linttext has those of lint.
package verdict

import (
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/present/estimate"
	"github.com/hyperpod-cli/hyperpod/internal/present/linttext"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
)

// Render returns a suggestion as a line that can be pasted: it knows the cluster of the
// run.
type Render func(errs.Suggestion) string

// Fill sets the sentences of a verdict. Call it once, before the verdict is printed.
func Fill(v *check.Verdict, render Render) {
	notetext.Fill(v.Rules.Notes)
	job := existing(v)
	linttext.Fill(v.Lint, job, render)
	for i := range v.Submission {
		if s := &v.Submission[i]; s.Message == "" {
			s.Message, s.Try = stepMessage(v, s), linttext.Fix(s.Fix, job, render)
		}
	}
	if q := &v.Quota; q.Message == "" {
		q.Message = skipped(v)
	}
	if n := &v.Nodes; n.Message == "" {
		n.Message = nodesMessage(v)
	}
	if v.Undecided() {
		v.Quota.Unseen.If = condition(v)
	}
	fillHolders(v.Holders)
	for i := range v.Remedies {
		r := &v.Remedies[i]
		fillHolders(r.Jobs)
		r.Flag = option(r, v.Job.Namespace)
		r.Commands = commands(r, v.Existing, render)
		if r.Denied != nil {
			r.Message = "you need permission to " + r.Denied.Verb + " " + r.Denied.Resource + " in " + r.Denied.Namespace
		}
	}
	estimate.Fill(v.ETA)
	FillWorkers(v.Workers, render)
	v.Advice = advice(v, render)
	v.Summary = summary(v)
}

// existing returns the job of a verdict if it exists already.
func existing(v *check.Verdict) *linttext.Existing {
	if v.Existing == nil {
		return nil
	}
	return &linttext.Existing{Namespace: v.Existing.Namespace, Name: v.Existing.Name}
}

func fillHolders(list []remedy.Holder) {
	for i := range list {
		list[i].Message = ruleText(list[i].Rule)
	}
}
