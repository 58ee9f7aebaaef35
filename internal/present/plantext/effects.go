package plantext

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Effects say what happens to jobs, a line each.
func Effects(c *plan.Consequences) []string {
	var out []string
	for _, p := range c.Preempted {
		text := fmt.Sprintf("preempted: %s/%s (%s), for %s (%s)", p.Namespace, p.Name, holder(c, p.Team, p.Since), p.By, words.PreemptionReason(p.Reason))
		switch {
		case p.RunsAgain:
			text += "; starts again"
		case p.JobLost:
			text += "; " + words.JobLost
		}
		out = append(out, text)
	}
	if len(c.Preempted) == 0 && len(c.Unknown) == 0 {
		out = append(out, "nothing is preempted")
	}
	out = limitedTo(out, "more are preempted")
	var evicted, started, nodes, lost []string
	for _, e := range c.Evicted {
		text := fmt.Sprintf("evicted: %s/%s (%s; %s)", e.Namespace, e.Name, holder(c, e.Team, e.Since), e.Reason)
		if e.JobLost {
			text += "; " + words.JobLost
		}
		evicted = append(evicted, text)
	}
	for _, j := range c.Started {
		started = append(started, fmt.Sprintf("starts: %s/%s", j.Namespace, j.Name))
	}
	for _, j := range c.NoNodes {
		nodes = append(nodes, fmt.Sprintf("gets quota, but its pods fit on no node: %s/%s", j.Namespace, j.Name))
	}
	for _, j := range c.Never {
		lost = append(lost, fmt.Sprintf("can never run: %s/%s (%s)", j.Namespace, j.Name, never(j.After)))
	}
	out = slices.Concat(out, limitedTo(evicted, "more are evicted"), limitedTo(started, "more start"), limitedTo(nodes, "more get quota, but no node"),
		limitedTo(lost, "more can never run"), unknown(c.Unknown))
	switch {
	case c.Settled:
		out = append(out, "the policy converges"+words.AfterCycles(c.CyclesRun))
	case c.Loop != nil:
		out = append(out, "THE POLICY NEVER CONVERGES: these steps repeat")
		for _, s := range c.Loop.Steps[:min(len(c.Loop.Steps), shown)] {
			if s.Action == simulate.Preempts {
				out = append(out, fmt.Sprintf("  %s preempts %s (%s)", s.Job, s.Target, words.PreemptionReason(s.Reason)))
			} else {
				out = append(out, "  "+s.Job+" starts")
			}
		}
	}
	if c.Tie {
		out = append(out, "tie: Kueue picks one of several equal outcomes; this is one of them")
	}
	if c.Between != nil {
		out = append(out, between(c.Between))
	}
	out = append(out, simulation.ProblemLines(c.Problems)...)
	for _, n := range c.Notes {
		out = append(out, "note: "+n.Message)
	}
	return out
}

// unknown counts and names the jobs whose state after the changes is unknown, a line for each reason.
func unknown(jobs []simulate.Job) []string {
	var reasons []string
	names := map[string][]string{}
	for _, j := range jobs {
		why := simulation.DependsOn(j.After)
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], j.Namespace+"/"+j.Name)
	}
	slices.Sort(reasons)
	var out []string
	for _, why := range reasons {
		n := len(names[why])
		out = append(out, fmt.Sprintf("unknown for %s (%s on %s): %s", words.Count(n, "job", "jobs"), words.Verb(n, "depends", "depend"), why, words.Some(names[why], 8)))
	}
	return out
}

// between says what happens if Kueue decides between the changes.
func between(o *simulate.Between) string {
	var parts []string
	if n := len(o.Waits); n > 0 {
		parts = append(parts, words.Some(o.Waits, 4)+" "+words.Verb(n, "waits", "wait"))
	}
	if n := len(o.Runs); n > 0 {
		parts = append(parts, words.Some(o.Runs, 4)+" "+words.Verb(n, "runs", "run"))
	}
	text := "depends on timing: if Kueue decides before the last change, " + strings.Join(parts, " and ")
	if over := overcommit(o.Overcommit); len(over) > 0 {
		text += ", and " + strings.Join(over, " and ") + " are overcommitted until jobs end"
	}
	return text
}

// overcommit lists amounts of accelerators, or of all resources if there are none of accelerators: the others follow them.
func overcommit(list []simulate.Amount) (out []string) {
	all := !slices.ContainsFunc(list, func(a simulate.Amount) bool { return kinds.Accelerator(a.Resource) })
	for _, a := range list {
		if all || kinds.Accelerator(a.Resource) {
			out = append(out, fmt.Sprintf("%s of %s", words.Amount(a.Resource, a.Amount), a.Flavor))
		}
	}
	return out
}

// holder says whose a job is and for how long it has had its quota.
func holder(c *plan.Consequences, team string, since *time.Time) string {
	if since == nil {
		return "team " + team
	}
	return "team " + team + ", running for " + words.Age(c.Time.Sub(*since))
}

// never returns why a job can never run: the accelerator that it requests too much of, else Kueue's own words.
func never(s *simulate.JobState) string {
	if all, never := quota.DecidingShortages(s.Message); never {
		return "its quota can be at most " + all[0].Most + " " + all[0].Resource + " of " + all[0].Flavor
	}
	return words.OneLine(words.WithoutPodSet(s.Message))
}
