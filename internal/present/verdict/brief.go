package verdict

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Brief returns a filled verdict in a few words, for a job that is submitted: "runs now",
// "waits: 3rd in its queue, 8 nvidia.com/gpu short", "has no pods". It is "" where the verdict decides
// nothing, or where Kueue does not manage a job that can start.
func Brief(v *check.Verdict, age func(time.Duration) string) string {
	switch v.Verdict {
	case check.Admitted:
		switch {
		case noPods(v) || paused(v):
			return "has no pods"
		case v.Quota.Status == check.StatusNotApplicable:
			return ""
		}
		if len(v.Quota.Preempts) > 0 {
			return "runs now, preempting " + targets(v, age) + fewer(v) + LostPods(v) + after("; then ", then(v))
		}
		return "runs now" + LostPods(v)
	case check.Waits:
		return "waits: " + waitsFor(v) + started(v, "run now")
	case check.Never:
		return "can never run: " + why(v) + started(v, "run now")
	}
	return ""
}

// LostPods says that a pod group runs without some of the submitted pods, "" where it has all.
func LostPods(v *check.Verdict) string {
	s := v.Lost()
	switch {
	case s == nil:
		return ""
	case s.Code == check.GroupWithoutRole:
		return "; Kueue never starts " + words.Count(s.Lost, "pod", "pods")
	}
	return "; Kueue deletes " + words.Count(s.Lost, "pod", "pods")
}

// PreemptionQuestion returns the question before a job is submitted that preempts others.
func PreemptionQuestion(v *check.Verdict, age func(time.Duration) string) string {
	return "This preempts " + targets(v, age) + fewer(v) + after(". Then ", then(v)) + ". Continue?"
}

// after returns a text behind its beginning, "" for none.
func after(beginning, text string) string {
	if text == "" {
		return ""
	}
	return beginning + text
}

// fewer says that a job may preempt fewer others than are named, where the quota that others lend is unknown.
func fewer(v *check.Verdict) string {
	switch {
	case v.Quota.Unseen == nil || !v.Quota.Unseen.Fewer:
		return ""
	case v.Quota.PreemptsTotal > 1:
		return "; fewer if other teams lend quota"
	}
	return "; none if other teams lend quota"
}

// NeverRunsQuestion returns the question before a job is submitted that can never run.
func NeverRunsQuestion(v *check.Verdict) string {
	return v.Job.Name + " can never run: " + why(v) + ". Submit it anyway?"
}

// namedTargets is the number of preempted jobs that a line names.
const namedTargets = 3

// targets names the jobs that a job preempts, each with its team, size and run time.
func targets(v *check.Verdict, age func(time.Duration) string) string {
	var names []string
	for i := range v.Quota.Preempts {
		names = append(names, target(v, &v.Quota.Preempts[i], age))
	}
	text := words.SomeOf(names, v.Quota.PreemptsTotal, namedTargets)
	if v.Quota.PreemptsTotal > 1 {
		text = words.Count(v.Quota.PreemptsTotal, "job", "jobs") + ": " + text
	}
	return text
}

func target(v *check.Verdict, p *check.Preemption, age func(time.Duration) string) string {
	if p.Hidden {
		return hiddenJobs(v, p.Team)
	}
	var facts []string
	size := ""
	if len(p.Holds) > 0 {
		size = words.Amount(p.Holds[0].Resource, p.Holds[0].Amount)
	}
	if p.Nodes > 0 {
		size = strings.TrimSpace(size + " on " + words.Count(p.Nodes, "node", "nodes"))
	}
	if size != "" {
		facts = append(facts, size)
	}
	if !p.Since.IsZero() {
		facts = append(facts, "running for "+age(v.Time.Sub(p.Since)))
	}
	if p.JobLost {
		facts = append(facts, words.JobLost)
	}
	text := p.Name
	if p.Team != "" {
		text += " of " + p.Team
	}
	if len(facts) > 0 {
		text += " (" + strings.Join(facts, ", ") + ")"
	}
	return text
}

// waitsFor returns what a job waits for: its position and what is short, where its queue
// decides, else the reason.
func waitsFor(v *check.Verdict) string {
	switch v.Detail {
	case check.QuotaInUse, check.QuotaLowered, check.BehindOthers:
	default:
		return why(v)
	}
	parts := []string{words.Ordinal(v.Quota.Ahead+1) + " in its queue"}
	var amounts []string
	for _, l := range shortLines(v) {
		amounts = append(amounts, words.Amount(l.Resource, l.Short))
	}
	if len(amounts) > 0 {
		parts = append(parts, strings.Join(amounts, " and ")+" short")
	}
	return strings.Join(parts, ", ")
}
