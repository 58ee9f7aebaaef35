package startjob

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/newerfields"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/recipe"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/sbatch"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// DefaultTemplate is the template if nothing else defines the job and the settings name no other.
const DefaultTemplate = "pytorch"

// definition is what defines a job before the flags apply.
type definition struct {
	template *parse.Template
	// described says on stderr which definition is used.
	described string
	// file holds what a configuration file or a recipe states; nil for a template or manifest.
	file *fileValues
	// namespace is where a repeated job ran; empty for every other definition.
	namespace string
}

// fileValues are the values of a file that is neither a template nor a manifest.
type fileValues struct {
	values.Values
	schedulerType string
	// under returns the file's values with those of the flags over them.
	under func(flags values.Values) values.Values
}

// define finds the definition of the job.
func (r *run) define(ctx context.Context) (definition, error) {
	o := r.options
	dirs := r.factory.TemplateDirs()
	switch {
	case o.From != "":
		return r.repeat(ctx)
	case o.File != "":
		return r.readFile(ctx)
	case o.Recipe != "":
		return r.readRecipe(ctx)
	case o.Template != "":
		return described(r.allowing(r.named(ctx, o.Template)))
	case o.JobKind != "":
		return described(r.allowing(catalogue.Find(o.kindTemplate(), dirs)))
	}
	work, err := r.workingFile()
	if work != nil || err != nil {
		return described(r.allowing(work, err))
	}
	t, err := catalogue.Find(o.Name, catalogue.Dirs{User: dirs.User})
	if errs.ExitOf(err) != errs.NotFound {
		return described(r.allowing(t, err))
	}
	return described(r.allowing(r.named(ctx, cmp.Or(r.factory.Config.DefaultTemplate, DefaultTemplate))))
}

// described makes a definition of a template.
func described(t *parse.Template, err error) (definition, error) {
	if err != nil {
		return definition{}, err
	}
	return definition{template: t, described: "using " + source(t)}, nil
}

// source names a template for a notice.
func source(t *parse.Template) string {
	if t.Source == catalogue.Embedded {
		return fmt.Sprintf("template %s (embedded)", t.Name)
	}
	return t.Source
}

// named finds a template by its name, including the team's.
func (r *run) named(ctx context.Context, name string) (*parse.Template, error) {
	return findtemplate.Find(ctx, r.factory, name, func(ctx context.Context, c *factory.Cluster) (string, error) {
		ns, err := r.inNamespace(ctx, c, r.factory.Global.Namespace, kinds.PyTorchJob.Resource)
		return ns.Name, err
	})
}

// readFile reads --config-file: a manifest, a template, a folder of manifests, or a configuration file of the official
// CLI v2. "-" is the standard input.
func (r *run) readFile(ctx context.Context) (definition, error) {
	file := r.options.File
	if catalogue.IsFolder(file) {
		return described(r.readFolder(ctx, file))
	}
	data, err := r.factory.ReadNamed(ctx, file)
	switch {
	case err != nil:
		return definition{}, err
	case v2config.Is(data):
		return r.readConfig(data)
	case sbatch.Is(data):
		return r.readSbatch(data)
	}
	return described(render.Read(baseName(file), file, data, r.allow, r.options.gave))
}

// readConfig reads a configuration file of the official CLI v2. The template is that of the job's kind.
func (r *run) readConfig(data []byte) (definition, error) {
	o := r.options
	flags, err := o.values()
	if err != nil {
		return definition{}, err
	}
	flags.Namespace = r.factory.Global.Namespace
	file, err := v2config.Read(o.File, data, flags)
	if err != nil {
		return definition{}, err
	}
	r.factory.Notes(file.Notices)
	t, err := r.allowing(catalogue.Find(o.kindTemplate(), catalogue.Dirs{}))
	if err != nil {
		return definition{}, err
	}
	return definition{template: t, described: "using " + o.File + " with " + source(t),
		file: &fileValues{Values: file.Values, schedulerType: file.SchedulerType, under: file.Under}}, nil
}

// readSbatch reads a script of Slurm. The template is that of the job's kind.
func (r *run) readSbatch(data []byte) (definition, error) {
	o := r.options
	script, err := sbatch.Read(o.File, data)
	if err != nil {
		return definition{}, err
	}
	r.factory.Notes(script.Notices)
	for _, hint := range [][3]string{{"partition", script.Partition, "queue-name"}, {"account", script.Account, "namespace"}, {"QOS", script.QOS, "priority"}} {
		if hint[1] != "" {
			r.factory.Notef("note: %s %s exists only on Slurm: --%s chooses its counterpart", hint[0], hint[1], hint[2])
		}
	}
	t, err := r.allowing(catalogue.Find(o.kindTemplate(), catalogue.Dirs{}))
	if err != nil {
		return definition{}, err
	}
	return definition{template: t, described: "using " + o.File + " with " + source(t), file: &fileValues{Values: script.Values, under: script.Under}}, nil
}

// readRecipe reads a recipe of AWS's HyperPod recipes.
func (r *run) readRecipe(ctx context.Context) (definition, error) {
	o := r.options
	found, err := factory.Interruptible(ctx, func() (recipe.Recipe, error) {
		return recipe.Read(o.Recipe, o.OverrideParameters, recipe.Options{
			HyperPod: o.kindTemplate() == hyperPodTemplate, InstanceType: o.InstanceType})
	})
	if err != nil {
		return definition{}, err
	}
	r.factory.Notes(found.Notices)
	found.Template.Allow = r.allow
	return definition{template: found.Template, described: "using " + o.Recipe + " with " + source(found.Template),
		file: &fileValues{Values: found.Values, under: found.Under}}, nil
}

// repeat makes a template of an earlier job. It starts in the namespace of that job unless another one is given.
func (r *run) repeat(ctx context.Context) (definition, error) {
	o, f := r.options, r.factory
	from, err := o.repeated()
	if err != nil {
		return definition{}, err
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return definition{}, err
	}
	job, err := findjob.FindIn(ctx, f, c, cmp.Or(from.Namespace, f.Global.Namespace), "get", from.Name, from.Kind)
	if err != nil {
		return definition{}, err
	}
	name := job.Name()
	t, notes, err := findtemplate.FromJob(ctx, c, job, convert.Conversion{Name: name, Source: "job " + o.From, Repeat: true})
	if err != nil {
		return definition{}, err
	}
	f.Notes(notes)
	t.Allow = newerfields.Known(job.Object, r.allow)
	into := cmp.Or(f.Global.Namespace, job.Namespace)
	if gone := submit.Together(annotations(job.Object)); o.Replace && o.jobName() == name && into == job.Namespace && len(gone) > 0 {
		e := errs.New("cannot replace job "+name+" from itself", "the objects that were submitted with it are deleted with it")
		for _, ref := range gone {
			e.WithFact("deleted", ref.String())
		}
		return definition{}, e.Suggest(errs.Run("start-job", "-f", "MANIFEST", "--replace"), errs.Run("start-job", "--from", o.From, "--name", name+"-2"))
	}
	return definition{template: t, described: "using " + source(t), namespace: job.Namespace}, nil
}

func annotations(object map[string]any) map[string]string {
	return map[string]string{kinds.TogetherAnnotation: kinds.Text(object, "metadata", "annotations", kinds.TogetherAnnotation)}
}

// allowing returns the template with the run's decision about unknown fields. err is the error of reading it.
func (r *run) allowing(t *parse.Template, err error) (*parse.Template, error) {
	return newerfields.Template(t, err, r.allow)
}
