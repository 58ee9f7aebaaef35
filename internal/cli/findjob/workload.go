package findjob

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// ofWorkload finds the job that owns the Workload of that name.
func ofWorkload(ctx context.Context, f *factory.Factory, c *factory.Cluster, namespace, verb, name string) (Job, error) {
	ns, err := f.NamespaceNamed(ctx, c, namespace, verb, kinds.Workload)
	if err != nil {
		return Job{}, err
	}
	object := map[string]any{}
	err = c.Get(ctx, kinds.Workload, ns.Name, name, &object)
	if kube.IsNotFound(err) {
		return Job{}, errs.NotFoundf("workload %q not found in %s", name, ns.Name).Suggest(suggest.ListJobs(ns.Name)).WithCause(errAbsent)
	}
	if err != nil {
		return Job{}, err
	}
	owners, _ := kinds.At(object, "metadata", "ownerReferences").([]any)
	for _, o := range owners {
		if k, ok := kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind")); ok && kinds.At(o, "controller") == true {
			return FindIn(ctx, f, c, ns.Name, verb, kinds.Text(o, "name"), k.Kind)
		}
	}
	return Job{}, errs.NotFoundf("workload %q in %s has no job of a known kind", name, ns.Name)
}
