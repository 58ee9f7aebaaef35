// Package explainjob is `hyperpod explain-job`.
package explainjob

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Assume  time.Duration
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	var flag string
	cmd := &cobra.Command{
		Use:   "explain-job NAME",
		Short: "Tell why a job waits, who holds what it needs, and what would make it run",
		Long: `Tells the life of a job and why it does not run: its place in the queue, what
it is short of, who holds that, since when, and whether they can be preempted;
what would make it run now (fewer nodes, a higher priority, another queue or
instance type, the end of other jobs); and, once it is admitted, what its pods
complain of.

The answers come from Kueue's own scheduling code, run on what can be read of
the cluster; nothing is changed.`,
		Example: `  hyperpod explain-job smpv2-llama2 -n hyperpod-ns-ml-engineers
  hyperpod explain-job smpv2-llama2 -o json`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Name, err = factory.JobName(flag, args); err != nil {
				return err
			}
			if err := admissioncheck.CheckAssume(o.Assume); err != nil {
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
	admissioncheck.AddAssumeFlag(cmd, &o.Assume)
	f.CompleteArgs(cmd, factory.Jobs)
	f.CompleteFlag(cmd, "job-name", factory.Jobs)
	return cmd
}

// Run explains the job.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	defer admissioncheck.Grow()()
	cluster, err := f.Cluster()
	if err != nil {
		return err
	}
	found, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	e, err := Explain(ctx, f, cluster, found, o.Assume)
	if err != nil {
		return err
	}
	return admissioncheck.Print(f, format, e, func() string { return e.Text(f.IO.Width, words.Age) }, o.Name)
}

// Explain explains a job that was read; assume is the duration of jobs of which
// nothing is known.
func Explain(ctx context.Context, f *factory.Factory, cluster *factory.Cluster, found findjob.Job, assume time.Duration) (*explain.Explanation, error) {
	q, in, err := read(ctx, cluster, found)
	if err != nil {
		return nil, err
	}
	asked, err := check.New(ctx, in)
	if err != nil {
		return nil, err
	}
	q.Assume = assume
	q.Queues = func(ctx context.Context) []*kueue.LocalQueue {
		return admissioncheck.Queues(ctx, cluster, in, found.Namespace)
	}
	q.Deadlines = func(ctx context.Context) func(*kueue.Workload) time.Duration {
		return admissioncheck.Deadlines(ctx, cluster, in)
	}
	q.Make, q.May, q.Flags = again(ctx, cluster, found), admissioncheck.May(cluster), f.ClusterFlags()
	e, err := explain.Explain(ctx, asked, q, cluster.Now())
	if errors.Is(err, admission.ErrUnknownJob) {
		// Kueue has no rules for the kind; its life and its pods can be told all the same.
		e, err = explain.Explain(ctx, nil, q, cluster.Now())
	}
	if err != nil {
		return nil, err
	}
	if e.Verdict != nil {
		admissioncheck.Owners(ctx, cluster, e.Verdict)
	}
	return e, nil
}

// again renders the job anew with a change, as start-job --from would. The template
// is made of the job when it is first asked for.
func again(ctx context.Context, c *factory.Cluster, found findjob.Job) func(remedy.Change) (map[string]any, remedy.Made, error) {
	name := kinds.Text(found.Object, "metadata", "name")
	template := sync.OnceValues(func() (*parse.Template, error) {
		t, _, err := findtemplate.FromJob(ctx, c, found, convert.Conversion{Name: name, Source: "job " + name, Repeat: true})
		return t, err
	})
	return func(change remedy.Change) (map[string]any, remedy.Made, error) {
		t, err := template()
		if err != nil {
			return nil, remedy.Made{}, err
		}
		return findtemplate.Changed(t, values.Values{Name: name, Namespace: found.Namespace}, change)
	}
}

// read gets the job's surroundings and all that the checker wants, in parallel.
func read(ctx context.Context, c *factory.Cluster, found findjob.Job) (explain.Question, *inputs.Inputs, error) {
	q := explain.Question{Object: found.Object}
	var err error
	if q.Job, err = found.State(); err != nil {
		return q, nil, err
	}
	var in *inputs.Inputs
	var workloads []state.Workload
	var failures [4]error
	var wg sync.WaitGroup
	wg.Go(func() { in, failures[0] = admissioncheck.Load(ctx, c, found.Namespace) })
	wg.Go(func() {
		var err error
		workloads, err = state.ListWorkloads(ctx, c.Client, found.Namespace, kube.ListOptions{LabelSelector: kinds.JobUIDLabel + "=" + found.UID()})
		q.NoKueue = kube.IsNotServed(err)
		failures[1] = admissioncheck.Optional(err)
	})
	wg.Go(func() {
		for _, selector := range pick.Selectors(q.Job) {
			pods, err := state.ListPods(ctx, c.Client, found.Namespace, kube.ListOptions{LabelSelector: selector})
			if failures[2] = admissioncheck.Optional(err); failures[2] != nil {
				return
			}
			q.Pods = append(q.Pods, pods...)
		}
	})
	wg.Go(func() {
		var err error
		q.Events, err = state.ListEvents(ctx, c.Client, found.Namespace, kube.ListOptions{})
		failures[3] = admissioncheck.Optional(err)
	})
	wg.Wait()
	for _, err := range failures {
		if err != nil {
			return q, nil, err
		}
	}
	q.Workload = jobs.Match([]state.Job{q.Job}, workloads)[0]
	return q, in, nil
}
