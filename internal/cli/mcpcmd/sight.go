package mcpcmd

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// sight is what a preview shows, as far as a user's agreement rests on it.
type sight struct {
	job     string     // the UID of a single job that exists
	jobs    []existing // of a list
	verdict string     // of the admission check
	// preempts are the jobs that a job to start preempts.
	preempts []string
}

// existing is a job of a list.
type existing struct{ namespace, name, uid string }

// seen returns what a preview shows: the document about a job, a list of jobs, or the admission check of one job or several.
func seen(document json.RawMessage) sight {
	type target struct{ Namespace, Name, Workload string }
	var d struct {
		UID, Verdict string
		Quota        struct{ Preempts []target }
		Jobs         []struct {
			Namespace, Name, UID string
			Preempts             []target
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return sight{}
	}
	out := sight{job: d.UID, verdict: d.Verdict}
	add := func(list []target) {
		for _, t := range list {
			out.preempts = append(out.preempts, t.Namespace+"/"+cmp.Or(t.Name, t.Workload))
		}
	}
	add(d.Quota.Preempts)
	for _, j := range d.Jobs {
		if j.UID != "" { // not a job to start
			out.jobs = append(out.jobs, existing{j.Namespace, j.Name, j.UID})
		}
		add(j.Preempts)
	}
	return out
}

// without returns the jobs of a list that are not in another one.
func without(list, other []existing) []existing {
	return slices.DeleteFunc(slices.Clone(list), func(j existing) bool { return slices.Contains(other, j) })
}

// renewed reports whether a job of one list has the name of one of another list.
func renewed(added, gone []existing) bool {
	return slices.ContainsFunc(added, func(a existing) bool {
		return slices.ContainsFunc(gone, func(g existing) bool { return a.namespace == g.namespace && a.name == g.name })
	})
}

// change returns why a user who agreed to one preview may not agree to another, "" if nothing speaks against it.
func (s sight) change(now sight) string {
	added, gone := without(now.jobs, s.jobs), without(s.jobs, now.jobs)
	switch {
	case s.job != now.job || renewed(added, gone):
		return "the job was deleted since the preview, and another one has its name"
	case len(added) > 0:
		return "it would affect " + words.Count(len(added), "job", "jobs") + " that the preview did not show"
	case len(gone) > 0:
		return words.Count(len(gone), "job of the preview is gone", "jobs of the preview are gone")
	case s.verdict != now.verdict && now.verdict != "Admitted":
		return "the answer of the admission check was " + s.verdict + ", and is " + now.verdict
	}
	for _, name := range now.preempts {
		if !slices.Contains(s.preempts, name) {
			return "the job would preempt " + name + ", which the preview did not show"
		}
	}
	return ""
}
