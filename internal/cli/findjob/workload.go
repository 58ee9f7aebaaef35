package findjob

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
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
	var members []string
	owners, _ := kinds.At(object, "metadata", "ownerReferences").([]any)
	for _, o := range owners {
		if k, ok := kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind")); ok && kinds.At(o, "controller") == true {
			return FindIn(ctx, f, c, ns.Name, verb, kinds.Text(o, "name"), k.Kind)
		} else if k.Itself {
			members = append(members, kinds.Text(o, "name"))
		}
	}
	if slices.Sort(members); len(members) > 0 {
		return Job{}, errs.NotFoundf("workload %q in %s belongs to a pod group", name, ns.Name).WithFact("pods", words.Some(members, 8)).WithAdvice("name one of its pods")
	}
	return Job{}, errs.NotFoundf("workload %q in %s has no job of a known kind", name, ns.Name)
}
