package control

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/trainruntime"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// job is one job object at the present moment.
type job struct {
	kind kinds.Job
	o    *store.Object
	// held: the kind has no suspend field, and Kueue has not admitted the job.
	held bool
	// child is what the operator makes of the job and its runtime, for kinds with one.
	child map[string]any
}

// m returns the object, with the child of a kind with a runtime.
func (j job) m() map[string]any {
	if j.child == nil {
		return j.o.Map()
	}
	return kinds.WithChild(j.o.Map(), j.child)
}

// raw returns the object's JSON, with the child of a kind with a runtime.
func (j job) raw() ([]byte, error) {
	if j.child == nil {
		return j.o.Raw, nil
	}
	return store.Encode(j.m())
}

func (j job) governed() bool { return j.o.Labels[kinds.QueueLabel] != "" }

func (j job) suspended() bool {
	if len(j.kind.SuspendPath) == 0 {
		return j.held
	}
	return object.Bool(j.m(), j.kind.SuspendPath...)
}

// queued reports whether Kueue makes a workload of the job itself, and not of its pods or those of another object.
func (j job) queued() bool { return j.governed() && !j.kind.OnePod && !j.shares() }

// shares reports a job that runs on the pods of another object.
func (j job) shares() bool { return j.kind.OthersPods(j.o.Map()) }

// what returns the job's name for messages.
func (j job) what() string { return j.kind.Kind + " " + j.o.Namespace + "/" + j.o.Name }

// jobs returns the jobs of every kind.
func (s *sim) jobs() []job {
	var out []job
	for _, k := range kinds.Jobs() {
		for _, o := range s.st.List(k.FullName(), "") {
			if j := s.job(k, o); acts(j) {
				out = append(out, j)
			}
		}
	}
	return out
}

func (s *sim) job(k kinds.Job, o *store.Object) job {
	j := job{kind: k, o: o}
	if k.Runtime != nil {
		j.child = s.child(k, o)
	}
	switch {
	case len(k.SuspendPath) > 0:
	case k.Itself:
		j.held = kinds.Gated(o.Map())
	case j.queued():
		w := s.workloadOf(j)
		j.held = w == nil || !object.True(w.Map(), "Admitted")
	}
	return j
}

// child returns what the operator makes of a job and its runtime, nil as long as there is
// no runtime.
func (s *sim) child(k kinds.Job, o *store.Object) map[string]any {
	with, _, err := trainruntime.With(k, o.Map(), func(ref kinds.Reference) map[string]any {
		if found := s.st.Get(ref.FullName(), ref.Namespace, ref.Name); found != nil {
			return found.Map()
		}
		return nil
	})
	if err != nil && s.event(o, "Warning", k.Kind+"ResourcesCreationFailed", err.Error()) {
		s.warnf("%s %s/%s has no pods: %v", k.Kind, o.Namespace, o.Name, err)
	}
	return kinds.ChildOf(with)
}

// workloadOf returns a job's workload, or nil.
func (s *sim) workloadOf(j job) *store.Object {
	if g, ok := j.grouped(); ok {
		w := s.st.Get(kinds.Workload.FullName(), j.o.Namespace, g.Name)
		if w != nil && object.Text(w.Map(), "metadata", "annotations", kinds.GroupWorkload) == "true" {
			return w
		}
		return nil
	}
	for _, w := range s.st.List(kinds.Workload.FullName(), j.o.Namespace) {
		if w.OwnedBy(j.o.UID) {
			return w
		}
	}
	return nil
}

// podsOf returns a job's pods.
func (s *sim) podsOf(j job) []*store.Object {
	var out []*store.Object
	for _, p := range s.st.List(kinds.Pod.FullName(), j.o.Namespace) {
		if p.OwnedBy(j.o.UID) {
			out = append(out, p)
		}
	}
	return out
}

// prepareJobs creates a workload for every unfinished job with a queue, keeps the job
// suspended until the workload is admitted, and keeps the workload up to date.
func (s *sim) prepareJobs(ctx context.Context) error {
	return s.eachGroup(func(j job) error {
		if !j.queued() || finished(j) {
			return nil
		}
		if w := s.workloadOf(j); w != nil {
			return s.followJob(ctx, j, w)
		}
		return s.newWorkload(ctx, j)
	}, func(g podGroup) error { return s.prepareGroup(ctx, g) })
}

// newWorkload suspends a job and creates its workload, like Kueue's job controller. A
// job without a valid workload stays suspended and gets an event with the reason.
func (s *sim) newWorkload(ctx context.Context, j job) error {
	j, err := s.stop(ctx, j, nil, "missing workload")
	if err != nil {
		return err
	}
	wanted, err := s.workloadFor(ctx, j)
	if err != nil {
		if s.event(j.o, "Warning", "ErrWorkloadCompose", err.Error()) {
			s.warnf("%s stays suspended: %v", j.what(), err)
		}
		return nil
	}
	if s.st.Get(kinds.Workload.FullName(), j.o.Namespace, object.Text(wanted, "metadata", "name")) != nil {
		return nil // somebody created a workload with this name
	}
	w, err := s.create(kinds.Workload.FullName(), wanted)
	if err != nil {
		return err
	}
	s.event(j.o, "Normal", "CreatedWorkload", fmt.Sprintf("Created Workload: %s/%s", w.Namespace, w.Name))
	return nil
}

// workloadFor returns the workload that Kueue would create for a job or its group, decoded.
func (s *sim) workloadFor(ctx context.Context, j job) (map[string]any, error) {
	e, err := s.admission(ctx)
	if err != nil {
		return nil, err
	}
	if g, ok := j.grouped(); ok {
		return s.groupWorkload(ctx, s.group(j, g), e.Lookup())
	}
	raw, err := j.raw()
	if err != nil {
		return nil, err
	}
	w, err := integration.WorkloadFor(ctx, raw, e.Lookup())
	if err != nil {
		return nil, err
	}
	return bare(w)
}

// bare returns a new workload as it is stored.
func bare(w *kueue.Workload) (map[string]any, error) {
	m, err := decodeMap(w)
	if err != nil {
		return nil, err
	}
	delete(m, "status")
	meta := object.Map(m, "metadata")
	delete(meta, "creationTimestamp")
	delete(meta, "finalizers") // a sandbox has nothing to clean up
	return m, nil
}

// followJob copies changes of a job to its workload: the priority always, everything
// else while the workload has no quota reservation.
func (s *sim) followJob(ctx context.Context, j job, w *store.Object) error {
	reserved := object.True(w.Map(), "QuotaReserved")
	priority := j.o.Labels[kinds.PriorityLabel]
	if reserved && (priority == "" || priority == object.Text(w.Map(), "spec", "priorityClassRef", "name")) {
		return nil
	}
	if !reserved && !j.suspended() {
		return nil // runJobs suspends it first, which restores its pod templates
	}
	_, grouped := j.grouped()
	if !grouped && j.o.RV <= s.same && w.RV <= s.same {
		return nil
	}
	wanted, err := s.workloadFor(ctx, j)
	if err != nil {
		if s.event(j.o, "Warning", "ErrWorkloadCompose", err.Error()) {
			s.warnf("%s: its workload stays unchanged: %v", j.what(), err)
		}
		return nil
	}
	next := w.Copy()
	from, to := object.Map(wanted, "spec"), object.Child(next, "spec")
	keys := []string{"priorityClassRef", "priority"}
	if !reserved {
		keys = append(keys, "queueName", "maximumExecutionTimeSeconds")
	}
	if !reserved && !grouped {
		keys = append(keys, "podSets")
	}
	changed := false
	for _, k := range keys {
		if !reflect.DeepEqual(from[k], to[k]) {
			changed = true
			if to[k] = from[k]; from[k] == nil {
				delete(to, k)
			}
		}
	}
	if !changed {
		return nil
	}
	if _, err := s.put(kinds.Workload.FullName(), next); err != nil {
		return err
	}
	s.event(j.o, "Normal", "UpdatedWorkload", fmt.Sprintf("Updated not matching Workload for suspended job: %s/%s", w.Namespace, w.Name))
	return nil
}

// stop suspends a job, removes its pods and restores its pod templates from its
// workload w, which may be nil.
func (s *sim) stop(ctx context.Context, j job, w *store.Object, why string) (job, error) {
	for _, p := range s.podsOf(j) {
		s.st.Collect(kinds.Pod.FullName(), p)
	}
	if len(j.kind.SuspendPath) == 0 {
		return s.takeBack(j, why), nil
	}
	if j.suspended() {
		return j, nil
	}
	started := len(object.List(j.m(), "status", "conditions")) > 0 || j.m()["status"] != nil
	wl, err := typedWorkload(w)
	if err != nil {
		return j, err
	}
	raw, err := j.raw()
	if err == nil {
		raw, err = integration.SuspendJob(ctx, raw, wl)
	}
	var m map[string]any
	if err == nil {
		m, err = decodeMap([]byte(raw))
	}
	if err != nil {
		// Kueue's code cannot read this object. Suspend it anyway.
		m = j.o.Copy()
		object.Set(m, true, j.kind.SuspendPath...)
	}
	o, err := s.put(j.kind.FullName(), m)
	if err != nil {
		return j, err
	}
	if started {
		s.event(o, "Normal", "Stopped", why)
	}
	return s.job(j.kind, o), nil
}

// start resumes a job on the flavors of its workload's admission.
func (s *sim) start(ctx context.Context, j job, w *store.Object) (job, error) {
	if len(j.kind.SuspendPath) == 0 && !j.kind.Itself {
		return s.job(j.kind, j.o), nil // its pods start
	}
	wl, err := typedWorkload(w)
	if err != nil {
		return j, err
	}
	e, err := s.admission(ctx)
	if err != nil {
		return j, err
	}
	raw, err := j.raw()
	if _, ok := j.grouped(); ok && err == nil {
		if wl, err = integration.OfRole(wl, raw); err != nil {
			return j, nil // Kueue never starts a pod whose role the Workload of its group lacks
		}
	}
	if err == nil {
		raw, err = integration.StartJob(ctx, raw, wl, e.Lookup())
	}
	if err != nil {
		if s.event(j.o, "Warning", "FailedToStart", err.Error()) {
			s.warnf("%s does not start: %v", j.what(), err)
		}
		return j, nil
	}
	m, err := decodeMap([]byte(raw))
	if err != nil {
		return j, err
	}
	if j.kind.Itself {
		object.Ungate(m)
	}
	o, err := s.put(j.kind.FullName(), m)
	if err != nil {
		return j, err
	}
	s.event(o, "Normal", "Started", "Admitted by clusterQueue "+string(wl.Status.Admission.ClusterQueue))
	return s.job(j.kind, o), nil
}

// runJobs starts admitted jobs, stops jobs that are no longer admitted, and creates the
// pods of running jobs.
func (s *sim) runJobs(ctx context.Context) error {
	for _, j := range s.jobs() {
		if finished(j) {
			continue
		}
		if j.queued() {
			w := s.workloadOf(j)
			admitted := w != nil && object.True(w.Map(), "Admitted")
			var err error
			switch {
			case admitted && j.suspended():
				j, err = s.start(ctx, j, w)
			case !admitted && (!j.suspended() || j.held):
				j, err = s.stop(ctx, j, w, whyStopped(w))
			}
			if err != nil {
				return err
			}
		}
		if err := s.givePods(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// whyStopped returns Kueue's message for a stopped job.
func whyStopped(w *store.Object) string {
	if w == nil {
		return "missing workload"
	}
	if c := object.Condition(w.Map(), "Evicted"); object.Text(c, "status") == "True" {
		return object.Text(c, "message")
	}
	return "Not admitted by cluster queue"
}

// finished reports whether a job has succeeded or failed.
func finished(j job) bool { return outcome(j) != "" }

// outcome returns "Succeeded", "Failed", or "" for an unfinished job.
func outcome(j job) string {
	switch j.kind.Style {
	case kinds.RayRun:
		switch object.Text(j.m(), "status", "jobStatus") {
		case "SUCCEEDED":
			return "Succeeded"
		case "FAILED", "STOPPED":
			return "Failed"
		}
		return ""
	case kinds.RayNodes:
		return ""
	case kinds.Described:
		switch p := j.kind.Status.PhaseOf(j.kind.Status.WordIn(j.m())); {
		case j.kind.Serves:
			return ""
		case p == kinds.Succeeded || p == kinds.Failed:
			return string(p)
		}
	}
	for _, c := range []string{"Succeeded", "Complete", "Completed", "Failed"} {
		if object.True(j.m(), c) {
			if strings.HasPrefix(c, "Complete") {
				return "Succeeded"
			}
			return c
		}
	}
	return ""
}
