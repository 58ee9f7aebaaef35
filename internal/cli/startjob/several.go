package startjob

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/hyperpod-cli/hyperpod/internal/cli/collector"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// several takes a manifest with more than one job apart: each job by itself, and the other objects, nil for none. It returns
// no jobs for other manifests.
func several(t *parse.Template) (beside *parse.Template, jobs []*parse.Template) {
	main := kinds.Several(len(t.Docs), func(i int) (string, string) {
		return t.Docs[i].Get("apiVersion").Str(), t.Docs[i].Get("kind").Str()
	}, func(i int) bool {
		return t.Docs[i].Get("metadata").Get("labels").Get(kinds.PodGroupName).Str() != ""
	})
	if len(main) < 2 {
		return nil, nil
	}
	var others []int
	for i := range t.Docs {
		if len(main) > 0 && main[0] == i {
			jobs, main = append(jobs, t.Only(i)), main[1:]
		} else {
			others = append(others, i)
		}
	}
	if len(others) > 0 {
		beside = t.Only(others...)
	}
	return beside, jobs
}

// startSeveral does what --dry-run says with the jobs of a manifest. The other objects belong to none of them: they are
// created first, and stay when the jobs are deleted.
func (r *run) startSeveral(ctx context.Context, d definition, beside *parse.Template, jobs []*parse.Template) error {
	o, f := r.options, r.factory
	parts := jobs
	if beside != nil {
		parts = append(parts, beside)
	}
	of, namespace := make([]settings, len(parts)), ""
	var faults error // of every job
	for i, t := range parts {
		one := d
		one.template = t
		var err error
		if of[i], err = r.settings(one); err != nil {
			return err
		}
		if err := o.fitSeveral(of[i].Values, jobs); err != nil {
			return err
		}
		if _, err := r.renderEarly(t, of[i].given()); err != nil && t != beside {
			faults = errs.Also(faults, err)
		}
		switch stated := of[i].namespace; {
		case stated == "" || stated == namespace:
		case namespace == "":
			namespace = stated
		case t != beside:
			return errs.Usagef("the manifest has jobs of two namespaces: %s and %s", namespace, stated).
				WithAdvice("write one file for each namespace").Suggest(errs.Option("--namespace", "NAME").WithNote("is the namespace of all"))
		}
	}
	if faults != nil {
		return faults
	}
	for i := range of {
		of[i].namespace = cmp.Or(of[i].namespace, namespace)
	}
	f.Notef("%s", d.described)
	if o.DryRun == admission {
		defer collector.Grow()()
	}
	asking, stop := f.Deadline(o.Timeout).Bound(ctx)
	defer stop()
	s := &series{manifest: manifestName(d.template), template: d.template}
	var all []*swept
	for i, t := range parts {
		r.findings = nil
		v, err := r.resolve(asking, t, of[i])
		if err != nil {
			return err
		}
		result, err := render.Objects(t, v)
		if err != nil {
			return err
		}
		if t == beside {
			s.beside = &job{Result: result, namespace: v.Namespace}
			continue
		}
		if err := r.attach(&result); err != nil {
			return err
		}
		all = append(all, r.partOf(result, v.Namespace, nil))
	}
	if err := twice(all); err != nil {
		return err
	}
	return r.startSeries(ctx, s, all)
}

// manifestName is how messages name a manifest.
func manifestName(t *parse.Template) string {
	if name := filepath.Base(t.Source); t.Source != "" && name != "." {
		return name
	}
	return t.Name
}

// twice refuses jobs of one kind with the same name.
func twice(all []*swept) error {
	seen := map[string]bool{}
	for _, j := range all {
		name := fullName(j.Objects[j.Job])
		if seen[name] {
			return errs.Usagef("the manifest has %s twice", name).WithAdvice("give each job its own name")
		}
		seen[name] = true
	}
	return nil
}

// fitSeveral refuses flags that are about one job.
func (o *Options) fitSeveral(v values.Values, jobs []*parse.Template) error {
	flag := ""
	for name, given := range map[string]bool{
		"--edit": o.Edit, "--follow": o.Follow, "--idempotency-key": o.IdempotencyKey != "",
		"--replace": o.Replace, "--upload": o.Upload != "", "--workers": len(o.Workers.Given) > 0,
	} {
		if given && (flag == "" || name < flag) {
			flag = name
		}
	}
	if one := render.JobLevel(v); flag == "" && one != "" {
		flag = one.String()
	}
	if flag == "" && o.Name != "" {
		flag = setting.Name.String()
	}
	if flag == "" {
		return nil
	}
	var names []string
	for _, t := range jobs {
		names = append(names, t.Docs[0].Get("kind").Str()+" "+t.Docs[0].Get("metadata").Get("name").Str())
	}
	e := errs.Usagef("%s requires one job: the manifest has %d", flag, len(jobs)).WithFact("jobs", words.Some(names, 8))
	if flag == "--follow" {
		return e.WithAdvice("use --wait, and follow the log of one job with get-log NAME -f")
	}
	return e.WithAdvice("change the manifest, or write one file for each job")
}

// notCreatedOf returns the jobs of a manifest that do not exist yet, so that the same command can go on where it stopped. A
// job that exists with another definition is an error.
func (r *run) notCreatedOf(ctx context.Context, all []*swept) (missing []*swept, err error) {
	for _, j := range all {
		object := j.Objects[j.Job]
		res, err := discovery.ResourceOf(ctx, r.cluster.Client, object)
		if errs.ExitOf(err) == errs.NotFound && r.options.DryRun == admission {
			missing = append(missing, j) // a step says so
			continue
		}
		if err != nil {
			return nil, err
		}
		var found member
		err = r.cluster.Get(ctx, res, j.namespace, j.name(), &found)
		switch {
		case kube.IsNotFound(err), kube.IsForbidden(err), kube.IsNotServed(err):
			missing = append(missing, j)
		case err != nil:
			return nil, err
		case found.Metadata.Annotations[kinds.DefinitionAnnotation] != j.sum:
			return nil, errs.New(fullName(object)+" exists already", "it was made from another definition").WithCode(errs.No).
				Suggest(errs.Run("cancel-job", j.name()))
		}
	}
	return missing, nil
}

// keepExisting leaves out the objects beside the jobs that an earlier start created.
func (r *run) keepExisting(ctx context.Context, s *series) error {
	if s.beside == nil {
		return nil
	}
	var missing []map[string]any
	for _, o := range s.beside.Objects {
		res, err := discovery.ResourceOf(ctx, r.cluster.Client, o)
		if err != nil {
			return err
		}
		found := map[string]any{}
		err = r.cluster.Get(ctx, res, s.beside.namespace, kinds.Text(o, "metadata", "name"), &found)
		switch {
		case kube.IsNotFound(err):
			missing = append(missing, o)
		case err != nil:
			return err
		default:
			r.factory.Notef("note: %s exists already and stays as it is", fullName(o))
		}
	}
	s.beside.Objects = missing
	if len(missing) == 0 {
		s.beside = nil
	}
	return nil
}
