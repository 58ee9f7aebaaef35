// Package getjob is `hyperpod get-job`.
package getjob

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/prometheusflags"
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are what was typed on the command line.
type Options struct {
	Factory *factory.Factory
	Name    string
	Kind    string
	Verbose bool
	// Manifest prints the job as a manifest to submit again.
	Manifest bool
	Watch    bool
	// Prometheus tells how busy the job's accelerators are.
	Prometheus prometheusflags.Flags
	// Restore makes the manifest of a job that Kueue has changed.
	Restore Restore
}

// Restore returns a job as it was submitted, from its Workload; both are JSON.
type Restore func(ctx context.Context, job, workload []byte) ([]byte, error)

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, restore Restore, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f, Restore: restore}
	cmd := &cobra.Command{
		Use:   "get-job NAME",
		Short: "Show the state, pods and history of a job",
		Long: `Show a job: its state and the reason, queue, accelerators (and how many are
borrowed), roles, pods, timeline and latest events. It names nodes of the job
that HyperPod is about to replace or reboot, and their last fault. With a
Prometheus server, also how busy its accelerators are.

JSON output has the keys of the CLI v2; with --verbose, all of them and
Resilience. YAML output is the API object; jsonpath and custom-columns read that
object. --manifest prints a manifest that you can submit again.`,
		Example: `  hyperpod get-job smpv2-llama2 -n hyperpod-ns-ml-engineers
  hyperpod get-job smpv2-llama2 --watch
  hyperpod get-job smpv2-llama2 --manifest > again.yaml
  hyperpod get-job smpv2-llama2 -o yaml
  hyperpod get-job smpv2-llama2 -o jsonpath='{.status.startTime}'`,
		RunE: factory.RunE(o, factory.TakeJob(&o.Name, &o.Kind), Run, runF),
	}
	f.AddJobFlags(cmd, &o.Name, &o.Kind)
	cmd.Flags().BoolVar(&o.Verbose, "verbose", false, "print all keys of the CLI v2 in JSON, with the whole spec and status")
	cmd.Flags().BoolVar(&o.Manifest, "manifest", false, "print a manifest to submit again, as YAML")
	cmd.Flags().BoolVarP(&o.Watch, "watch", "w", false, "watch for changes until the job ends")
	o.Prometheus.Add(cmd)
	return cmd
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if o.Manifest && o.Watch {
		return errs.Usagef("--manifest cannot be used with --watch").WithAdvice("remove one of them")
	}
	if o.Manifest && o.Verbose {
		return factory.Excludes("manifest", "verbose")
	}
	if o.Manifest && o.Prometheus.Address != "" {
		return factory.Excludes("manifest", "prometheus")
	}
	return o.Prometheus.Validate()
}

// Run reads the job and prints it.
func Run(ctx context.Context, o *Options) error {
	return factory.OnScheduler(ctx, o.Factory, o, runSlurm, runKubernetes)
}

// runKubernetes is Run on a Kubernetes cluster.
func runKubernetes(ctx context.Context, o *Options) error {
	f := o.Factory
	format, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	job, err := findjob.Find(ctx, f, cluster, "get", o.Name, o.Kind)
	if err != nil {
		return err
	}
	named := *o
	named.Name, o = job.Name(), &named // a Workload may have named the job
	if o.Watch {
		return watch(ctx, o, cluster, job, format)
	}
	var document any = job.Object
	switch {
	case o.Manifest:
		if document, err = manifest(ctx, f, cluster, job, o.Restore); err != nil {
			return err
		}
		if f.Global.Output == "" {
			format = output.Format{Name: output.YAML}
		}
	case format.Name == output.JSON:
		if document, err = o.document(ctx, cluster, job); err != nil {
			return err
		}
	case format.IsTable():
		r, err := load(ctx, cluster, job)
		if err != nil {
			return err
		}
		if err := o.measure(ctx, cluster, &r); err != nil {
			return err
		}
		_, err = io.WriteString(f.IO.Out, r.page(f.IO, cluster.Now()))
		return err
	}
	names := func() []string {
		return []string{job.Kind.ObjectName(o.Name)}
	}
	return output.Print(f.IO, format, document, nil, names)
}

// Brief and Verbose have the keys of the CLI v2 in its order (docs/output.md); Resilience
// is new. ConsoleURL is null if the name of the HyperPod cluster is unknown. Objects have
// the keys of the API.
type Brief struct {
	Name              string
	Namespace         string
	Label             any
	CreationTimestamp any
	Status            any
	ConsoleURL        *string
}

// Verbose is the document with --verbose.
type Verbose struct {
	Name        string
	Namespace   string
	Label       any
	Annotations any
	Metadata    Metadata
	Kind        any
	APIVersion  any `json:"ApiVersion"`
	Spec        any
	Status      any
	ConsoleURL  *string
	Resilience  jobs.ResilienceRow
	// Utilization is the busy share of its accelerators over the last 30 minutes, from 0 to 1; left out where that is not known.
	Utilization *float64 `json:",omitempty"`
}

// Metadata is a part of the metadata of the object.
type Metadata struct {
	CreationTimestamp any
	Generation        any
	ResourceVersion   any
	UID               any
}

func (o *Options) document(ctx context.Context, c *factory.Cluster, j findjob.Job) (any, error) {
	var r report
	if o.Verbose {
		var err error
		if r, err = load(ctx, c, j); err != nil {
			return nil, err
		}
		if err := o.measure(ctx, c, &r); err != nil {
			return nil, err
		}
		for _, u := range r.unseen {
			o.Factory.Notef("note: hidden: %s", u)
		}
	} else {
		r.console = console(ctx, c)
	}
	var url *string
	if r.console != "" {
		url = &r.console
	}
	document := o.keys(j, url, r.resilience().Row(r.nodes != nil || !r.runs()))
	if v, ok := document.(Verbose); ok && r.use != nil {
		share := r.use.Share()
		v.Utilization, document = &share, v
	}
	return document, nil
}

// measure asks how busy the accelerators of the job are, where the flags or the settings name a server. The page is shown
// without an answer too.
func (o *Options) measure(ctx context.Context, c *factory.Cluster, r *report) error {
	client, err := o.Prometheus.Client(o.Factory)
	if err != nil || client == nil || !jobs.StatusOf(r.job, r.workload, r.pods).State.HoldsDevices() {
		return err
	}
	use, _, err := (&prometheusflags.Reader{Client: client}).Read(ctx, c, r.job.Namespace, []state.Job{r.job})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.unseen = append(r.unseen, "how busy the accelerators are: "+err.Error())
		return nil
	}
	if u, ok := use[deviceuse.Key{Namespace: r.job.Namespace, Name: r.job.Name}]; ok {
		r.use = &u
	}
	return nil
}

// keys lays the document out.
func (o *Options) keys(j findjob.Job, url *string, health jobs.ResilienceRow) any {
	meta := func(key string) any { return kinds.At(j.Object, "metadata", key) }
	if !o.Verbose {
		return Brief{o.Name, j.Namespace, meta("labels"), meta("creationTimestamp"), j.Object["status"], url}
	}
	return Verbose{o.Name, j.Namespace, meta("labels"), meta("annotations"),
		Metadata{meta("creationTimestamp"), meta("generation"), meta("resourceVersion"), meta("uid")},
		j.Object["kind"], j.Object["apiVersion"], j.Object["spec"], j.Object["status"], url, health, nil}
}
