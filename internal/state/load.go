package state

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// loader is one Load in progress.
type loader struct {
	c   *kube.Client
	w   Want
	r   *reader.Reader
	out *State
}

// Load reads everything that is wanted in parallel and takes now as the time of
// the State. What could not be read is in State.Missing. Load returns an error
// when nothing at all could be read.
func Load(ctx context.Context, c *kube.Client, w Want, now time.Time) (*State, error) {
	l := &loader{c: c, w: w, out: &State{Taken: now, Server: c.Server()},
		r: reader.New(reader.Options{Namespaces: w.FallbackNamespaces, Parallel: w.Parallel})}
	var wg crash.Group
	jobs := make([][]Job, len(w.Jobs))
	for i, k := range w.Jobs {
		wg.Go(func() { jobs[i] = l.jobs(ctx, k) })
	}
	for _, p := range w.parts() {
		wg.Go(func() { p.load(ctx, l) })
	}
	wg.Wait()
	if err := l.r.Err(); err != nil {
		return nil, err
	}
	l.out.Jobs, l.out.Missing, l.out.Fallback = slices.Concat(jobs...), l.r.Missing(), l.r.Fallback()
	l.out.Workloads = withoutVariants(l.out.Workloads)
	return l.out, nil
}

// jobs reads the jobs of one kind.
func (l *loader) jobs(ctx context.Context, k kinds.Job) []Job {
	jobs := reader.Read(ctx, l.r, reader.Kind[Job]{Resource: k.Resource, Namespace: l.w.Namespace, Optional: k.Beside,
		List: func(ctx context.Context, namespace string) ([]Job, error) {
			at, err := reader.Served(ctx, l.c, k.Resource)
			if err != nil {
				return nil, err
			}
			k := k
			k.Resource = at
			o := kube.ListOptions{LabelSelector: CountingSelector(k, l.w.Selector)}
			if !decodesRoles(k) {
				runtimes := NewRuntimes(l.c)
				return reader.List(ctx, l.c, at, namespace, o, func(x *describedJob) Job { return x.whole(ctx, k, runtimes) })
			}
			return reader.List(ctx, l.c, at, namespace, o, func(x *wireJob) Job { return x.job(k) })
		}})
	return slices.DeleteFunc(jobs, func(j Job) bool { return !Counts(j) })
}

// CountingSelector joins a label selector with the one of the objects that can count as jobs.
func CountingSelector(k kinds.Job, selector string) string {
	if strings.Contains(selector, kinds.SweepLabel+"=") {
		return selector
	}
	return strings.Trim(k.Selector+","+selector, ",")
}

// Counts reports whether an object is a job of its own. Objects that another job
// controls are its parts (an MPIJob's launcher, the JobSet of a TrainJob), which may
// carry the labels of the whole. Kinds that also serve other purposes (batch Jobs, Pods)
// do not count without a queue or a sweep.
func Counts(j Job) bool {
	for _, o := range j.Owners {
		if _, ok := kinds.JobFor(o.APIVersion, o.Kind); o.Controller && (ok || j.Kind.Uncontrolled) {
			return false
		}
	}
	return !j.Kind.NeedsQueue || j.Queue() != "" || j.Labels[kinds.SweepLabel] != ""
}
