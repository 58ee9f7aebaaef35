// Package listpods is `hyperpod list-pods`. Other commands use its table of pods.
package listpods

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Verbose bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-pods NAME",
		Aliases: []string{"list-pod"},
		Short:   "List the pods of a job with their status",
		Long: `List the pods of a job. The table shows role, rank, node, restarts and the
reason why a pod does not run; STATUS is the status that kubectl shows. MESSAGE
also reports a problem of the pod's node, for example that HyperPod is about to
replace it; in a narrow terminal it is a line below the pod. JSON output has the
keys of the CLI v2; --verbose adds the others.`,
		Example: `  hyperpod list-pods smpv2-llama2
  hyperpod list-pods smpv2-llama2 -o wide
  hyperpod list-pods smpv2-llama2 -o jsonpath='{.pods[*].PodName}'`,
		RunE: factory.RunE(o, factory.TakeJob(&o.Name, &o.Kind), Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	cmd.Flags().BoolVar(&o.Verbose, "verbose", false, "print more keys in JSON and YAML: role, rank, node and its health, restarts, message")
	return cmd
}

// Validate accepts all options: every combination is valid.
func (o *Options) Validate() error { return nil }

// Run lists the pods. A job that does not exist is an error. For a job without pods
// the list is empty, and a note on stderr gives the reason.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	found, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	job, err := found.State()
	if err != nil {
		return err
	}
	var pods []state.Pod
	var nodes []state.Node
	var unread error
	var wg crash.Group
	wg.Go(func() { pods, err = Pods(ctx, cluster.Client, job) })
	if o.Verbose || format.IsTable() {
		wg.Go(func() { nodes, unread = state.ListNodes(ctx, cluster.Client, kube.ListOptions{}) })
	}
	wg.Wait()
	if err != nil {
		return err
	}
	switch {
	case unread == nil || kube.IsNotServed(unread) || !slices.ContainsFunc(pods, func(p state.Pod) bool { return p.NodeName != "" }):
	case kube.IsForbidden(unread) || kube.IsNotInFile(unread):
		f.Notef("note: the health of nodes is hidden: %s", jobtext.NodesUnread(state.ReasonOf(unread)))
	default:
		return unread
	}
	rows := RowsOf(job, pods, nodes)
	slices.SortStableFunc(pods, func(a, b state.Pod) int { return cmp.Compare(at(rows, a.Name), at(rows, b.Name)) })
	var document any = jobs.PodsJSON(pods)
	if o.Verbose {
		document = Document{rows}
	}
	if len(rows) == 0 {
		workloads, err := state.ListWorkloads(ctx, cluster.Client, job.Namespace, kube.ListOptions{})
		if err != nil && !kube.IsForbidden(err) && !kube.IsNotServed(err) { // without Workloads, the job's own status gives the reason
			return err
		}
		s := jobs.StatusOf(job, jobs.Match([]state.Job{job}, workloads)[0], pods)
		f.Notef("note: %s has no pods: it is %s", job.Name, jobtext.State(s))
	}
	return output.Print(f.IO, format, document, func() output.Table { return Table(rows, cluster.Now()) }, func() (out []string) {
		for _, r := range rows {
			out = append(out, "pod/"+r.PodName)
		}
		return out
	})
}

// Pods reads the pods of a job, including the submitter of a RayJob: the pods that
// get-log and exec use.
func Pods(ctx context.Context, c *kube.Client, j state.Job) ([]state.Pod, error) {
	placed, err := logs.Pods(ctx, c, j)
	if err != nil {
		return nil, err
	}
	out := make([]state.Pod, 0, len(placed)) // nil is for pods that are not known
	for _, p := range placed {
		out = append(out, p.Pod)
	}
	return out, nil
}

func at(rows []Row, name string) int {
	return slices.IndexFunc(rows, func(r Row) bool { return r.PodName == name })
}

// Document is the result of list-pods --verbose in JSON and YAML.
type Document struct {
	Pods []Row `json:"pods"`
}

// Row is one pod of a job, with the keys of list-pods --verbose.
type Row struct {
	jobs.PodRow
	Role     string
	Rank     *int // null where the pod has none
	State    string
	Node     string
	Restarts int
	Message  string // why it does not run or how it ended; "" for a healthy pod
	// The health is that of the node, unless the pod has ended.
	jobs.HealthRow

	created time.Time
	health  jobs.NodeHealth
}

// Trouble returns what is wrong with the pod and with its node, "" for nothing.
func (r Row) Trouble() string {
	if !r.health.Bad() {
		return r.Message
	}
	return strings.TrimPrefix(r.Message+"; node is "+jobtext.Health(r.health), "; ")
}

// RowsOf returns the rows of a job's pods by role, then by index. nodes are those that
// could be read.
func RowsOf(j state.Job, pods []state.Pod, nodes []state.Node) []Row {
	rows := make([]Row, len(pods))
	byName := make(map[string]state.Node, len(nodes))
	for _, n := range nodes {
		byName[n.Name] = n
	}
	order := make(map[string][2]int, len(pods))
	for i, place := range jobs.PodRolesOf(j, pods) {
		p := pods[i]
		r := Row{PodRow: jobs.PodsJSON(pods[i : i+1]).Pods[0], Role: place.Role, State: jobs.PodStatus(p), Node: p.NodeName, Restarts: p.Restarts, created: p.CreationTimestamp}
		if place.Rank >= 0 {
			r.Rank = &place.Rank
		}
		if n, ok := byName[p.NodeName]; ok && !jobs.Ended(p) {
			r.health = jobs.HealthOf(n)
		}
		r.HealthRow = r.health.Row()
		if t := jobs.TroubleOf(p); t != (jobs.PodTrouble{}) {
			r.Message = jobtext.Trouble(t)
			if r.Message == "" || t.Reason != r.State && t.Reason != "" {
				r.Message = strings.TrimSuffix(t.Reason+": "+r.Message, ": ")
			}
		}
		rows[i] = r
		order[p.Name] = [2]int{slices.IndexFunc(j.Roles, func(x state.RoleCount) bool { return x.Name == place.Role }), place.Index}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		x, y := order[a.PodName], order[b.PodName]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), strings.Compare(a.PodName, b.PodName))
	})
	return rows
}

// Table returns the table of pods for people.
func Table(rows []Row, now time.Time) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "POD", Keep: true}, {Title: "ROLE"}, {Title: "RANK", Right: true}, {Title: "STATUS", Keep: true},
		{Title: "NODE"}, {Title: "RESTARTS", Right: true}, {Title: "AGE", Right: true, Ticks: true}, {Title: "MESSAGE", Wrap: true, Below: true}}, Empty: "no pods found"}
	for _, r := range rows {
		rank := "-"
		if r.Rank != nil {
			rank = fmt.Sprint(*r.Rank)
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: r.PodName}, {Text: cmp.Or(r.Role, "-")}, {Text: rank}, {Text: r.State, Style: style(r)},
			{Text: cmp.Or(r.Node, "-")}, {Text: fmt.Sprint(r.Restarts)}, {Text: words.Since(now, r.created)}, {Text: r.Trouble()}})
	}
	return t
}

func style(r Row) output.Style {
	switch {
	case r.health.Pending != "":
		return output.Warn
	case r.State == "Running":
		return output.Good
	case r.State == "Completed", r.State == "Succeeded":
		return output.Dim
	case r.Message != "" && r.Status == "Pending":
		return output.Warn
	case r.Message != "", r.Status == "Failed":
		return output.Bad
	}
	return output.Accent
}
