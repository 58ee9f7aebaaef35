package check

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/forecast"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/trainruntime"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Checker answers questions about one state of a cluster. Like the engine, it is not
// safe for concurrent use.
type Checker struct {
	In     *inputs.Inputs
	Engine *admission.Engine
	Notes  []inputs.Note
	Tree   *quota.Tree
	rules  inputs.Rules
	used   map[string]quota.Usage // by ClusterQueue
	nodes  *fit.Cluster           // nil until needed; see cluster
	bounds map[string]*bounds     // by ClusterQueue

	// What Together added: the number of jobs, what they preempted, and the pods that are
	// bound to nodes.
	submitted int
	evicted   []admission.Preemption
	bound     [][]fit.Group
}

// New returns a checker for the given inputs.
func New(ctx context.Context, in *inputs.Inputs) (*Checker, error) {
	e, notes, err := in.Engine(ctx)
	if err != nil {
		return nil, err
	}
	e.AsFound()
	e.Prepare(ctx)
	used := in.Usage()
	return &Checker{In: in, Engine: e, Notes: notes, Tree: in.Quota(used), rules: in.Rules(), used: used}, nil
}

// Request is a job to check.
type Request struct {
	// Object is the job as it would be submitted.
	Object map[string]any
	// Group are all known pods of the pod group of Object, with Object; nil for Object alone.
	Group []map[string]any
	// Beside are objects that are submitted before it. Some may request quota, too.
	Beside []map[string]any
	// Namespace is the namespace that it would be submitted to.
	Namespace string
	// Steps are checks of the submission that the caller made: permissions, and what
	// it could not find while it rendered the job.
	Steps []Step
	// Found holds the objects that the pods need and that the cluster has; nil if they were not read.
	Found *prerequisite.Found
	// Workload is the workload of an existing job; nil makes one from Object.
	Workload *kueue.Workload
	// Queues returns the other local queues that the user can use. It is called only
	// when remedies are searched for, and may be nil.
	Queues func(context.Context) []*kueue.LocalQueue
	// Remedies requests holders and remedies if the job does not run now.
	Remedies bool
	// AllHolders lists every holder instead of the nearest.
	AllHolders bool
	// Make renders the job again with a change, as start-job would; nil if that is impossible. See remedy.Question.
	Make func(remedy.Change) (object map[string]any, made remedy.Rendered, err error)
	// Existing is the job if it exists already; May reports whether the user has a
	// permission. See remedy.Question.
	Existing *remedy.Existing
	May      func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool
	// Deadlines reads the active deadlines of running jobs. It is called only when a
	// start is estimated, and may be nil. See forecast.Options.
	Deadlines func(context.Context) func(*kueue.Workload) forecast.StatedEnd
	// Assume is the assumed run time of workloads of unknown duration, 0 for none.
	Assume time.Duration
	// Workers reads the worker clusters of an admission check of MultiKueue; nil: they are not asked. sent are those that
	// Kueue has sent the job to.
	Workers func(ctx context.Context, of *kueue.AdmissionCheck, sent []string) ([]Remote, error)
}

// Check returns the verdict on a job. It fails for a manifest that it cannot use: an
// unsupported kind, or fields that do not fit the kind.
func (c *Checker) Check(ctx context.Context, r Request) (*Verdict, error) {
	c, names, err := c.with(ctx, &r)
	if err != nil {
		return nil, err
	}
	v, err := c.whole(ctx, r)
	if err == nil && len(names) > 0 {
		v.Rules.Notes = append(v.Rules.Notes, inputs.Note{Code: inputs.Beside, Names: names})
	}
	if err == nil && r.Workload == nil {
		v, err = c.apart(ctx, &r, v)
	}
	if err != nil {
		return nil, err
	}
	return v, c.askWorkers(ctx, &r, v)
}

// whole returns the verdict on a job as one workload.
func (c *Checker) whole(ctx context.Context, r Request) (_ *Verdict, err error) {
	v := &Verdict{Schema: Schema, Time: c.In.Taken.UTC().Truncate(time.Second), Complete: !c.In.Partial(), Submission: r.Steps, Existing: r.Existing, AllHolders: r.AllHolders}
	if r.Object, err = r.withPods(r.Object); err != nil {
		return nil, unusable(kinds.Text(r.Object, "apiVersion"), v.Job, err)
	}
	wl, err := c.workload(ctx, &r, v)
	if err != nil {
		return nil, err
	}
	if len(wl.Spec.PodSets) > 0 {
		err := admission.CheckWorkload(wl)
		if err == nil && r.Workload == nil {
			err = admission.CheckRequests(wl)
		}
		if err != nil {
			code := Unusable
			if r.Workload != nil {
				code = Undecided // the cluster is wrong, not the manifest
			}
			return nil, &Error{Code: code, Name: v.Job.Name, Err: err}
		}
	}
	v.Rules = Rules{
		KueueRules: versions.BuiltIn, ClusterKueue: c.In.KueueVersion, FairSharing: c.rules.FairSharing,
		ConfigurationKnown: c.rules.Known, Notes: append([]inputs.Note{}, c.Notes...),
	}
	v.Missing = state.UnreadOf(c.In.Missing)
	for _, m := range c.In.Missing {
		if m.Namespace == "" && !m.Partly && (m.Reason == state.NotInFile || m.Reason == state.Failed) {
			v.absent = append(v.absent, m.Resource.FullName())
		}
	}
	c.describe(&r, wl, v)
	d, err := c.quota(ctx, r.Object, wl, v)
	if err != nil {
		return nil, err
	}
	v.workload = wl
	remote := c.elsewhere(v)
	switch {
	case len(wl.Spec.PodSets) == 0, v.joins != nil && len(v.joins.pods) == 0:
		v.Nodes = Nodes{Status: StatusNotApplicable}
	case remote:
		v.Topology, v.Nodes = c.topology(wl, d), Nodes{Status: StatusNotApplicable, Elsewhere: true}
	default:
		v.Topology = c.topology(wl, d)
		v.Nodes = c.placement(wl, d, v.joins)
		v.otherType = v.Nodes.Unread.Kind == kinds.Node.Kind && v.Quota.Status == StatusOK && c.typeAbsent(wl, v)
	}
	if (r.Workload == nil || r.Found != nil) && !remote {
		c.prerequisites(&r, v)
		c.volumes(&r, wl, d, v)
	}
	v.Lint = c.lint(&r, v)
	v.conclude()
	c.settings(&r, wl, v)
	c.holds(wl, v)
	v.MoreBorrowing = v.Quota.Detail == ExceedsBorrowing && c.moreBorrowing(v)
	r.Remedies = r.Remedies && v.Reason != GroupIncomplete
	if r.Remedies && v.joins == nil && v.Quota.Status != StatusNotApplicable && !v.barred() && (v.Verdict == Waits || v.Verdict == Never || v.Verdict == Unknown && v.Undecided()) {
		if err := c.remedies(ctx, &r, wl, v); err != nil {
			return nil, err
		}
	}
	if r.Remedies {
		if err := c.estimate(ctx, &r, wl, v); err != nil {
			return nil, err
		}
	}
	v.cut(r.AllHolders)
	return v, nil
}

// withPods returns a job object with the pods that its runtime describes.
func (r *Request) withPods(object map[string]any) (map[string]any, error) {
	if r.Found == nil || r.Found.Runtime == nil {
		return object, nil
	}
	k, _ := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	out, _, err := trainruntime.With(k, object, func(kinds.Reference) map[string]any { return r.Found.Runtime })
	return out, err
}

// workload returns the workload that Kueue would make of the job.
func (c *Checker) workload(ctx context.Context, r *Request, v *Verdict) (*kueue.Workload, error) {
	apiVersion, kind := kinds.Text(r.Object, "apiVersion"), kinds.Text(r.Object, "kind")
	v.Job = Job{Name: kinds.Text(r.Object, "metadata", "name"), Namespace: r.Namespace, Kind: kind,
		PriorityClass: kinds.Text(r.Object, "metadata", "labels", kinds.PriorityLabel), PodSets: []PodSet{}}
	if r.Workload != nil {
		return r.Workload, nil
	}
	object, err := clone(r.Object)
	if err != nil {
		return nil, err
	}
	meta, _ := object["metadata"].(map[string]any)
	if meta == nil {
		return nil, &Error{Code: NoMetadata}
	}
	meta["namespace"] = r.Namespace
	if k, ok := kinds.JobFor(apiVersion, kind); ok {
		object["apiVersion"] = k.GroupVersion() // the API server converts it, if it serves the other version
	}
	known := c.priorities(object, v)
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	wl, err := integration.WorkloadFor(ctx, data, known)
	if group, ok := kinds.PodGroupOf(object); err == nil && ok {
		wl, err = c.podGroup(ctx, r, wl, group, known, v)
		v.Job.Name = group.Name
	}
	if err == nil {
		if err = integration.Validate(ctx, data); errors.Is(err, integration.ErrRefused) {
			v.refusedByKueue(err)
			err = nil
		}
	}
	switch {
	case errors.Is(err, integration.ErrNotManaged):
		return &kueue.Workload{ObjectMeta: objectMeta(v.Job)}, nil
	case errors.Is(err, integration.ErrNoRuntime), errors.Is(err, integration.ErrPodsElsewhere): // a step says so
		return &kueue.Workload{ObjectMeta: objectMeta(v.Job), Spec: kueue.WorkloadSpec{
			QueueName: kueue.LocalQueueName(kinds.Text(object, "metadata", "labels", kinds.QueueLabel))}}, nil
	case err != nil && !errors.Is(err, integration.ErrUnknownJob) && noPods(object):
		// With zero replicas Kueue makes no workload: this is an answer, not an error.
		return &kueue.Workload{ObjectMeta: objectMeta(v.Job)}, nil
	case err != nil:
		return nil, unusable(apiVersion, v.Job, err)
	}
	if wl.Namespace == "" {
		wl.Namespace = r.Namespace
	}
	if wl.Spec.QueueName == "" && c.In.LocalQueue(r.Namespace, defaultQueue) != nil {
		wl.Spec.QueueName = defaultQueue // Kueue's webhook fills it in
	}
	if c.submitted > 0 { // it comes after those
		wl.CreationTimestamp.Time = c.In.Taken.Add(time.Duration(c.submitted) * time.Millisecond)
	}
	return wl, nil
}

// defaultQueue is the LocalQueue that Kueue sets on jobs without a queue label.
const defaultQueue = "default"

func noPods(object map[string]any) bool {
	k, ok := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	if !ok {
		return false
	}
	parts := k.Parts(object)
	for _, p := range parts {
		if p.Replicas != 0 {
			return false
		}
	}
	return len(parts) > 0
}

func clone(object map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(data, &out)
}

// unread reports whether a kind could not be listed.
func (c *Checker) unread(r kinds.Resource) bool {
	for _, m := range c.In.Missing {
		if m.Resource.Plural == r.Plural && m.Resource.Group == r.Group {
			return true
		}
	}
	return false
}

// lacksFile reports whether a kind is missing because a file has none.
func (c *Checker) lacksFile(r kinds.Resource) bool {
	return slices.ContainsFunc(c.In.Missing, func(m state.Missing) bool {
		return m.Resource.FullName() == r.FullName() && m.Reason == state.NotInFile
	})
}

func (c *Checker) classNames() []string {
	var names []string
	for _, p := range c.In.WorkloadPriority {
		names = append(names, p.Name)
	}
	return names
}

// needs returns what the job is short of. If quota is not what it lacks, short is false, and the result has all it requests.
func (v *Verdict) needs() (out []remedy.Need, short bool) {
	var all []remedy.Need
	for _, l := range v.Quota.Resources {
		all = append(all, remedy.Need{Flavor: l.Flavor, Resource: l.Resource})
		if l.Short > 0 {
			out = append(out, remedy.Need{Flavor: l.Flavor, Resource: l.Resource, Short: l.shortage.Missing})
		}
	}
	if len(out) > 0 {
		return out, true
	}
	return all, false
}

// remedies finds the holders of what the job needs, and the changes that would let it run. What is suspended needs to be
// resumed, and no change of the job helps it.
func (c *Checker) remedies(ctx context.Context, r *Request, wl *kueue.Workload, v *Verdict) error {
	if v.Reason == kueue.WorkloadDeactivated {
		return nil
	}
	needs, short := v.needs()
	if v.Verdict == Waits && len(needs) > 0 {
		var err error
		if v.Holders, err = remedy.Holders(ctx, c.In, c.Engine, c.Tree, wl, v.Job.ClusterQueue, needs); err != nil {
			return err
		}
		remedy.SortNearest(c.In, c.used, v.Job.ClusterQueue, needs[0], v.Holders, remedy.Nearest)
	}
	q := remedy.Question{In: c.In, Engine: c.Engine, Workload: wl, Holders: v.Holders, Existing: r.Existing, May: r.May, NeverAdmitted: v.Verdict == Never}
	if !short && v.Quota.Head != "" {
		v.Holders = nil // the job waits for the head of its queue, and not for quota
	}
	// Where something is unseen, a remedy must run in the worst case.
	if b, err := c.boundsOf(ctx, v.Job.ClusterQueue); err != nil {
		return err
	} else if b != nil {
		q.Engine = b.worst
	}
	if r.Queues != nil {
		q.Queues = r.Queues(ctx)
	}
	if r.Make != nil {
		q.Make = func(change remedy.Change) (*kueue.Workload, remedy.Rendered, error) {
			return c.remade(ctx, r, wl, change)
		}
	}
	if v.Nodes.Status != StatusUnknown && v.Nodes.Status != StatusNotApplicable {
		q.Fits = func(w *kueue.Workload, d *admission.Decision, ended []remedy.Holder) remedy.Fit {
			with := *d
			with.Preempts = slices.Clone(d.Preempts)
			for _, h := range ended {
				with.Preempts = append(with.Preempts, admission.Preemption{Namespace: h.Namespace, Name: h.Workload})
			}
			switch n := c.placement(w, &with, nil); {
			case n.Status != StatusFailed:
				return remedy.FitsNow
			case n.Reason == NodesFull:
				return remedy.FitsLater
			}
			return remedy.FitsNever
		}
	}
	found, err := remedy.Find(ctx, q)
	if v.lacksClass() { // no other change helps without a class that exists
		found = slices.DeleteFunc(found, func(r remedy.Remedy) bool { return r.Code != remedy.HigherPriority })
	}
	v.Remedies = found
	return err
}

// remade returns the workload of the job after a change, under the name of the old one.
func (c *Checker) remade(ctx context.Context, r *Request, wl *kueue.Workload, change remedy.Change) (*kueue.Workload, remedy.Rendered, error) {
	object, made, err := r.Make(change)
	if err != nil {
		return nil, made, err
	}
	if object, err = r.withPods(object); err != nil {
		return nil, made, err
	}
	w, err := c.workload(ctx, &Request{Object: object, Namespace: r.Namespace}, &Verdict{})
	if err != nil {
		return nil, made, err
	}
	w.Name, w.UID = wl.Name, wl.UID
	return w, made, nil
}
