package canceljob

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// choice is what a run found.
type choice struct {
	targets []target
	// failed is the error about names and kinds that could not be read.
	failed error
	// reasons counts the reasons of the jobs that --reason was compared with.
	reasons map[string]int
}

// choose finds the jobs.
func (o *Options) choose(ctx context.Context, c *factory.Cluster) (choice, error) {
	if len(o.Names) == 0 {
		return o.list(ctx, c)
	}
	found := choice{}
	namespace := o.Factory.Global.Namespace
	for _, argument := range o.Names {
		a, err := factory.SplitJob(argument, o.Kind)
		if err != nil {
			return choice{}, errs.Also(found.failed, err)
		}
		j, err := findjob.FindIn(ctx, o.Factory, c, cmp.Or(a.Namespace, namespace), "delete", a.Name, a.Kind)
		switch {
		case findjob.Absent(err) && o.IgnoreNotFound:
		case findjob.Absent(err) && len(o.Names) > 1:
			found.failed = errs.Also(found.failed, err)
		case err != nil:
			return choice{}, errs.Also(found.failed, err)
		default:
			if !slices.ContainsFunc(found.targets, func(t target) bool { return t.uid == j.UID() }) { // named twice
				found.targets = append(found.targets, named(j))
			}
			if a.Namespace == "" {
				namespace = j.Namespace // chosen and reported once for all names
			}
		}
	}
	return found, nil
}

// named returns the target of a job that was named.
func named(j findjob.Job) target {
	annotations := map[string]string{}
	for _, key := range []string{kinds.TogetherAnnotation, kinds.CreatedByAnnotation} {
		annotations[key] = kinds.Text(j.Object, "metadata", "annotations", key)
	}
	labels := map[string]string{kinds.CreatedByLabel: kinds.Text(j.Object, "metadata", "labels", kinds.CreatedByLabel)}
	return target{kind: j.Kind, namespace: j.Namespace, name: j.Name(), uid: j.UID(), with: submit.Together(annotations), group: kinds.Text(j.Object, "metadata", "labels", kinds.PodGroupName),
		team: discovery.TeamOf(j.Namespace, nil), by: jobs.Creator(labels, annotations)}
}

// list chooses by the flags.
func (o *Options) list(ctx context.Context, c *factory.Cluster) (choice, error) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return choice{}, err
	}
	want := state.Want{Selector: o.Selector, Jobs: served, Workloads: true}
	if o.Sweep != "" {
		want.Selector = kinds.SweepLabel + "=" + o.Sweep
	}
	if o.AllNamespaces {
		want.FallbackNamespaces = func(ctx context.Context) ([]string, error) {
			return discovery.AccessibleNamespaces(ctx, c.Client, "delete", kinds.PyTorchJob.Resource)
		}
	} else {
		ns, err := o.Factory.Namespace(ctx, c, "delete", kinds.PyTorchJob.Resource)
		if err != nil {
			return choice{}, err
		}
		want.Namespace = ns.Name
	}
	st, err := state.Load(ctx, c.Client, want, c.Now())
	if err != nil {
		return choice{}, err
	}
	o.Factory.Missing(st.Missing)
	failed := factory.Failures(st.Missing)
	if failed != nil && (ctx.Err() != nil || len(o.StateNames)+len(o.Reasons) > 0) {
		return choice{}, failed // states may be others than they seem
	}
	q, err := o.queues(ctx, c)
	if err != nil {
		return choice{}, err
	}
	found := choice{failed: failed, reasons: map[string]int{}}
	statuses := jobs.Statuses(st.Jobs, st.Workloads)
	workloads := jobs.Match(st.Jobs, st.Workloads)
	for i, j := range st.Jobs {
		t := target{kind: j.Kind, namespace: j.Namespace, name: j.Name, uid: j.UID, state: statuses[i].State, created: j.CreationTimestamp,
			reason: cmp.Or(q.reason(workloads[i]), statuses[i].Reason), team: cmp.Or(q.teams[j.Namespace], discovery.TeamOf(j.Namespace, nil)),
			by: jobs.Creator(j.Labels, j.Annotations), with: submit.Together(j.Annotations), group: j.Labels[kinds.PodGroupName]}
		if j.DeletionTimestamp != nil || o.Kind != "" && o.Kind != j.Kind.Kind || !t.state.Named(o.StateNames) ||
			o.Mine && t.by != o.Factory.User() || o.OlderThan != nil && c.Now().Sub(t.created) <= *o.OlderThan {
			continue
		}
		found.reasons[t.reason]++
		if len(o.Reasons) == 0 || slices.ContainsFunc(o.Reasons, func(r string) bool { return strings.EqualFold(r, t.reason) || strings.EqualFold(r, statuses[i].Reason) }) {
			found.targets = append(found.targets, t)
		}
	}
	return found, nil
}

// queues are the teams of namespaces and why workloads are pending.
type queues struct {
	teams   map[string]string    // by namespace
	reasons map[queue.Key]string // by workload
}

func (q queues) reason(w *state.Workload) string {
	if w == nil {
		return ""
	}
	return q.reasons[queue.Key{Namespace: w.Namespace, Workload: w.Name}]
}

// queues reads the queues of all teams where the choice depends on them: what a team uses
// decides why a job of another team is pending.
func (o *Options) queues(ctx context.Context, c *factory.Cluster) (queues, error) {
	q := queues{teams: map[string]string{}, reasons: map[queue.Key]string{}}
	if !o.AllNamespaces && len(o.Reasons) == 0 {
		return q, nil
	}
	want := state.Want{LocalQueues: true, ClusterQueues: true}
	if len(o.Reasons) > 0 {
		want.Cohorts, want.Workloads, want.PodSets, want.Flavors = true, true, true, true
	}
	findteam.Scope{Namespace: o.Factory.Global.Namespace}.Fallbacks(c, &want)
	s, err := state.Load(ctx, c.Client, want, c.Now())
	if err != nil {
		return q, err
	}
	report := quota.Build(s)
	for _, t := range report.Teams {
		for _, ns := range t.Namespaces {
			q.teams[ns] = t.Name
		}
	}
	if len(o.Reasons) == 0 {
		return q, nil
	}
	if err := factory.Failures(s.Missing); err != nil {
		return q, err
	}
	o.Factory.MissingFigures(s.Missing)
	var rules order.Reader
	for _, it := range queue.Build(s, report, report.Teams, rules.Rules(ctx, c.Client, s.Workloads), nil) {
		q.reasons[it.Key] = it.Reason.Code
	}
	return q, nil
}

// announce lists the jobs by team on stderr, before anything is deleted.
func (o *Options) announce(targets []target, now time.Time) {
	teams := map[string][]target{}
	for _, t := range targets {
		name := "namespace " + t.namespace
		if t.team != "" {
			name = fmt.Sprintf("team %s (%s)", t.team, t.namespace)
		}
		teams[name] = append(teams[name], t)
	}
	for _, name := range slices.Sorted(maps.Keys(teams)) {
		o.line(name + ": " + words.Count(len(teams[name]), "job", "jobs"))
		o.show(teams[name], false, now)
	}
}

// mostLines is the number of jobs that are listed at a time before a prompt. A dry run prints all of them.
const mostLines = 20

// show prints a table of the jobs above a prompt; of many, the first ones. It leaves out columns without values: namespaces adds
// that of the namespace, and now, unless it is zero, that of the age.
func (o *Options) show(targets []target, namespaces bool, now time.Time) {
	columns := []struct {
		output.Column
		value func(target) string
	}{
		{output.Column{Title: "NAME", Keep: true}, func(t target) string { return t.name }},
		{output.Column{Title: "NAMESPACE"}, func(t target) string {
			if !namespaces {
				return ""
			}
			return t.namespace
		}},
		{output.Column{Title: "KIND"}, func(t target) string { return t.kind.Kind }},
		{output.Column{Title: "STATE", Keep: true}, func(t target) string { return string(t.state) }},
		{output.Column{Title: "REASON"}, func(t target) string {
			if t.reason == string(t.state) {
				return ""
			}
			return t.reason
		}},
		{output.Column{Title: "AGE", Right: true}, func(t target) string {
			if now.IsZero() || t.created.IsZero() {
				return ""
			}
			return words.Age(now.Sub(t.created))
		}},
		{output.Column{Title: "OWNER"}, func(t target) string { return t.by }},
	}
	shown := targets
	if len(targets) > mostLines+1 {
		shown = targets[:mostLines]
	}
	table := output.Table{Rows: make([][]output.Cell, len(shown))}
	for _, c := range columns {
		if !slices.ContainsFunc(shown, func(t target) bool { return c.value(t) != "" }) {
			continue
		}
		table.Columns = append(table.Columns, c.Column)
		for i, t := range shown {
			table.Rows[i] = append(table.Rows[i], output.Cell{Text: cmp.Or(c.value(t), "-")})
		}
	}
	if more := len(targets) - len(shown); more > 0 {
		table.Notes = []string{fmt.Sprintf("and %d more (--dry-run lists them)", more)}
	}
	o.Factory.IO.ShowTable(table)
}

// line prints a line above the prompt.
func (o *Options) line(text string) {
	fmt.Fprint(o.Factory.IO.Err, o.Factory.IO.Lines([]errs.Line{{Text: output.Safe(text)}}))
}

// confirmed returns the jobs that the user confirms. It prompts on a terminal, with -A for
// each team. Without a terminal, names need no confirmation, and a choice needs --yes.
func (o *Options) confirmed(ctx context.Context, targets []target) ([]target, error) {
	f := o.Factory
	if o.Yes || o.DryRun != factory.DryRunNone {
		return targets, nil
	}
	if !f.CanAsk() {
		if len(o.Names) > 0 {
			return targets, nil
		}
		return nil, errs.Usagef("cannot prompt for confirmation to cancel %s: stdin or stderr is not a terminal", count(targets)).Suggest(errs.Option("--yes"), errs.Option("--dry-run").WithNote("shows them"))
	}
	if !o.AllNamespaces { // announce lists those by team
		o.show(targets, true, time.Time{})
	}
	var out []target
	teams := teamsOf(targets)
	for _, team := range teams {
		own := slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return t.whose() != team })
		question := "Cancel " + count(own)
		if len(teams) > 1 {
			question += " of " + team + by(own)
		}
		yes, err := f.Confirm(ctx, question+"?")
		if err != nil {
			return nil, err
		}
		if yes {
			out = append(out, own...)
		}
	}
	if len(out) == 0 {
		f.Notef("nothing was cancelled")
		return nil, errs.Silent{Code: errs.Failure}
	}
	return out, nil
}

// by names the people who started the jobs, as far as they are known.
func by(targets []target) string {
	names := map[string]bool{}
	for _, t := range targets {
		if t.by != "" {
			names[t.by] = true
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (created by " + words.Some(slices.Sorted(maps.Keys(names)), 4) + ")"
}

// whose returns the team of a job, or its namespace if that has none.
func (t target) whose() string { return cmp.Or(t.team, t.namespace) }

// teamsOf returns the teams whose jobs are chosen; a namespace without a team counts as one.
func teamsOf(targets []target) []string {
	names := map[string]bool{}
	for _, t := range targets {
		names[t.whose()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func count(targets []target) string {
	if len(targets) == 1 {
		return "job " + targets[0].name
	}
	return fmt.Sprintf("%d jobs", len(targets))
}

// otherReasons lists the reasons of the jobs that --reason did not choose, the most
// frequent first; "" if there are none.
func (c choice) otherReasons() string {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(c.reasons)), func(r string) bool { return r == "" })
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(c.reasons[b]-c.reasons[a], strings.Compare(a, b)) })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s (%s)", k, words.Count(c.reasons[k], "job", "jobs"))
	}
	return strings.Join(keys, ", ")
}
