package startjob

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/collector"
	"github.com/hyperpod-cli/hyperpod/internal/cli/editor"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/newerfields"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/upload"
)

// run is one run of start-job: its options and what it finds out.
type run struct {
	options *Options
	factory *factory.Factory
	// follow prints the log for --follow.
	follow logFollower
	// cluster is nil if there is none, which only a client dry run accepts.
	cluster *factory.Cluster
	// scope is the namespace of the run, once it is resolved.
	scope *discovery.NamespaceChoice
	// reading is the read of the admission check, nil before it begins.
	reading *reading
	// patience is how long a start waits for it.
	patience time.Duration
	// judging reports whether a start decides about one more job of a sweep.
	judging func(limited context.Context) bool
	// env are the variables of --env-file, and code the files of --upload, nil without it.
	env  map[string]string
	code *upload.Files
	// claimed are the files of --upload for the claim of --upload-pvc, nil without it.
	claimed *claimed
	// noted are the notes that were printed: the jobs of a manifest can share them.
	noted []string
	// allow decides about fields that the program does not know.
	allow schema.Allow
	// findings are what an admission check reports where a start fails.
	findings []check.Step
}

// job is a finished job that can be submitted.
type job struct {
	render.Result
	namespace string
	template  *parse.Template // whose file the refusals of the admission check name; nil for an edited job
	// change renders the job again with a change, for the remedies of the admission check; nil for an edited job.
	change func(remedy.Change) (object map[string]any, made remedy.Rendered, err error)
}

// Run renders the job and submits it.
func Run(ctx context.Context, o *Options) error {
	if c, err := o.Factory.Slurm(); err != nil {
		return err
	} else if c != nil {
		return (&run{options: o, factory: o.Factory}).startSlurm(ctx, c)
	}
	r := &run{options: o, factory: o.Factory, follow: followLog, patience: patience, judging: inTime}
	if o.Factory.Unhurried {
		r.patience = time.Hour
	}
	fields := newerfields.Decision{Factory: o.Factory, All: o.AllowUnknown, Patience: r.patience, Does: "sends", Note: func(f schema.Field, served bool) {
		if served {
			r.once(schema.NoteAccepted(f))
		} else {
			r.once(schema.NoteSent(f))
		}
	}}
	r.allow = fields.Allow(ctx)
	return fields.Offer(ctx, r.start(ctx))
}

func (r *run) start(ctx context.Context) error {
	o, f := r.options, r.factory
	if _, err := f.Format(); err != nil {
		return err
	}
	if o.Edit {
		if err := editor.Check(f); err != nil {
			return err
		}
	}
	if err := r.readInput(ctx); err != nil {
		return err
	}
	d, err := r.define(ctx)
	if err != nil {
		return err
	}
	if err := o.checkKind(d.template); err != nil {
		return err
	}
	if len(o.Axes) == 0 {
		if beside, jobs := several(d.template); len(jobs) > 0 {
			return r.startSeveral(ctx, d, beside, jobs)
		}
	}
	s, err := r.settings(d)
	if err != nil {
		return err
	}
	all, err := r.series(d.template, s.Values)
	if err != nil {
		return err
	}
	given := s.given()
	if all != nil {
		given = all.at(given, 0)
	}
	early, err := r.renderEarly(d.template, given)
	if err != nil {
		return err
	}
	f.Notef("%s", d.described)
	if o.DryRun == admission {
		defer collector.Grow()()
	}
	asking, stop := f.Deadline(o.Timeout).Bound(ctx)
	defer stop()
	v, err := r.resolve(asking, d.template, s)
	if err != nil {
		return err
	}
	if all != nil {
		return r.startSweep(ctx, all, v)
	}
	// The job is rendered again only if the cluster added a value, for example the queue: see renderEarly.
	result := early
	if result == nil || !reflect.DeepEqual(v, s.given()) {
		complete, err := render.Objects(d.template, v)
		if err != nil {
			return err
		}
		result = &complete
	}
	if err := r.attach(result); err != nil {
		return err
	}
	if o.Edit {
		return r.editAndFinish(ctx, d.template, v, *result)
	}
	return r.finish(ctx, job{Result: *result, namespace: v.Namespace, template: d.template, change: func(c remedy.Change) (map[string]any, remedy.Rendered, error) {
		return admissioncheck.RenderChanged(d.template, v, c)
	}})
}

// once prints notes that were not printed yet.
func (r *run) once(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(r.noted, n) {
			r.noted = append(r.noted, n)
			r.factory.Notes([]string{n})
		}
	}
}

// renderEarly renders the job with the values that were given: a fault of the input costs no request, and the result
// stays valid unless the cluster adds a value. The cluster may know an instance type that the table lacks, so a job with
// such a type is not rendered here: the result is nil.
func (r *run) renderEarly(t *parse.Template, v values.Values) (*render.Result, error) {
	if _, known := instances.Lookup(v.InstanceType); !known && v.InstanceType != "" {
		return nil, nil
	}
	early, err := render.Objects(t, v)
	if err == nil && !r.options.Edit {
		err = r.options.needsJob(early)
	}
	return &early, err
}

// resolve completes the settings with what the cluster knows.
func (r *run) resolve(ctx context.Context, t *parse.Template, s settings) (values.Values, error) {
	c, err := r.factory.Cluster(ctx)
	switch {
	case err == nil:
		r.cluster = c
		return r.fromCluster(ctx, t, s)
	case r.options.DryRun != factory.DryRunClient || !errors.Is(err, kube.ErrNoCluster):
		return s.Values, err
	}
	// Rendering needs no cluster; only what the cluster would fill in is missing.
	r.factory.Notef("note: no cluster: namespace, queue and priority are not checked")
	return s.given(), nil
}

// needsJob refuses flags that need a job if the manifest has none, and --node-count if --set gives the job another number.
func (o *Options) needsJob(r render.Result) error {
	if r.Job >= 0 {
		if o.NodeCount != nil && len(o.Set) > 0 && r.NodeCount != *o.NodeCount {
			return errs.Usagef("--node-count is %d, and --set makes it %d", *o.NodeCount, r.NodeCount).WithAdvice("set only one of them")
		}
		return nil
	}
	var e *errs.Error
	switch {
	case o.DryRun == admission:
		if _, at := judged(r); at >= 0 {
			return nil
		}
		e = errs.Usagef("--dry-run cannot check the manifest: it has no job").Suggest(errs.Option("--dry-run=server").WithNote("validates the objects on the API server"))
	case o.Wait != "":
		e = errs.Usagef("--wait cannot be used with the manifest: it has no job").WithAdvice("leave --wait out")
	case o.Follow:
		e = errs.Usagef("--follow cannot be used with the manifest: it has no job").WithAdvice("leave --follow out")
	default:
		return nil
	}
	var have, versions []string
	for _, object := range r.Objects {
		kind := kinds.Text(object, "kind")
		if i := slices.IndexFunc(kinds.Jobs(), func(k kinds.Job) bool { return k.Kind == kind }); i >= 0 {
			// Another project has a kind of this name.
			versions = append(versions, kind+" of "+kinds.Jobs()[i].GroupVersion())
			kind += " of " + kinds.Text(object, "apiVersion")
		}
		have = append(have, kind)
	}
	if len(versions) == 0 {
		versions = kinds.JobNames()
	}
	return e.WithFact("found", strings.Join(have, ", ")).WithFact("supported", strings.Join(versions, ", "))
}

// noteRuns reports an object that makes jobs (a CronJob), and how to delete it: commands for jobs know its runs alone.
func (r *run) noteRuns(objects []map[string]any) bool {
	_, at := judged(render.Result{Job: -1, Objects: objects})
	if at < 0 {
		return false
	}
	kind, name := kinds.Text(objects[at], "kind"), kinds.Text(objects[at], "metadata", "name")
	r.factory.Notef("note: list-jobs shows the runs of %s %s, not the %s itself; kubectl delete %s %s deletes it", kind, name, kind, strings.ToLower(kind), name)
	return true
}

// finish does what --dry-run says: it prints the objects, checks them, or submits them.
func (r *run) finish(ctx context.Context, j job) error {
	if err := r.options.needsJob(j.Result); err != nil {
		return err
	}
	r.factory.Notes(j.Notices)
	if j.Job < 0 && r.options.DryRun != admission && !r.noteRuns(j.Objects) {
		names := kinds.JobNames()
		r.factory.Notef("note: the manifest has no job of a known kind (%s and %d others): list-jobs will not show it", strings.Join(names[:3], ", "), len(names)-3)
	}
	switch r.options.DryRun {
	case factory.DryRunClient:
		if err := r.servesAll(ctx, j.Objects); err != nil {
			return err
		}
		return r.print(j.Objects, "client dry run")
	case admission:
		return r.checkAdmission(ctx, j)
	}
	return r.submit(ctx, j)
}

// servesAll refuses objects of kinds that the cluster does not serve, as a submission would. It accepts objects when the
// cluster gives no answer, and always for a snapshot, which knows only the kinds it holds. Known kinds cost no request.
func (r *run) servesAll(ctx context.Context, objects []map[string]any) error {
	if r.cluster == nil || r.cluster.Snapshot != nil {
		return nil
	}
	for _, body := range objects {
		if _, err := discovery.ResourceOf(ctx, r.cluster.Client, body); errs.ExitOf(err) == errs.NotFound {
			return err
		}
	}
	return nil
}
