// Package findjob finds the job that a name on the command line refers to, whatever
// its kind.
package findjob

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Job is a job as the API has it.
type Job struct {
	Kind      kinds.Job
	Namespace string
	Object    map[string]any
	child     map[string]any // what the operator makes of it, for kinds with a runtime
}

// UID returns the object's metadata.uid.
func (j Job) UID() string { return kinds.Text(j.Object, "metadata", "uid") }

// Name returns the object's metadata.name. An argument that names a Workload differs.
func (j Job) Name() string { return kinds.Text(j.Object, "metadata", "name") }

// State decodes the object.
func (j Job) State() (state.Job, error) {
	object := j.Object
	if j.child != nil {
		object = kinds.WithChild(object, j.child)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return state.Job{}, err
	}
	out, err := state.DecodeJob(j.Kind, data)
	if err != nil {
		return state.Job{}, errs.Wrap(err, "cannot decode the job")
	}
	return out, nil
}

// Find reads the job of that name. It asks for every kind that the cluster serves at
// the same time, or only for the named kind (see kinds.JobNames). If jobs of two kinds
// share the name, the error suggests the kinds.
func Find(ctx context.Context, f *factory.Factory, c *factory.Cluster, verb, name, kind string) (Job, error) {
	return FindIn(ctx, f, c, f.Global.Namespace, verb, name, kind)
}

// FindIn is Find in a given namespace. With "", the context or discovery decides.
func FindIn(ctx context.Context, f *factory.Factory, c *factory.Cluster, namespace, verb, name, kind string) (Job, error) {
	if kind == kinds.Workload.Kind {
		return ofWorkload(ctx, f, c, namespace, verb, name)
	}
	served, err := candidates(ctx, c, kind)
	if err != nil {
		return Job{}, err
	}
	ns, err := f.NamespaceNamed(ctx, c, namespace, verb, served[0].Resource)
	if err != nil {
		return Job{}, err
	}
	type answer struct {
		job Job
		err error
	}
	answers := make([]chan answer, len(served))
	for i, k := range served {
		answers[i] = make(chan answer, 1)
		crash.Go(func() {
			object := map[string]any{}
			err := c.Get(ctx, k.Resource, ns.Name, name, &object)
			answers[i] <- answer{Job{Kind: k, Namespace: ns.Name, Object: object}, err}
		})
	}
	var found []Job
	var denied, failed error
	refused := 0
	for i, ch := range answers {
		switch a := <-ch; {
		case a.err == nil:
			found = append(found, a.job)
		case kube.IsNotFound(a.err):
		case kube.IsForbidden(a.err):
			refused++
			if !served[i].Beside || len(served) == 1 {
				denied = cmp.Or(denied, a.err)
			}
		default:
			failed = a.err
		}
	}
	if refused == len(served) {
		return Job{}, denied
	}
	if failed != nil && verb == "delete" {
		// A job of another kind may have the name too: do not guess.
		return Job{}, failed
	}
	job, err := choose(found, name, ns.Name, failed, denied)
	if err == nil && job.Kind.Runtime != nil {
		job.child = kinds.ChildOf(state.NewRuntimes(c.Client).Whole(ctx, job.Kind, job.Object))
	}
	var e *errs.Error
	if k, named := kinds.JobNamed(kind); named && Absent(err) && errors.As(err, &e) {
		e.What = fmt.Sprintf("%s %q not found in %s", k.Kind, name, ns.Name)
	}
	hidden := denied != nil && failed == nil && len(found) == 0 // it is more often a typing error than a job of a hidden kind
	if (Absent(err) || hidden) && errors.As(err, &e) {
		hint(ctx, c, served, name, ns.Name, e)
	}
	return job, err
}

// errAbsent is the cause of the error about a job that does not exist.
var errAbsent = errors.New("job not found")

// Absent reports whether err is the error of Find about a job that does not exist.
func Absent(err error) bool { return errors.Is(err, errAbsent) }

func candidates(ctx context.Context, c *factory.Cluster, kind string) ([]kinds.Job, error) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	if k, ok := kinds.JobNamed(kind); ok {
		served = slices.DeleteFunc(slices.Clone(served), func(s kinds.Job) bool { return s.Kind != k.Kind })
		if len(served) == 0 {
			return nil, errs.NotFoundf("kind %s not found: the %s is not installed", k.Kind, k.Operator)
		}
	}
	if len(served) == 0 {
		return nil, errs.NotFoundf("the cluster serves no job kind")
	}
	return served, nil
}

func choose(found []Job, name, namespace string, failed, denied error) (Job, error) {
	found = withoutOwned(found)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var have []string
		for _, j := range found {
			have = append(have, j.Kind.Kind)
		}
		return Job{}, errs.Usagef("%d jobs are named %s in %s", len(found), name, namespace).
			WithFact("kinds", strings.Join(have, ", ")).Suggest(errs.Option("--kind", have[0]))
	case failed != nil:
		return Job{}, failed
	}
	if denied != nil {
		// The job may be of a kind that cannot be read: it must not count as absent.
		e := errs.Wrap(denied, fmt.Sprintf("cannot tell whether job %q exists in %s", name, namespace))
		if !kube.IsNotInFile(denied) {
			e = e.WithCode(errs.Denied)
		}
		return Job{}, e
	}
	e := errs.NotFoundf("job %q not found in %s", name, namespace).Suggest(suggest.ListJobs(namespace)).WithCause(errAbsent)
	return Job{}, e
}

// withoutOwned drops the jobs that another of them owns, such as an MPIJob's launcher
// or a RayJob's cluster.
func withoutOwned(found []Job) []Job {
	uids := map[string]bool{}
	for _, j := range found {
		uids[j.UID()] = true
	}
	return slices.DeleteFunc(found, func(j Job) bool {
		owners, _ := kinds.At(j.Object, "metadata", "ownerReferences").([]any)
		return slices.ContainsFunc(owners, func(o any) bool { return uids[kinds.Text(o, "uid")] })
	})
}
