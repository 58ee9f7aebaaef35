package startjob

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Run renders the job and submits it.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	if _, err := f.Format(); err != nil {
		return err // before anything changes
	}
	t, err := o.definition(ctx, f)
	if err != nil {
		return err
	}
	if err := o.checkKind(t); err != nil {
		return err
	}
	values, err := o.values()
	if err != nil {
		return err
	}
	switch prefix := resolve.GenerateName(t, values); {
	case o.GenerateName:
		values.Name = o.Name + "-" + o.suffix()
	case values.Name == "" && prefix != "":
		// Named here, not by the server: only then a lost answer can be looked after.
		values.Name = prefix + o.suffix()
	}
	o.annotate(&values, t)
	// What is wrong with the input is found before the cluster is asked anything;
	// only an instance type that the table does not have may still be the cluster's.
	if _, known := instances.Lookup(values.InstanceType); known || values.InstanceType == "" {
		early, err := render.Objects(t, values)
		if err != nil {
			return err
		}
		if err := o.needsJob(early); err != nil && !o.Edit {
			return err
		}
	}
	f.Notef("%s", o.describe(t))

	if o.DryRun == admission {
		defer admissioncheck.Grow()()
	}
	cluster, err := f.Cluster()
	if err != nil {
		if o.DryRun != factory.DryRunClient || !errors.Is(err, kube.ErrNoCluster) {
			return err
		}
		// Rendering needs no cluster; only what a cluster would fill in is missing.
		f.Notef("note: no cluster to ask: namespace, queue and priority are as given")
		values.Namespace = cmp.Or(f.Global.Namespace, o.statedNamespace(t, values))
		if o.SchedulerType == "None" {
			values.PodPriorityClass = o.Priority
		} else {
			values.Queue, values.Priority = o.Queue, o.Priority
		}
	} else if err := o.fillIn(ctx, cluster, t, &values); err != nil {
		return err
	}
	result, err := render.Objects(t, values)
	if err != nil {
		return err
	}
	if o.Edit {
		return o.editAndSubmit(ctx, cluster, t, values, result)
	}
	o.again = func(change remedy.Change) (map[string]any, remedy.Made, error) {
		return findtemplate.Changed(t, values, change)
	}
	return o.finish(ctx, cluster, values, result)
}

// needsJob refuses what is only for a job, where the manifest has none.
func (o *Options) needsJob(r render.Result) error {
	if r.Job >= 0 {
		return nil
	}
	var e *errs.Error
	switch {
	case o.DryRun == admission:
		e = errs.Usagef("the manifest has no job whose start could be checked").WithTry("--dry-run=server   # the cluster looks at the objects")
	case o.Wait != "":
		e = errs.Usagef("the manifest has no job to wait for").WithAdvice("leave --wait out")
	case o.Follow:
		e = errs.Usagef("the manifest has no job to follow").WithAdvice("leave --follow out")
	default:
		return nil
	}
	var have []string
	for _, object := range r.Objects {
		have = append(have, kinds.Text(object, "kind"))
	}
	return e.WithFact("it has", strings.Join(have, ", ")).WithFact("jobs are", strings.Join(kinds.JobNames(), ", "))
}

// finish does with the finished objects what --dry-run says: prints them, checks
// them, or submits them. c may be nil only where the cluster is not asked.
func (o *Options) finish(ctx context.Context, c *factory.Cluster, v values.Values, r render.Result) error {
	if err := o.needsJob(r); err != nil {
		return err
	}
	o.Factory.Notes(r.Notices)
	if r.Job < 0 {
		o.Factory.Notef("note: the manifest has no job of a kind that is known here (%s): it is sent as it is, and list-jobs will not show it", strings.Join(kinds.JobNames(), ", "))
	}
	switch o.DryRun {
	case factory.DryRunClient:
		if err := o.servesAll(ctx, c, r); err != nil {
			return err
		}
		return o.print(r.Objects, "client dry run")
	case admission:
		return o.checkAdmission(ctx, c, v, r)
	}
	return o.submit(ctx, c, v, r)
}

// servesAll refuses objects of kinds that the cluster says it does not have, as a
// submission would. Without an answer only the submission can tell, and a snapshot
// knows the kinds of what it holds only. Kinds of the own table cost no request.
func (o *Options) servesAll(ctx context.Context, c *factory.Cluster, r render.Result) error {
	if c == nil || c.Snapshot != nil {
		return nil
	}
	for _, body := range r.Objects {
		if _, err := discovery.ResourceOf(ctx, c.Client, body); errs.ExitOf(err) == errs.NotFound {
			return err
		}
	}
	return nil
}

// fillIn asks the cluster for what the user left open.
func (o *Options) fillIn(ctx context.Context, c *factory.Cluster, t *parse.Template, v *values.Values) error {
	f := o.Factory
	kind := jobKind(t)
	stated := o.statedNamespace(t, *v)
	ns, err := o.namespace(ctx, c, cmp.Or(f.Global.Namespace, stated), kind.Resource)
	if err != nil {
		return err
	}
	if stated != "" && stated != ns.Name {
		f.Notef("note: --namespace %s is used, not %s as in the manifest", ns.Name, stated)
	}
	v.Namespace = ns.Name
	if note := resumeNote(v.AutoResume, ns.Name); note != "" {
		f.Notef("note: %s", note)
	}
	if err := o.lookAtNodes(ctx, c, ns, v); err != nil {
		return err
	}
	if o.SchedulerType == "SageMaker" && !ns.Managed {
		return errs.New(fmt.Sprintf("namespace %s is not managed by SageMaker", ns.Name), "it has no team quota").
			WithTry("--scheduler-type Kueue", "--scheduler-type None").WithAdvice("leave --scheduler-type out, or say another")
	}
	if o.SchedulerType != "None" {
		queue, err := discovery.Queue(ctx, c.Client, ns, cmp.Or(o.Queue, resolve.Label(t, *v, kinds.QueueLabel)))
		if err != nil {
			if !o.excuse(err, "Queue") {
				return err
			}
			queue.Name = cmp.Or(o.Queue, resolve.Label(t, *v, kinds.QueueLabel))
		}
		f.Notes(queue.Notes)
		v.Queue = queue.Name
	}
	if o.SchedulerType == "None" || o.SchedulerType == "Kueue" && o.Priority != "" && v.Queue == "" {
		v.PodPriorityClass = o.Priority
		return nil
	}
	wanted := cmp.Or(o.Priority, resolve.Label(t, *v, kinds.PriorityLabel))
	if wanted == "" && v.Queue == "" {
		return nil
	}
	priority, err := discovery.Priority(ctx, c.Client, wanted)
	if err != nil {
		if !o.excuse(err, "PriorityClass") {
			return withoutPriority(err)
		}
		priority.Name = wanted
	}
	if wanted != "" || len(jobKindsOf(t)) > 0 {
		f.Notes(priority.Notes)
	}
	v.Priority = priority.Name
	return nil
}

// withoutPriority adds to the error about a priority class that there need not be
// one.
func withoutPriority(err error) error {
	var e *errs.Error
	if errors.As(err, &e) && e.Code == errs.NotFound {
		return e.WithAdvice("leave --priority out to rank lowest")
	}
	return err
}

// jobKind is the kind of job a template makes, PyTorchJob where it is none that
// is known.
func jobKind(t *parse.Template) kinds.Job {
	if all := jobKindsOf(t); len(all) > 0 {
		return all[0]
	}
	return kinds.PyTorchJob
}

// jobKindsOf are the kinds of job among those of a template.
func jobKindsOf(t *parse.Template) (out []kinds.Job) {
	for _, name := range t.Kinds() {
		if k, ok := kinds.JobNamed(name); ok {
			out = append(out, k)
		}
	}
	return out
}

// suffix makes a generated name new; with an idempotency key it is the same for
// the same key, so that a second start finds the first one's job.
func (o *Options) suffix() string {
	if o.IdempotencyKey == "" {
		return strings.ToLower(rand.Text()[:5])
	}
	sum := sha256.Sum256([]byte(o.Name + "\x00" + o.IdempotencyKey))
	return hex.EncodeToString(sum[:])[:8]
}

func (o *Options) annotate(v *values.Values, t *parse.Template) {
	if v.Annotations == nil {
		v.Annotations = map[string]string{}
	}
	set := func(key, value string) {
		if _, given := v.Annotations[key]; !given && value != "" {
			v.Annotations[key] = value
		}
	}
	set(kinds.TemplateAnnotation, t.Name)
	set(kinds.CreatedByAnnotation, o.Factory.User())
	set(kinds.IdempotencyAnnotation, o.IdempotencyKey)
	set(kinds.CommandAnnotation, o.command)
}

func (o *Options) submit(ctx context.Context, c *factory.Cluster, v values.Values, r render.Result) error {
	f := o.Factory
	req := submit.Request{
		Namespace: v.Namespace, Key: o.IdempotencyKey, DryRun: o.DryRun == factory.DryRunServer, Job: r.Job, Replace: o.Replace,
		Manager: "hyperpod-" + strings.ToLower(rand.Text()[:10]),
	}
	for _, body := range r.Objects {
		res, err := discovery.ResourceOf(ctx, c.Client, body)
		if err != nil {
			return err
		}
		req.Objects = append(req.Objects, submit.Object{Resource: res, Body: body})
	}
	o.end = f.Now().Add(o.Timeout)
	if o.Replace {
		if err := o.makeRoom(ctx, c, req); err != nil {
			return err
		}
	}
	done, err := submit.Submit(ctx, c, req)
	if err != nil {
		return err
	}
	if done.Reused {
		f.Notef("note: an earlier start with this idempotency key had created it")
	}
	if req.DryRun {
		return o.print(done.Objects, "server dry run")
	}
	if f.Global.Output != "" {
		err = o.print(done.Objects, "")
	} else {
		err = o.report(done, r)
	}
	if err != nil || o.Wait == "" && !o.Follow {
		return err
	}
	if err := f.IO.Flush(); err != nil {
		return err
	}
	return o.await(ctx, c, req.Objects[r.Job], done.Objects[r.Job])
}

// name returns the name of the job, or of the first object where there is none.
func name(r render.Result) string {
	return submit.Object{Body: r.Objects[max(r.Job, 0)]}.Name()
}

// print shows objects in the format of -o; without one, a line each that says
// what was only tried.
func (o *Options) print(objects []map[string]any, tried string) error {
	f := o.Factory
	if f.Global.Output == "" {
		for _, object := range objects {
			if _, err := fmt.Fprintf(f.IO.Out, "%s created (%s)\n", full(object), tried); err != nil {
				return err
			}
		}
		return nil
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	var document any = objects[0]
	if len(objects) > 1 {
		list := make(output.Objects, len(objects))
		for i := range objects {
			list[i] = objects[i]
		}
		document = list
	}
	names := func() (out []string) {
		for _, object := range objects {
			out = append(out, full(object))
		}
		return out
	}
	table := func() output.Table {
		t := output.Table{Columns: []output.Column{{Title: "KIND"}, {Title: "NAME"}}}
		for _, object := range objects {
			t.Rows = append(t.Rows, output.T(kinds.Text(object, "kind"), kinds.Text(object, "metadata", "name")))
		}
		return t
	}
	return output.Print(f.IO, format, document, table, names)
}
