package simulatecmd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// fewTeams is the number of teams up to which unchanged ones are shown. Of those that change, and of the jobs that change,
// [output.MostRows] have a row.
const fewTeams = 12

// table returns the report for people: teams, then the jobs that change, then the answer.
func table(r *simulate.Report, wide bool) output.Table {
	if len(r.Cycles) > 0 {
		return cycles(r)
	}
	t := output.Table{Columns: []output.Column{{Title: "", Keep: true}, {Title: "BEFORE", Wrap: true}, {Title: "AFTER", Wrap: true}}}
	main := mainResource(r)
	hidden, teams, moreTeams := 0, 0, 0
	for _, team := range r.Teams {
		before, after := teamText(team.Before, main), teamText(team.After, main)
		if before == after && len(r.Teams) > fewTeams && !wide {
			hidden++
			continue
		}
		if teams++; teams > output.MostRows && !wide {
			moreTeams++
			continue
		}
		t.Rows = append(t.Rows, output.T(team.Team, before, after))
	}
	twice := map[string]int{}
	for _, j := range r.Jobs {
		twice[j.Name]++
	}
	changed, more := 0, 0
	for _, j := range r.Jobs {
		if !j.Changed() && !wide {
			continue
		}
		if changed++; changed > output.MostRows && !wide {
			more++
			continue
		}
		name := j.Name
		if twice[name] > 1 {
			name = j.Namespace + "/" + name
		}
		t.Rows = append(t.Rows, output.T(name, jobText(j.Before, main), jobText(j.After, main)))
	}
	if len(t.Rows) == 0 && hidden > 0 {
		t.Columns, t.Notes = nil, append(t.Notes, "no team uses more or less, and no job changes")
	}
	if hidden > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s hidden (see -o wide)", words.Count(hidden, "unchanged team is", "unchanged teams are")))
	}
	if moreTeams > 0 {
		t.Notes = append(t.Notes, words.Count(moreTeams, "more team changes", "more teams change")+" (see -o wide)")
	}
	if more > 0 {
		t.Notes = append(t.Notes, words.Count(more, "more job changes", "more jobs change")+" (see -o wide)")
	}
	t.Notes = append(t.Notes, summary(r)...)
	return t
}

// summary returns the answer in sentences.
func summary(r *simulate.Report) []string {
	var out []string
	what := "nothing is preempted"
	switch n := len(r.Preempted); {
	case n == 1:
		p := r.Preempted[0]
		what = fmt.Sprintf("%s/%s is preempted for %s (%s)", p.Namespace, p.Name, p.By, words.PreemptionReason(p.Reason))
		if p.JobLost {
			what += "; " + words.JobLost
		}
	case n > 1:
		what = fmt.Sprintf("%d preemptions", n)
	}
	if n := len(r.Evicted); n > 0 {
		what += fmt.Sprintf(", %d evicted", n)
	}
	switch {
	case simulation.QueuesHidden(r) && len(r.Teams) == 0:
		out = append(out, "what becomes of these jobs is unknown: you need permission to list clusterqueues")
	case r.Settled:
		out = append(out, what+"; the policy converges"+words.AfterCycles(r.CyclesRun))
	case r.Loop != nil:
		out = append(out, loopText(r)...)
	default:
		out = append(out, fmt.Sprintf("%s; the policy has not converged after %s", what, words.Count(r.CyclesRun, "cycle", "cycles")))
	}
	if r.Tie {
		out = append(out, "tie: Kueue picks one of several equal outcomes; this is one of them")
	}
	for _, a := range r.PolicyRemedies {
		out = append(out, adviceText(a)...)
	}
	out = append(out, simulation.ProblemLines(r.Problems)...)
	if len(r.RemovedNodes) > 0 {
		out = append(out, removedText(r.RemovedNodes))
	}
	if r.Window != nil {
		out = append(out, simulation.Window(r.Window)...)
	}
	for _, n := range r.Notes {
		out = append(out, "note: "+n.Message)
	}
	return append(out, "simulated with Kueue "+r.KueueRules+" rules")
}

// adviceText returns what of the policy would let an added job run.
func adviceText(a simulate.JobRemedies) []string {
	name := a.Namespace + "/" + a.Name
	if len(a.Placements) > 0 {
		for _, p := range a.Placements {
			if p.PodsPlaced < p.Pods {
				return []string{fmt.Sprintf("no setting of the policy lets %s run: a pod of %s fits on no node: %s", name, p.PodSet, verdict.NodeReasons(p.Reasons))}
			}
		}
	}
	if len(a.Remedies) == 0 {
		return []string{fmt.Sprintf("no single setting lets %s run now", name)}
	}
	var out []string
	for _, m := range a.Remedies {
		text := fmt.Sprintf("%s would run now with %s", name, strings.Join(suggest.PolicyRemedy(m.Code, m.Team).Args, " "))
		if len(m.Preempts) > 0 {
			text += ", and preempt " + words.Some(m.Preempts, 4)
		}
		out = append(out, text)
	}
	return out
}

// removedText names the nodes that are removed.
func removedText(nodes []simulate.RemovedNode) string {
	var names []string
	for _, n := range nodes {
		names = append(names, fmt.Sprintf("%s (%s)", n.Node, words.Count(n.Pods, "pod", "pods")))
	}
	return "removed " + words.Some(names, 8)
}

// loopText shows who preempts whom.
func loopText(r *simulate.Report) []string {
	l := r.Loop
	first := fmt.Sprintf("DOES NOT SETTLE: these %s repeat forever", words.Count(len(l.Steps), "step", "steps"))
	if !l.Exact {
		first = fmt.Sprintf("DOES NOT SETTLE within %s; the most frequent evictions", words.Count(r.CyclesRun, "cycle", "cycles"))
	}
	out := []string{first}
	const shown = 12
	for i, s := range l.Steps {
		if i == shown {
			out = append(out, fmt.Sprintf("  and %d more (-o json)", len(l.Steps)-shown))
			break
		}
		line := "  " + s.Job + " starts"
		if s.Action == simulate.Preempts {
			line = fmt.Sprintf("  %s preempts %s (%s)", s.Job, s.Target, words.PreemptionReason(s.Reason))
		}
		if s.Times > 0 {
			line += fmt.Sprintf(", %d times", s.Times)
		}
		out = append(out, line)
	}
	return out
}

// mainResource returns the resource whose amounts are shown: the device with the most quota, else cpu.
func mainResource(r *simulate.Report) string {
	total := map[string]float64{}
	for _, t := range r.Teams {
		for _, s := range []*simulate.TeamState{t.Before, t.After} {
			if s != nil {
				for _, a := range s.Nominal {
					total[a.Resource] += float64(a.Amount)
				}
			}
		}
	}
	if len(r.Teams) == 0 { // their queues could not be read
		for _, j := range r.Jobs {
			for _, s := range []*simulate.JobState{j.Before, j.After} {
				if s != nil {
					for _, a := range s.Holds {
						total[a.Resource] += float64(a.Amount)
					}
				}
			}
		}
	}
	best := "cpu"
	for name, n := range total {
		if kinds.Accelerator(name) && (!kinds.Accelerator(best) || n > total[best] || n == total[best] && name < best) {
			best = name
		}
	}
	return best
}

func sum(list []simulate.Amount, resource string) float64 {
	total := 0.0
	for _, a := range list {
		if a.Resource == resource {
			total += float64(a.Amount)
		}
	}
	return total
}

func teamText(s *simulate.TeamState, resource string) string {
	if s == nil {
		return "-"
	}
	text := words.Number(resource, sum(s.Used, resource)) + " used"
	if b := sum(s.Borrowed, resource); b > 0 {
		text += ", " + words.Number(resource, b) + " borrowed"
	}
	if o := sum(s.Overcommit, resource); o > 0 {
		text += ", " + words.Number(resource, o) + " overcommitted"
	}
	for _, part := range []struct {
		n    int
		what string
	}{{s.Evicting, "evicting"}, {s.WaitsForNodes, "without nodes"}, {s.Waiting, "waiting"}, {s.Preempted, "preempted"}, {s.JobsLost, "lost"}, {s.Never, "never"}, {s.Unknown, "unknown"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text
}

func jobText(s *simulate.JobState, resource string) string {
	if s == nil {
		return "-"
	}
	switch s.State {
	case simulate.Admitted, simulate.QuotaReserved:
		text := fmt.Sprintf("%s: %s %s", s.State, words.Number(resource, sum(s.Holds, resource)), words.Short(resource))
		if s.Reason != simulate.NotReadable {
			text += fmt.Sprintf(", %s borrowed", words.Number(resource, sum(s.Borrowed, resource)))
		}
		if over := sum(s.Overcommit, resource); over > 0 {
			text += ", " + words.Number(resource, over) + " overcommitted"
		}
		if s.State == simulate.QuotaReserved {
			text += ", waits for admission checks"
		}
		return text
	case simulate.Evicting:
		return fmt.Sprintf("Evicting: %s %s until its pods end", words.Number(resource, sum(s.Holds, resource)), words.Short(resource))
	case simulate.WaitsForNodes:
		return fmt.Sprintf("WaitsForNodes: %s %s, %s", words.Number(resource, sum(s.Holds, resource)), words.Short(resource), s.Message)
	case simulate.Preempted:
		return "Preempted by " + s.By
	case simulate.Lost:
		if s.By != "" {
			return "Lost: preempted by " + s.By + "; " + words.PodsGone
		}
		return "Lost: " + words.PodsGone
	case simulate.Unknown:
		return "Unknown: depends on " + simulation.DependsOn(s)
	case simulate.Never:
		return "Never: " + why(s, resource)
	}
	return "Waiting: " + why(s, resource)
}

// why returns the shortage of one resource, else Kueue's message or reason. JSON has the
// whole message.
func why(s *simulate.JobState, resource string) string {
	for _, x := range words.Shortages(s.Message) {
		switch {
		case x.Resource != resource:
		case x.Most != "":
			return fmt.Sprintf("the team's limit is %s %s", x.Most, words.Short(resource))
		default:
			return fmt.Sprintf("%s more %s needed", x.Missing, words.Short(resource))
		}
	}
	if s.Reason == "" || s.Reason == simulate.NotReadable || s.Message != "" && len(s.Message) <= 60 {
		return s.Message
	}
	return s.Reason
}

// cycles returns the table of --cycles: a line per event.
func cycles(r *simulate.Report) output.Table {
	main := mainResource(r)
	t := output.Table{Columns: []output.Column{{Title: "CYCLE", Right: true}, {Title: "WHAT"}, {Title: "JOB", Keep: true}, {Title: "DETAILS", Wrap: true}}}
	row := func(n int, what, job, details string) {
		t.Rows = append(t.Rows, output.T(strconv.Itoa(n), what, job, details))
	}
	for _, c := range r.Cycles {
		if len(c.Scheduled)+len(c.Preempted)+len(c.Replaced)+len(c.Evicted)+len(c.Pending)+len(c.Inadmissible)+len(c.NotQueued) == 0 {
			row(c.Cycle, "nothing", "", "")
		}
		for _, s := range c.Scheduled {
			what := "scheduled"
			switch {
			case s.SecondPass:
				what = "placed"
			case !s.Admitted:
				what = "quota reserved"
			}
			row(c.Cycle, what, s.Namespace+"/"+s.Name, fmt.Sprintf("%s %s, %s borrowed, %s",
				words.Number(main, sum(s.Holds, main)), words.Short(main), words.Number(main, sum(s.Borrowed, main)), podSets(s.PodSets)))
		}
		for _, p := range c.Preempted {
			row(c.Cycle, "preempted", p.Namespace+"/"+p.Name, "for "+p.By+" ("+words.PreemptionReason(p.Reason)+")"+lost(p.JobLost))
		}
		for _, e := range c.Replaced {
			row(c.Cycle, "replaced", e.Namespace+"/"+e.Name, e.Reason)
		}
		for _, e := range c.Evicted {
			row(c.Cycle, "evicted", e.Namespace+"/"+e.Name, e.Reason+": "+e.Message+lost(e.JobLost))
		}
		for _, u := range c.Pending {
			row(c.Cycle, "pending", u.Namespace+"/"+u.Name, u.Reason+": "+u.Message)
		}
		for _, u := range c.Inadmissible {
			row(c.Cycle, "inadmissible", u.Namespace+"/"+u.Name, u.Reason+": "+u.Message)
		}
		for _, u := range c.NotQueued {
			row(c.Cycle, "not queued", u.Namespace+"/"+u.Name, u.Reason+": "+u.Message)
		}
	}
	t.Notes = summary(r)
	return t
}

// lost ends the details of a job that is lost.
func lost(job bool) string {
	if job {
		return "; " + words.JobLost
	}
	return ""
}

func podSets(list []simulate.PodSet) string {
	var out []string
	for _, ps := range list {
		flavors := slices.Compact(slices.Sorted(maps.Values(ps.Flavors)))
		text := fmt.Sprintf("%s x%d on %s", ps.Name, ps.Pods, strings.Join(flavors, "+"))
		for _, d := range ps.Topology {
			text += fmt.Sprintf(" [%s: %d]", strings.Join(d.Levels, "/"), d.Pods)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
