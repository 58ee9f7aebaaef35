// Package listpods is `hyperpod list-pods`, and the table of pods that other
// commands show too.
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
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Verbose bool
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:     "list-pods NAME",
		Aliases: []string{"list-pod"},
		Short:   "List a job's pods, and why they wait",
		Long: `Lists a job's pods. JSON has v2's keys (--verbose: role, rank, node, restarts
and why a pod waits as well); the table shows all of that, STATUS as kubectl
has it.`,
		Example: `  hyperpod list-pods smpv2-llama2
  hyperpod list-pods smpv2-llama2 -o wide
  hyperpod list-pods smpv2-llama2 -o jsonpath='{.pods[*].PodName}'`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Name, err = factory.JobName(flag, args); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	factory.AddJobNameFlag(cmd, &flag)
	factory.AddKindFlag(cmd, &o.Kind)
	cmd.Flags().BoolVar(&o.Verbose, "verbose", false, "more keys in JSON and YAML: role, rank, node, restarts, why")
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Run lists the pods. A job that does not exist is an error; one without pods has
// an empty list, and stderr says why.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	cluster, err := f.Cluster()
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
	pods, err := Pods(ctx, cluster.Client, job)
	if err != nil {
		return err
	}
	rows := RowsOf(job, pods)
	slices.SortStableFunc(pods, func(a, b state.Pod) int { return cmp.Compare(at(rows, a.Name), at(rows, b.Name)) })
	var document any = jobs.PodsJSON(pods)
	if o.Verbose {
		document = struct {
			Pods []Row `json:"pods"`
		}{rows}
	}
	if len(rows) == 0 {
		// Without its Workload, which may not be readable, the job's own status tells.
		workloads, _ := state.ListWorkloads(ctx, cluster.Client, job.Namespace, kube.ListOptions{})
		s := jobs.StatusOf(job, jobs.Match([]state.Job{job}, workloads)[0], pods)
		f.Notef("note: %s has no pods: it is %s", o.Name, strings.TrimSuffix(string(s.State)+": "+words.Plain(s.Why()), ": "))
	}
	return output.Print(f.IO, format, document, func() output.Table { return Table(rows, cluster.Now()) }, func() (out []string) {
		for _, r := range rows {
			out = append(out, "pod/"+r.PodName)
		}
		return out
	})
}

// Pods reads the pods of a job, those that get-log and exec know, a RayJob's
// submitter among them.
func Pods(ctx context.Context, c *kube.Client, j state.Job) ([]state.Pod, error) {
	placed, err := logs.Pods(ctx, c, j)
	var out []state.Pod
	for _, p := range placed {
		out = append(out, p.Pod)
	}
	return out, err
}

func at(rows []Row, name string) int {
	return slices.IndexFunc(rows, func(r Row) bool { return r.PodName == name })
}

// Row is one pod of a job, with the keys of list-pods --verbose.
type Row struct {
	jobs.PodRow
	Role     string
	Rank     *int // null where the pod has none
	State    string
	Node     string
	Restarts int
	Message  string // why it waits or how it ended; "" for a pod that is well

	created time.Time
}

// RowsOf returns the rows of a job's pods: role by role, by rank.
func RowsOf(j state.Job, pods []state.Pod) []Row {
	rows := make([]Row, len(pods))
	order := make(map[string][2]int, len(pods))
	for i, place := range jobs.PlacesOf(j, pods) {
		p := pods[i]
		r := Row{PodRow: jobs.PodsJSON(pods[i : i+1]).Pods[0], Role: place.Role, State: jobs.PodStatus(p), Node: p.NodeName, Restarts: p.Restarts, created: p.CreationTimestamp}
		if place.Rank >= 0 {
			r.Rank = &place.Rank
		}
		if reason, message := jobs.PodWhy(p); reason != "" || message != "" {
			r.Message = message
			if message == "" || reason != r.State && reason != "" {
				r.Message = strings.TrimSuffix(reason+": "+message, ": ")
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

// Table is the table of pods for people.
func Table(rows []Row, now time.Time) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "POD", Keep: true}, {Title: "ROLE"}, {Title: "RANK", Right: true}, {Title: "STATUS", Keep: true},
		{Title: "NODE"}, {Title: "RESTARTS", Right: true}, {Title: "AGE", Right: true, Ticks: true}, {Title: "WHY", Wrap: true}}, Empty: "no pods"}
	for _, r := range rows {
		rank := "-"
		if r.Rank != nil {
			rank = fmt.Sprint(*r.Rank)
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: r.PodName}, {Text: cmp.Or(r.Role, "-")}, {Text: rank}, {Text: r.State, Style: style(r)},
			{Text: cmp.Or(r.Node, "-")}, {Text: fmt.Sprint(r.Restarts)}, {Text: words.Age(now.Sub(r.created))}, {Text: r.Message}})
	}
	return t
}

func style(r Row) output.Style {
	switch {
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
