// Package sweeptext words what the admission check says about jobs that are submitted together: those of a sweep, or of a
// manifest with several.
package sweeptext

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Schema is the name and version of the JSON. Fields may be added within a version.
const Schema = "hyperpod.sweep-check/v1"

// Of names what the jobs come from: a sweep, or a manifest.
type Of struct{ Sweep, File string }

// Document is the admission check of a sweep, or of a manifest with several jobs.
type Document struct {
	Schema string
	Sweep  string
	// File is the name of the manifest or folder; Sweep is then empty.
	File string `json:",omitempty"`
	// Verdict is the worst of the jobs that would be submitted: Admitted, Waits, Unknown or Never. If all exist, it is Waits or
	// Admitted.
	Verdict check.Outcome
	// Summary is the first line in words, without the verdict and the name.
	Summary string
	// RunNow, WillWait, NeverRun and Undecided count the jobs by their verdicts. Jobs that were not checked, because there
	// are very many, are undecided.
	RunNow, WillWait, NeverRun, Undecided int
	// Existing is the number of jobs of the sweep that exist already, Postponed of those that
	// --max-parallel keeps back. Neither are among Jobs.
	Existing, Postponed int
	// ExistingWait is the number of existing jobs that wait. It is counted where all exist.
	ExistingWait int
	Jobs         []Job
	// Holds is what the team holds of the requested resources, where the quota may not be read.
	Holds []check.Amount `json:"-"`
	// Time is when the cluster was read, by its clock.
	Time time.Time

	unchecked int
	lost      string // see verdict.LostPods, of the first such job
}

// Job is one job of a sweep.
type Job struct {
	Name       string
	Namespace  string
	Parameters map[string]string
	Verdict    check.Outcome
	Reason     string
	// Summary is the verdict in words: "runs now", "waits: 3rd in its queue".
	Summary string
	// Preempts are the jobs that it would preempt.
	Preempts []Target
	// ETA is when it may start: of the first and the last job that wait for quota.
	ETA *queue.ETA

	point sweep.Point
}

// Target is a job that would be preempted.
type Target struct {
	Namespace, Name, Team string
	// JobLost reports that its pods are deleted and nothing makes them again.
	JobLost bool `json:",omitempty"`
}

// Exit returns the exit code of a dry run.
func (d *Document) Exit() errs.Exit { return d.Verdict.Exit() }

// New makes the document of verdicts that are filled. later and exist are jobs that need no check, unchecked those that
// would have needed one.
func New(of Of, points []sweep.Point, verdicts []*check.Verdict, exist, later, unchecked int, age func(time.Duration) string) *Document {
	d := &Document{Schema: Schema, Sweep: of.Sweep, File: of.File, Verdict: check.Admitted, Existing: exist, Postponed: later, Undecided: unchecked, Jobs: []Job{}, unchecked: unchecked}
	for i, v := range verdicts {
		j := Job{Name: v.Job.Name, Namespace: v.Job.Namespace, Parameters: points[i].Map(), Verdict: v.Verdict, Reason: v.Reason, Preempts: []Target{}, ETA: v.ETA, point: points[i]}
		if j.Summary = verdict.Brief(v, age); j.Summary == "" {
			j.Summary = v.Summary
		}
		if d.Holds == nil {
			d.Holds = v.Quota.Holds
		}
		for _, p := range v.Quota.Preempts {
			j.Preempts = append(j.Preempts, Target{p.Namespace, p.Name, p.Team, p.JobLost})
		}
		d.Jobs, d.Time, d.lost = append(d.Jobs, j), v.Time, cmp.Or(d.lost, verdict.LostPods(v))
		switch v.Verdict {
		case check.Admitted:
			d.RunNow++
		case check.Waits:
			d.WillWait++
		case check.Never:
			d.NeverRun++
		default:
			d.Undecided++
		}
	}
	switch {
	case d.NeverRun > 0:
		d.Verdict = check.Never
	case d.Undecided > 0:
		d.Verdict = check.Unknown
	case d.WillWait > 0:
		d.Verdict = check.Waits
	}
	d.Summary = d.summary(age)
	return d
}

// Existing makes the document of jobs that exist already. Some of them may wait.
func Existing(of Of, exist, waiting int, at time.Time) *Document {
	d := &Document{Schema: Schema, Sweep: of.Sweep, File: of.File, Verdict: check.Admitted, Existing: exist, ExistingWait: waiting, Jobs: []Job{}, Time: at.UTC().Truncate(time.Second)}
	d.Summary = "all jobs exist already"
	if exist == 1 {
		d.Summary = "the job exists already"
	}
	if waiting > 0 {
		d.Verdict = check.Waits
		if exist == 1 {
			d.Summary += " and waits"
		} else {
			d.Summary += "; " + strconv.Itoa(waiting) + " of " + strconv.Itoa(exist) + words.Verb(waiting, " waits", " wait")
		}
	}
	return d
}

// summary returns the answer for all jobs: "8 of 10 run now, 2 wait about 1h".
func (d *Document) summary(age func(time.Duration) string) string {
	n := len(d.Jobs) + d.unchecked
	preempted := d.targets()
	var parts []string
	add := func(k int, verb, verbs, more string) {
		switch {
		case k == 0:
		case k == n:
			parts = append(parts, words.All(n, "job", "jobs")+" "+words.Verb(n, verb, verbs)+more)
		default:
			parts = append(parts, words.Count(k, verb, verbs)+more)
		}
	}
	// not is add for a verb with a negation; neither is the verb without it.
	not := func(k int, verb, verbs, neither, more string) {
		if k == n && n > 1 {
			parts = append(parts, words.None(n, "job", "jobs")+" "+neither+more)
			return
		}
		add(k, verb, verbs, more)
	}
	more := ""
	if len(preempted) > 0 {
		more = ", preempting " + words.Count(len(preempted), "job", "jobs")
		more += lost(preempted)
	}
	waits := d.about(age)
	if waits == "" && d.WillWait == 1 {
		waits = d.why(check.Waits)
	}
	add(d.RunNow, "runs now", "run now", more)
	add(d.WillWait, "waits", "wait", waits)
	not(d.NeverRun, "can never run", "can never run", "can ever run", d.why(check.Never))
	not(d.Undecided-d.unchecked, "cannot be decided", "cannot be decided", "can be decided", "")
	not(d.unchecked, "was not checked", "were not checked", "was checked", "")
	text := strings.Join(parts, ", ")
	if len(parts) > 1 {
		text = strings.Replace(text, " ", " of "+words.Count(n, "job ", "jobs "), 1)
	}
	if d.lost != "" {
		text += d.lost
		if n > 1 {
			text += " of a group"
		}
	}
	if d.Existing > 0 {
		text += "; " + words.Count(d.Existing, "job exists", "jobs exist") + " already"
	}
	if d.Postponed > 0 {
		text += "; " + words.Count(d.Postponed, "job follows", "jobs follow") + " as others end"
	}
	return text
}

// lost says how many of the preempted jobs have pods that nothing makes again.
func lost(preempted map[Target]bool) string {
	n := 0
	for t := range preempted {
		if t.JobLost {
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case len(preempted) == 1:
		return " (" + words.JobLost + ")"
	case n == 1:
		return " (1 of them is lost: its pods are deleted and nothing makes them again)"
	}
	return fmt.Sprintf(" (%d of them are lost: their pods are deleted and nothing makes them again)", n)
}

// targets returns the jobs that are preempted, each once.
func (d *Document) targets() map[Target]bool {
	out := map[Target]bool{}
	for _, j := range d.Jobs {
		for _, t := range j.Preempts {
			out[t] = true
		}
	}
	return out
}

// why returns the reason of the first job with a verdict.
func (d *Document) why(o check.Outcome) string {
	for _, j := range d.Jobs {
		if j.Verdict == o {
			if _, why, ok := strings.Cut(j.Summary, ": "); ok {
				return " (" + why + ")"
			}
		}
	}
	return ""
}

// about returns how long those that wait for quota may wait: from the first to the last.
func (d *Document) about(age func(time.Duration) string) string {
	var first, last *queue.ETA
	for _, j := range d.Jobs {
		if j.ETA == nil || !j.ETA.Known() {
			continue
		}
		if first == nil {
			first = j.ETA
		}
		last = j.ETA
	}
	if first == nil {
		return ""
	}
	from, to := age(first.Earliest()), age(last.Earliest())
	if latest, bounded := last.Latest(); bounded {
		to = age(latest)
	} else {
		to += " or more"
	}
	if from != to {
		from += " to " + to
	}
	return " about " + from + " (estimate)"
}

// Title names the jobs together.
func (d *Document) Title() string {
	if d.File != "" {
		return d.File
	}
	return "sweep " + d.Sweep
}

// Headline returns the first line of a dry run.
func (d *Document) Headline() string {
	return strings.ToUpper(string(d.Verdict)) + "  " + d.Title() + ": " + d.Summary
}

// Table has a row for each job.
func (d *Document) Table() output.Table {
	t := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}}}
	if len(d.Jobs) > 0 {
		for _, p := range d.Jobs[0].point {
			t.Columns = append(t.Columns, output.Column{Title: strings.ToUpper(p.Name), Yield: 1})
		}
	}
	t.Columns = append(t.Columns, output.Column{Title: "ANSWER", Wrap: true})
	for _, j := range d.Jobs {
		row := output.T(j.Name)
		for _, p := range j.point {
			row = append(row, output.Cell{Text: p.Value})
		}
		style := map[check.Outcome]output.Style{check.Admitted: output.Good, check.Waits: output.Warn, check.Never: output.Bad}[j.Verdict]
		t.Rows = append(t.Rows, append(row, output.Cell{Text: j.Summary, Style: style}))
	}
	return t
}

// PreemptionQuestion returns the question before a sweep preempts others, "" where it does not.
func (d *Document) PreemptionQuestion() string {
	targets := d.targets()
	if len(targets) == 0 {
		return ""
	}
	var names []string
	for _, j := range d.Jobs {
		for _, t := range j.Preempts {
			if !targets[t] {
				continue
			}
			delete(targets, t)
			name := t.Name
			if t.Team != "" {
				name += " of " + t.Team
			}
			if t.JobLost {
				name += " (" + words.JobLost + ")"
			}
			names = append(names, name)
		}
	}
	text := words.Count(len(names), "job", "jobs") + ": " + strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		text += words.Verb(more, " and 1 other", " and others")
	}
	if d.unchecked > 0 {
		text = "at least " + text
	}
	return "This preempts " + text + ". Continue?"
}

// NeverRunsQuestion returns the question before jobs are submitted that can never run, "" without any.
func (d *Document) NeverRunsQuestion() string {
	if d.NeverRun == 0 {
		return ""
	}
	what := "the sweep"
	if d.File != "" {
		what = d.File
	}
	return words.Count(d.NeverRun, "job", "jobs") + " of " + what + " can never run" + d.why(check.Never) + ". Submit " + what + " anyway?"
}
