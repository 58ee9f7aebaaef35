package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Checker answers questions about one state of a cluster. It is not safe for
// concurrent use, as the engine is not.
type Checker struct {
	In     *inputs.Inputs
	Engine *admission.Engine
	Notes  []inputs.Note
	Tree   *quota.Tree
	rules  inputs.Rules
	used   map[string]quota.Usage // by ClusterQueue
	room   *fit.Cluster           // the nodes as they are; nil until asked for
	ends   map[string]*ends       // by ClusterQueue
}

// New makes a checker of what was read.
func New(ctx context.Context, in *inputs.Inputs) (*Checker, error) {
	e, notes, err := in.Engine(ctx)
	if err != nil {
		return nil, err
	}
	e.Prepare(ctx)
	used := in.Usage()
	return &Checker{In: in, Engine: e, Notes: notes, Tree: in.Quota(used), rules: in.Rules(), used: used}, nil
}

// Request is a job to check.
type Request struct {
	// Object is the job as it would be submitted.
	Object map[string]any
	// Namespace is where it would go.
	Namespace string
	// Steps are what was found about submitting it: rights, and what the caller
	// had to find out to fill the job in.
	Steps []Step
	// Workload is the job's, when it exists already; nil makes one of Object.
	Workload *kueue.Workload
	// Queues finds the other local queues that the user may use; it is called only
	// where remedies are looked for, and may be nil.
	Queues func(context.Context) []*kueue.LocalQueue
	// Remedies asks for holders and remedies where the job does not run now.
	Remedies bool
	// Make renders the job anew with a change, as start-job would; nil where it
	// cannot be. See remedy.Question.
	Make func(remedy.Change) (object map[string]any, made remedy.Made, err error)
	// Existing is set for a job that exists: remedies are commands then, as far as the
	// user may do what they do; see remedy.Question.May.
	Existing *remedy.Existing
	May      func(ctx context.Context, verb string, k kinds.Resource, namespace string) bool
	// Deadlines reads the active deadlines of running jobs, for the estimate of a
	// start; it is called only where one is made, and may be nil. See
	// forecast.Options.
	Deadlines func(context.Context) func(*kueue.Workload) time.Duration
	// Assume is the duration of workloads of which nothing is known, for the
	// estimate of a start; 0: none is assumed.
	Assume time.Duration
}

// Unsupported is the error about a kind that the checker has no rules for.
func Unsupported(apiVersion, kind string, cause error) error {
	var names []string
	for _, gvk := range admission.SupportedJobs() {
		names = append(names, gvk.Kind+" ("+gvk.GroupVersion().String()+")")
	}
	return errs.New(fmt.Sprintf("cannot check a %s (%s)", kind, apiVersion), "Kueue makes no workload of that kind here").
		WithFact("it can check", strings.Join(names, ", ")).
		WithTry("--dry-run=server   # the cluster looks at the object itself").WithCode(errs.Usage).WithCause(cause)
}

// Check gives the verdict. Errors are about the manifest (a kind that is not
// supported, fields that do not fit the kind), not about the answer.
func (c *Checker) Check(ctx context.Context, r Request) (*Verdict, error) {
	v := &Verdict{Schema: Schema, Time: c.In.Taken.UTC().Truncate(time.Second), Complete: !c.In.Partial(), Submission: r.Steps}
	wl, err := c.workload(ctx, &r, v)
	if err != nil {
		return nil, err
	}
	if len(wl.Spec.PodSets) > 0 {
		if err := admission.CheckWorkload(wl); err != nil {
			e := errs.New("cannot check "+v.Job.Name, err.Error()).WithCause(err)
			if r.Workload == nil {
				e = e.WithCode(errs.Usage) // the manifest's fault, not the cluster's
			}
			return nil, e
		}
	}
	v.Rules = Rules{
		KueueRules: admission.KueueVersion, ClusterKueue: c.In.KueueVersion, FairSharing: c.rules.FairSharing,
		ConfigurationKnown: c.rules.Known, Notes: append([]inputs.Note{}, c.Notes...),
	}
	for _, m := range c.In.Missing {
		if m.Reason != state.NotServed {
			v.Missing = append(v.Missing, MissingRead{Resource: m.Resource.FullName(), Namespace: m.Namespace, Verb: m.Verb, Reason: m.Reason})
		}
	}
	c.describe(&r, wl, v)
	d, err := c.quota(ctx, wl, v)
	if err != nil {
		return nil, err
	}
	if len(wl.Spec.PodSets) == 0 {
		v.Nodes = Nodes{Status: Skipped, Message: "it has no pods", Placements: nil}
	} else {
		v.Topology = c.topology(wl, d)
		v.Nodes = c.nodes(wl, d)
	}
	v.Lint = c.lint(&r, v)
	v.conclude()
	if r.Remedies && v.Quota.Status != Skipped && !v.barred() && (v.Verdict == Waits || v.Verdict == Never || v.Verdict == Unknown && v.hangs()) {
		if err := c.remedies(ctx, &r, wl, v); err != nil {
			return nil, err
		}
	}
	if r.Remedies {
		if err := c.estimate(ctx, &r, wl, v); err != nil {
			return nil, err
		}
	}
	v.Summary = v.summary()
	return v, nil
}

// workload is what Kueue would make of the job.
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
		return nil, errs.New("cannot check the job", "it has no metadata").WithCode(errs.Usage)
	}
	meta["namespace"] = r.Namespace
	known := c.priorities(object, v)
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	wl, err := admission.WorkloadFor(ctx, data, known)
	switch {
	case errors.Is(err, admission.ErrUnknownJob):
		return nil, Unsupported(apiVersion, kind, err)
	case err != nil && noPods(object):
		// Zero replicas: Kueue makes no workload, which is an answer and no error.
		return &kueue.Workload{ObjectMeta: objectMeta(v.Job)}, nil
	case err != nil:
		return nil, unusable(kind, v.Job.Name, err)
	}
	if wl.Namespace == "" {
		wl.Namespace = r.Namespace
	}
	if wl.Spec.QueueName == "" && c.In.LocalQueue(r.Namespace, defaultQueue) != nil {
		wl.Spec.QueueName = defaultQueue // Kueue's webhook fills it in
	}
	return wl, nil
}

// defaultQueue is the LocalQueue that Kueue gives to jobs without a queue label.
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

// unusable is the error about a manifest that does not fit its kind.
func unusable(kind, name string, err error) error {
	what := fmt.Sprintf("cannot check %s %s", kind, name)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return errs.New(what, fmt.Sprintf("%s is of the wrong type: it is a %s", mistyped.Field, mistyped.Value)).WithCode(errs.Usage).WithCause(err)
	}
	text := err.Error()
	if i := strings.LastIndex(text, "json: "); i >= 0 {
		text = "it does not fit the kind"
	}
	return errs.New(what, text).WithCode(errs.Usage).WithCause(err)
}

func clone(object map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(data, &out)
}

// unread reports a kind that could not be listed.
func (c *Checker) unread(r kinds.Resource) bool {
	for _, m := range c.In.Missing {
		if m.Resource.Plural == r.Plural && m.Resource.Group == r.Group {
			return true
		}
	}
	return false
}

func (c *Checker) nearClass(class string) string {
	var names []string
	for _, p := range c.In.WorkloadPriority {
		names = append(names, p.Name)
	}
	if near := errs.Near(class, names); len(near) > 0 {
		return "--priority " + near[0]
	}
	if len(names) == 0 {
		return ""
	}
	return lint.Choice("--priority", names)
}

func (c *Checker) remedies(ctx context.Context, r *Request, wl *kueue.Workload, v *Verdict) error {
	var needs []remedy.Need
	for _, l := range v.Quota.Resources {
		if l.Short > 0 {
			needs = append(needs, remedy.Need{Flavor: l.Flavor, Resource: l.Resource})
		}
	}
	if len(needs) == 0 { // enough quota: something else stands in the way
		for _, l := range v.Quota.Resources {
			needs = append(needs, remedy.Need{Flavor: l.Flavor, Resource: l.Resource})
		}
	}
	if v.Verdict == Waits {
		var err error
		if v.Holders, err = remedy.Holders(ctx, c.In, c.Engine, c.Tree, wl, v.Job.ClusterQueue, needs); err != nil {
			return err
		}
	}
	q := remedy.Question{In: c.In, Engine: c.Engine, Workload: wl, Holders: v.Holders, Existing: r.Existing, May: r.May, Hopeless: v.Verdict == Never}
	// Where something is not seen, what is said to run runs whatever that is.
	if e, err := c.endsOf(ctx, v.Job.ClusterQueue); err != nil {
		return err
	} else if e != nil {
		q.Engine = e.worst
	}
	if r.Queues != nil {
		q.Queues = r.Queues(ctx)
	}
	if r.Make != nil {
		q.Make = func(change remedy.Change) (*kueue.Workload, remedy.Made, error) { return c.remade(ctx, r, wl, change) }
	}
	if v.Nodes.Status != Unclear && v.Nodes.Status != Skipped {
		q.Room = func(w *kueue.Workload, d *admission.Decision, ended []remedy.Holder) remedy.Room {
			with := *d
			with.Preempts = slices.Clone(d.Preempts)
			for _, h := range ended {
				with.Preempts = append(with.Preempts, admission.Preemption{Namespace: h.Namespace, Name: h.Workload})
			}
			switch n := c.nodes(w, &with); {
			case n.Status != Failed:
				return remedy.RoomNow
			case n.Reason == NodesFull:
				return remedy.RoomLater
			}
			return remedy.RoomNever
		}
	}
	found, err := remedy.Find(ctx, q)
	if v.lacksClass() { // whatever else is changed, it needs another one
		found = slices.DeleteFunc(found, func(r remedy.Remedy) bool { return r.Code != remedy.HigherPriority })
	}
	v.Remedies = found
	return err
}

// remade is the workload of the job as it is after a change, in the place of the
// one it was.
func (c *Checker) remade(ctx context.Context, r *Request, wl *kueue.Workload, change remedy.Change) (*kueue.Workload, remedy.Made, error) {
	object, made, err := r.Make(change)
	if err != nil {
		return nil, made, err
	}
	w, err := c.workload(ctx, &Request{Object: object, Namespace: r.Namespace}, &Verdict{})
	if err != nil {
		return nil, made, err
	}
	w.Name, w.UID = wl.Name, wl.UID
	return w, made, nil
}
