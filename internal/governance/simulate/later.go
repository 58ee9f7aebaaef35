package simulate

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
)

// Ahead says how to look ahead: before the changes are made, and until removed nodes
// return.
type Ahead struct {
	// At is the time of the changes; zero: now.
	At time.Time
	// For is the time after which removed nodes return; 0: they do not.
	For time.Duration
	// Finished are finished workloads: how long others ran.
	Finished []*kueue.Workload
	// Assume and Deadline are those of forecast.Options.
	Assume   time.Duration
	Deadline func(*kueue.Workload) forecast.StatedEnd
}

// Later is what happens until Ahead.At. Its jobs are "namespace/name".
type Later struct {
	// Ended have run to their end, Started were admitted.
	Ended, Started []string
	// NoEnd hold quota and have no known end: they still run.
	NoEnd []string
}

// later returns the world at a later time. The jobs that are held make no progress until then.
func (w World) later(ctx context.Context, a Ahead, held map[types.NamespacedName]bool) (World, *Later, error) {
	// An engine for the present makes the forecast leave out what is invalid, as run does.
	present, err := admission.New(w.Config)
	if err != nil {
		return w, nil, &Error{Code: InvalidRules, Err: err}
	}
	got, err := forecast.Advance(ctx, forecast.World{Config: w.Config, Objects: admission.AddVariants(w.Objects, w.variants), Finished: a.Finished, Now: present},
		forecast.Options{Now: w.Now, Assume: a.Assume, Deadline: a.Deadline, Horizon: a.At.Sub(w.Now), Held: held}, a.At)
	if err != nil {
		return w, nil, &Error{Code: NotRun, Err: err}
	}
	if got.Unsettled {
		return w, nil, &Error{Code: NeverConverges, Value: a.At.UTC().Format(time.RFC3339)}
	}
	names, shown := map[types.NamespacedName]string{}, w.shownNames()
	for _, o := range all[*kueue.Workload](w) {
		names[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}] = o.Namespace + "/" + shown(o)
	}
	jobs := func(list []types.NamespacedName) []string {
		out := []string{}
		for _, k := range list {
			out = append(out, names[k])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	l := &Later{Ended: jobs(got.Ended), Started: jobs(got.Started), NoEnd: jobs(got.NoEnd)}
	return w.at(a.At, got), l, nil
}

// at returns the world with the workloads that a forecast leaves, and the pods of those that
// run as they did.
func (w World) at(now time.Time, got *forecast.Later) World {
	podJobs := w.podJobs()
	ended, moved := map[types.NamespacedName]bool{}, map[podHolder]bool{} // workloads; jobs whose pods leave their nodes
	for _, k := range got.Ended {
		ended[k] = true
	}
	started := maps.Clone(w.started)
	if started == nil {
		started = map[types.NamespacedName]bool{}
	}
	for _, k := range got.Started {
		started[k] = true
	}
	objects := make([]client.Object, 0, len(w.Objects))
	for _, o := range w.Objects {
		wl, ok := o.(*kueue.Workload)
		if !ok {
			continue
		}
		k := types.NamespacedName{Namespace: wl.Namespace, Name: wl.Name}
		now := got.Workloads[k]
		if ended[k] || started[k] || now != nil && now.Status.Admission == nil && wl.Status.Admission != nil {
			moved[podJobs.holder(wl)] = true
		}
		switch {
		case ended[k]:
		case now != nil:
			objects = append(objects, now)
		default:
			objects = append(objects, wl) // the engine rejected it
		}
	}
	for _, o := range w.Objects {
		switch o := o.(type) {
		case *kueue.Workload:
			continue
		case *corev1.Pod:
			if job, known := podJobs.of(o); known && moved[job] {
				objects = append(objects, unbound(o))
				continue
			}
		}
		objects = append(objects, o)
	}
	w.Objects, w.variants, w.Now, w.started = objects, got.Variants, now, started
	return w
}
