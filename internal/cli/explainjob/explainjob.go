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
	"github.com/hyperpod-cli/hyperpod/internal/cli/collector"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	// Assume is the run time of jobs of unknown duration, 0 for none.
	Assume     time.Duration
	AllHolders bool
	Workers    admissioncheck.Workers
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	if err := factory.CheckAssume(o.Assume); err != nil {
		return err
	}
	return o.Workers.Validate()
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "explain-job NAME",
		Short: "Explain why a job is pending and what would let it run",
		Long: `Explain why a job does not run:

  - its timeline and its position in the queue
  - the quota that it is short of, who holds it, for how long, and whether those
    jobs can be preempted
  - what would let it run now: fewer nodes, a higher priority, another queue or
    instance type, the end of other jobs
  - once it is admitted, the problems of its pods

The command runs Kueue's scheduling code on what it can read of the cluster. It
changes nothing.`,
		Example: `  hyperpod explain-job smpv2-llama2 -n hyperpod-ns-ml-engineers
  hyperpod explain-job smpv2-llama2 -o json`,
		RunE: factory.RunE(o, factory.TakeJob(&o.Name, &o.Kind), Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	factory.AddAssumeFlag(cmd, &o.Assume)
	admissioncheck.AddAllHoldersFlag(cmd, &o.AllHolders)
	o.Workers.AddFlag(cmd)
	admissioncheck.CompleteWorkers(f, cmd)
	return cmd
}

// Run explains the job.
func Run(ctx context.Context, o *Options) error {
	return factory.OnScheduler(ctx, o.Factory, o, runSlurm, runKubernetes)
}

// runKubernetes is Run on a Kubernetes cluster.
func runKubernetes(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	defer collector.Grow()()
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	found, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	e, err := Explain(ctx, o, cluster, found)
	if err != nil {
		return err
	}
	return admissioncheck.Print(f, format, e, func() string { return explanation.Text(e, f.IO.Width, format.Name == output.Wide, words.Age) }, found.Kind.ObjectName(found.Name()))
}

// Explain explains a job that was read, in words too. It uses the factory, the assumed
// duration and the choice of holders of the options.
func Explain(ctx context.Context, o *Options, cluster *factory.Cluster, found findjob.Job) (*explain.Explanation, error) {
	q, in, err := read(ctx, cluster, found)
	if err != nil {
		return nil, err
	}
	asked, err := check.New(ctx, in)
	if err != nil {
		return nil, verdict.Error(err)
	}
	q.Assume, q.AllHolders = o.Assume, o.AllHolders
	q.Queues = func(ctx context.Context) []*kueue.LocalQueue {
		return admissioncheck.Queues(ctx, cluster, in, found.Namespace)
	}
	var read admissioncheck.Creators
	q.Deadlines = func(ctx context.Context) func(*kueue.Workload) forecast.StatedEnd {
		return admissioncheck.Deadlines(ctx, cluster, in, &read)
	}
	q.Workers = o.Workers.Reader(o.Factory, cluster, in, found.Namespace, []map[string]any{found.Object}, 0)
	q.Make, q.May = again(ctx, cluster, found), admissioncheck.PermissionCheck(cluster)
	e, err := explain.Explain(ctx, asked, q, cluster.Now())
	if errors.Is(err, integration.ErrUnknownJob) {
		// Kueue does not know the kind; the timeline and the pods remain.
		e, err = explain.Explain(ctx, nil, q, cluster.Now())
	}
	if err != nil {
		return nil, verdict.Error(err)
	}
	if e.Verdict != nil {
		admissioncheck.Owners(ctx, cluster, e.Verdict, &read)
	}
	explanation.Fill(e, o.Factory.Line)
	return e, nil
}

// again returns the function that renders the job with a change, as start-job --from
// would. Its first call makes the template from the job.
func again(ctx context.Context, c *factory.Cluster, found findjob.Job) func(remedy.Change) (map[string]any, remedy.Rendered, error) {
	name := kinds.Text(found.Object, "metadata", "name")
	template := sync.OnceValues(func() (*parse.Template, error) {
		t, _, err := findtemplate.FromJob(ctx, c, found, convert.Conversion{Name: name, Source: "job " + name, Repeat: true})
		return t, err
	})
	return func(change remedy.Change) (map[string]any, remedy.Rendered, error) {
		t, err := template()
		if err != nil {
			return nil, remedy.Rendered{}, err
		}
		return admissioncheck.RenderChanged(t, values.Values{Name: name, Namespace: found.Namespace}, change)
	}
}

// read gets the job's workload, pods and events, and what the checker needs, in parallel.
func read(ctx context.Context, c *factory.Cluster, found findjob.Job) (explain.Question, *inputs.Inputs, error) {
	q := explain.Question{Object: found.Object}
	var err error
	if q.Job, err = found.State(); err != nil {
		return q, nil, err
	}
	var in *inputs.Inputs
	var workloads []state.Workload
	var failures [4]error
	var wg crash.Group
	wg.Go(func() { in, failures[0] = admissioncheck.Load(ctx, c, found.Namespace) })
	wg.Go(func() {
		var err error
		workloads, err = state.ListWorkloads(ctx, c.Client, found.Namespace, kube.ListOptions{LabelSelector: found.Kind.WorkloadSelector(found.UID())})
		q.NoKueue = kube.IsNotServed(err)
		failures[1] = admissioncheck.IgnoreUnavailable(err)
	})
	wg.Go(func() {
		for _, selector := range pick.Selectors(q.Job) {
			pods, err := state.ListPods(ctx, c.Client, found.Namespace, kube.Selecting(selector))
			if failures[2] = admissioncheck.IgnoreUnavailable(err); failures[2] != nil {
				return
			}
			if err == nil && q.Pods == nil {
				q.Pods = []state.Pod{}
			}
			q.Pods = append(q.Pods, pods...)
		}
	})
	wg.Go(func() {
		var err error
		q.Events, err = state.ListEvents(ctx, c.Client, found.Namespace, kube.ListOptions{})
		failures[3] = admissioncheck.IgnoreUnavailable(err)
	})
	wg.Wait()
	for _, err := range failures {
		if err != nil {
			return q, nil, err
		}
	}
	q.Workload = jobs.Match([]state.Job{q.Job}, workloads)[0]
	q.Workloads = jobs.WorkloadsOf(q.Job, q.Workload, workloads)
	return q, in, nil
}
