package admissioncheck

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/workers"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Workers says how to connect to the worker clusters of MultiKueue.
type Workers struct {
	// Given are the values of the flag: WORKER=CONTEXT, or "kueue" for Kueue's own kubeconfigs.
	Given []string
}

// kueuesOwn is the value of the flag without one.
const kueuesOwn = "kueue"

// AddFlag adds the flag.
func (w *Workers) AddFlag(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringSliceVar(&w.Given, "workers", nil, "also ask the worker clusters of MultiKueue: with Kueue's own kubeconfigs (the default without a value; they are Secrets of Kueue's namespace), or with contexts of your kubeconfig (WORKER=CONTEXT,...)")
	fs.Lookup("workers").NoOptDefVal = kueuesOwn
}

// CompleteWorkers completes the flag.
func CompleteWorkers(f *factory.Factory, cmd *cobra.Command) {
	f.CompleteFlagBy(cmd, "workers", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return f.CompleteWith(cmd, prefix, factory.Workers(prefix))
	})
}

// Validate checks the value of the flag.
func (w *Workers) Validate() error {
	for _, v := range w.Given {
		if name, ctx, ok := strings.Cut(v, "="); v != kueuesOwn && (!ok || name == "" || ctx == "") {
			return errs.Usagef("invalid --workers %q: must be WORKER=CONTEXT, or no value", v)
		}
	}
	return nil
}

// contexts returns the contexts by worker, and reports whether Kueue's kubeconfigs may be used for the others.
func (w *Workers) contexts() (of map[string]string, kueues bool) {
	of = map[string]string{}
	for _, v := range w.Given {
		if name, context, ok := strings.Cut(v, "="); ok {
			of[name] = context
		} else {
			kueues = true
		}
	}
	return of, kueues
}

// unread reports that the admission checks of the cluster could not be read.
func unread(in *inputs.Inputs) bool {
	return slices.ContainsFunc(in.Missing, func(m state.Missing) bool { return m.Of(kinds.AdmissionCheck) })
}

// Reader returns the function that reads the worker clusters for the verdict on objects[job] of a submission, nil without the
// flag. in is what was read of the cluster of MultiKueue itself.
func (w *Workers) Reader(f *factory.Factory, c *factory.Cluster, in *inputs.Inputs, namespace string, objects []map[string]any, job int) func(context.Context, *kueue.AdmissionCheck, []string) ([]check.Remote, error) {
	if len(w.Given) == 0 {
		return nil
	}
	if !unread(in) && !slices.ContainsFunc(in.AdmissionChecks, func(c *kueue.AdmissionCheck) bool { return c.Spec.ControllerName == kueue.MultiKueueControllerName }) {
		f.Notef("note: --workers has no effect: no admission check of the cluster sends jobs to worker clusters")
	}
	contexts, kueues := w.contexts()
	return func(ctx context.Context, of *kueue.AdmissionCheck, sent []string) ([]check.Remote, error) {
		own := func(name string) bool { return contexts[name] != "" || !kueues }
		list, err := workers.Of(ctx, c.Client, of, own)
		if err != nil {
			return nil, &check.WorkersError{Err: err}
		}
		names := make([]string, len(list))
		for i, l := range list {
			names[i] = l.Name
		}
		for _, name := range slices.Sorted(maps.Keys(contexts)) {
			if !slices.Contains(names, name) {
				e := errs.NotFoundf("admission check %s has no worker cluster %s", of.Name, name)
				if len(names) > 0 {
					e.WithFact("workers", strings.Join(names, ", "))
				}
				return nil, e
			}
		}
		dispatcher := workers.DispatcherOf(in.Manager.Data, in.Rules().Config.Gates)
		delays := dispatcher.Delays(names, sent)
		out := make([]check.Remote, len(list))
		var wg crash.Group
		for i, l := range list {
			out[i] = check.Remote{Name: l.Name, Inactive: l.Inactive, Unread: l.Unread, After: delays[l.Name]}
			switch context := contexts[l.Name]; {
			case l.Inactive != "" || l.Unread != "":
			case dispatcher.External != "":
				out[i].Unread = "dispatcher " + dispatcher.External + " chooses the workers"
			case context == "" && !kueues:
				out[i].Unread = "--workers names no context for it"
			default:
				wg.Go(func() { read(ctx, f, l, context, namespace, objects, job, &out[i]) })
			}
		}
		wg.Wait()
		return out, ctx.Err()
	}
}

// read connects to a worker and reads it.
func read(ctx context.Context, f *factory.Factory, w workers.Cluster, context, namespace string, objects []map[string]any, job int, out *check.Remote) {
	connect := func() (*factory.Cluster, error) { return f.ClusterAt(w.Config) }
	if context != "" {
		connect = func() (*factory.Cluster, error) { return f.InContext(context) }
	}
	c, err := connect()
	if err == nil {
		out.In, err = Load(ctx, c, namespace)
	}
	if err != nil {
		out.In, out.Unread = nil, "it could not be read: "+err.Error()
		return
	}
	out.Found = Prerequisites(ctx, c, namespace, objects, job)
}
