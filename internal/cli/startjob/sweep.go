package startjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// longestSweepName leaves room for the names of pods, such as NAME-worker-15, in 63 characters.
const longestSweepName = 50

// series are jobs that are submitted together: those of a sweep, or of a manifest with several.
type series struct {
	name     string // of the sweep
	manifest string // the name of the manifest, "" for a sweep
	points   []sweep.Point
	names    []string
	template *parse.Template
	// beside are the objects of the manifest beside its jobs.
	beside *job
}

// title names the jobs in messages.
func (s *series) title() string {
	if s.manifest != "" {
		return s.manifest
	}
	return "sweep " + s.name
}

// others are the objects that are created before the jobs.
func (s *series) others() []map[string]any {
	if s.beside == nil {
		return nil
	}
	return s.beside.Objects
}

// series returns the sweep of the flags, nil without one.
func (r *run) series(t *parse.Template, v values.Values) (*series, error) {
	points, err := r.options.points()
	if err != nil || len(points) == 0 {
		return nil, err
	}
	name := cmp.Or(v.Name, resolve.Name(t, v))
	switch {
	case name == "":
		return nil, nameRequired()
	case len(name) > 63:
		return nil, factory.Invalid("name", name, "must have at most 63 characters, for a sweep")
	}
	for _, p := range points[0] {
		assigned := slices.ContainsFunc(v.Set, func(a fieldpath.Assignment) bool { return a.Key == p.Name })
		if _, set := v.Environment[p.Name]; set || assigned {
			return nil, errs.Usagef("--sweep and another flag set %s", p.Name).WithAdvice("remove one of them")
		}
	}
	if secret := secretNames(points[0].Map()); len(secret) > 0 {
		r.factory.Notef("warning: everybody who can read the jobs can read %s", strings.Join(secret, ", "))
	}
	return &series{name: name, points: points, names: sweep.Names(name, points, longestSweepName), template: t}, nil
}

// at returns the values of one job: those of all jobs with its name and parameters.
func (s *series) at(v values.Values, i int) values.Values {
	p := s.points[i]
	v.Name = s.names[i]
	v.Environment = merged(v.Environment, p.Map())
	v.Labels = merged(v.Labels, p.Labels(s.name))
	v.Annotations = merged(v.Annotations, map[string]string{kinds.SweepAnnotation: p.String(), kinds.SweepPositionAnnotation: strconv.Itoa(i)})
	v.Set, v.Swept = slices.Clip(v.Set), nil
	for _, one := range p {
		v.Swept = append(v.Swept, one.Name)
		if s.template.Knows(one.Name) {
			v.Set = append(v.Set, fieldpath.Assignment{Key: one.Name, Value: one.Value})
		}
	}
	return v
}

// swept is a job of a series with its parameters.
type swept struct {
	job
	point sweep.Point
	// findings are what the admission check reports of the lookups for the job.
	findings []check.Step
	// sum distinguishes jobs that were made from other definitions.
	sum string
}

func (j *swept) name() string { return kinds.Text(j.Objects[j.Job], "metadata", "name") }

// jobs renders the jobs.
func (r *run) sweptJobs(s *series, v values.Values) ([]*swept, error) {
	var out []*swept
	for i := range s.points {
		result, err := render.Objects(s.template, s.at(v, i))
		if err != nil {
			return nil, err
		}
		if result.Job < 0 {
			return nil, errs.Usagef("--sweep cannot be used with the manifest: it has no job").WithAdvice("leave --sweep out")
		}
		if err := r.attach(&result); err != nil {
			return nil, err
		}
		if err := r.options.needsJob(result); err != nil {
			return nil, err
		}
		out = append(out, r.partOf(result, v.Namespace, s.points[i]))
	}
	return out, ownObjects(out)
}

// partOf makes a job of a series, which remembers its definition.
func (r *run) partOf(result render.Result, namespace string, point sweep.Point) *swept {
	j := &swept{job: job{Result: result, namespace: namespace}, point: point, sum: submit.Fingerprint(result.Objects[result.Job]), findings: r.findings}
	annotations, _ := kinds.At(result.Objects[result.Job], "metadata", "annotations").(map[string]any)
	annotations[kinds.DefinitionAnnotation] = j.sum
	return j
}

// ownObjects refuses a manifest whose jobs would share an object: it would be deleted with the first job.
func ownObjects(list []*swept) error {
	owner := map[string]bool{}
	for _, j := range list {
		for i, o := range j.Objects {
			name := submit.Object{Resource: kinds.Resource{Kind: kinds.Text(o, "kind")}, Body: o}.String()
			if i != j.Job && owner[name] {
				return errs.Usagef("--sweep cannot be used with the manifest: its jobs would share %s", name).
					WithAdvice("create it beforehand, or write ${JOB_NAME} into its name")
			}
			owner[name] = true
		}
	}
	return nil
}

// startSweep does what --dry-run says with the jobs of a sweep.
func (r *run) startSweep(ctx context.Context, s *series, v values.Values) error {
	all, err := r.sweptJobs(s, v)
	if err != nil {
		return err
	}
	return r.startSeries(ctx, s, all)
}

// startSeries does what --dry-run says with jobs that are submitted together.
func (r *run) startSeries(ctx context.Context, s *series, all []*swept) error {
	r.noticesOf(s, all)
	if r.options.DryRun == factory.DryRunClient {
		objects := slices.Clone(s.others())
		for _, j := range all {
			objects = append(objects, j.Objects...)
		}
		served := all[0].Objects
		if s.manifest != "" {
			served = objects
		}
		if err := r.servesAll(ctx, served); err != nil {
			return err
		}
		return r.print(objects, "client dry run")
	}
	missing, err := r.notCreated(ctx, s, all)
	if err != nil {
		return err
	}
	if r.options.DryRun == admission {
		return r.checkSeries(ctx, s, all, missing)
	}
	exist := len(all) - len(missing)
	if len(missing) == 0 {
		r.factory.Notef("%s of %s %s already", words.All(exist, "job", "jobs"), s.title(), words.Verb(exist, "exists", "exist"))
		return r.awaitSeries(ctx, s, all)
	}
	first := missing
	if n := r.options.MaxParallel; n > 0 {
		first = missing[:min(n, len(missing))]
	}
	if err := r.mayFill(ctx, missing[0].job); err != nil {
		return err
	}
	answer := r.foreseeSeries(ctx, s, first, len(existingOf(all, missing)), len(missing)-len(first))
	if ok, err := r.confirmedSweep(ctx, answer); !ok {
		return err
	}
	if err := r.fillClaim(ctx, missing[0].job, r.factory.Deadline(r.options.Timeout)); err != nil {
		return err
	}
	if exist > 0 {
		if err := r.keepExisting(ctx, s); err != nil {
			return err
		}
	}
	if r.options.MaxParallel > 0 {
		err = r.startInTurn(ctx, s, missing, answer)
	} else {
		err = r.startAll(ctx, s, missing, answer)
	}
	if err != nil || r.options.DryRun != factory.DryRunNone {
		return err
	}
	return r.awaitSeries(ctx, s, all)
}

// noticesOf prints what rendering says, each notice once.
func (r *run) noticesOf(s *series, all []*swept) {
	if s.beside != nil {
		r.once(s.beside.Notices...)
	}
	for _, j := range all {
		r.once(j.Notices...)
	}
}

// startAll creates the jobs in their order, which is that of their queue.
func (r *run) startAll(ctx context.Context, s *series, missing []*swept, answer *sweepAnswer) error {
	var made []map[string]any
	if s.beside != nil {
		objects, err := r.create(ctx, *s.beside)
		if err != nil {
			return err
		}
		made = objects
	}
	for i, j := range missing {
		objects, err := r.create(ctx, j.job)
		if err != nil {
			return r.notAll(s, missing, i, err)
		}
		made = append(made, objects...)
	}
	if r.factory.Global.Output != "" {
		dry := ""
		if r.options.DryRun == factory.DryRunServer {
			dry = "server dry run"
		}
		if err := r.print(made, dry); err != nil {
			return err
		}
	}
	r.reportSweep(answer)
	return nil
}

// create creates the objects of one job and prints its line, where -o asks for no document of all.
func (r *run) create(ctx context.Context, j job) ([]map[string]any, error) {
	req, err := r.request(ctx, j)
	if err != nil {
		return nil, err
	}
	done, err := submitted(ctx, r.cluster, req)
	if err != nil {
		return nil, err
	}
	switch {
	case r.factory.Global.Output != "":
		return done.Objects, nil
	case req.DryRun:
		err = r.print(done.Objects, "server dry run")
	default:
		err = r.printResult(done, j)
	}
	return done.Objects, cmp.Or(err, r.factory.IO.Flush())
}

// notAll returns the error of a series that stopped in the middle.
func (r *run) notAll(s *series, missing []*swept, created int, cause error) error {
	if len(missing) == 1 || r.options.DryRun != factory.DryRunNone {
		return cause
	}
	names := func(list []*swept) string { return words.Clip(strings.Join(jobNames(list), ", "), 200) }
	code := errs.ExitOf(cause)
	e := errs.Wrap(cause, fmt.Sprintf("%s is incomplete: %d of %s created", s.title(), created, words.Count(len(missing), "job", "jobs"))).WithCode(code)
	var interrupted *errs.Error
	if errors.As(cause, &interrupted) && code == errs.Interrupted {
		e.Why = "interrupted"
	}
	if created > 0 {
		e.WithFact("created", names(missing[:created]))
	}
	e.WithFact("not created", names(missing[created:])).WithAdvice("run the same command again: it creates the jobs that are missing")
	if created > 0 {
		args := []string{"--sweep", s.name}
		if s.manifest != "" {
			args = jobNames(missing[:created])
		}
		e.Suggest(errs.Run("cancel-job", args...).WithNote("cancels those that were created"))
	}
	return e
}

func jobNames(list []*swept) (out []string) {
	for _, j := range list {
		out = append(out, j.name())
	}
	return out
}

// member is a job of the cluster that belongs to a sweep or a manifest.
type member struct {
	Metadata struct {
		Name        string            `json:"name"`
		UID         string            `json:"uid"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// notCreated returns the jobs that do not exist yet, so that the same command can go on where it
// stopped. A job with the same parameters that was made from another definition is an error.
func (r *run) notCreated(ctx context.Context, s *series, all []*swept) ([]*swept, error) {
	if s.manifest != "" {
		return r.notCreatedOf(ctx, all)
	}
	first := all[0]
	res, err := discovery.ResourceOf(ctx, r.cluster.Client, first.Objects[first.Job])
	if err != nil {
		return nil, err
	}
	page, err := kube.List[member](ctx, r.cluster.Client, res, first.namespace, kube.ListOptions{LabelSelector: kinds.SweepLabel + "=" + s.name})
	if err != nil && !kube.IsForbidden(err) && !kube.IsNotServed(err) {
		return nil, err
	}
	found := map[string]member{}
	for _, m := range page.Items {
		_, p := sweep.Of(m.Metadata.Labels, m.Metadata.Annotations)
		found[p.String()] = m
	}
	var missing []*swept
	for _, j := range all {
		m, exists := found[j.point.String()]
		if !exists {
			missing = append(missing, j)
			continue
		}
		if sum := m.Metadata.Annotations[kinds.DefinitionAnnotation]; sum != "" && sum != j.sum {
			return nil, errs.New("sweep "+s.name+" exists with another definition", m.Metadata.Name+" was made from other flags or another manifest").WithCode(errs.No).
				Suggest(errs.Option("--name", s.name+"-2"), errs.Run("cancel-job", "--sweep", s.name))
		}
	}
	return missing, nil
}
