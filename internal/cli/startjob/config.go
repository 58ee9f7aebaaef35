package startjob

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/recipe"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// source is a definition that is no template: it says values, over which the
// flags are laid.
type source struct {
	name  string // the file, as people gave it
	under func(values.Values) values.Values
	// namespace is the file's, which -n overrides.
	namespace string
}

// fromConfig reads a configuration file of the official CLI v2. The template is
// that of the job's kind.
func (o *Options) fromConfig(f *factory.Factory, data []byte) (*parse.Template, error) {
	flags, err := o.values()
	if err != nil {
		return nil, err
	}
	flags.Namespace = f.Global.Namespace
	file, err := v2config.Read(o.File, data, flags)
	if err != nil {
		return nil, err
	}
	f.Notes(file.Notices)
	o.take(file.Values, file.Under)
	o.SchedulerType = cmp.Or(o.SchedulerType, file.SchedulerType)
	return catalogue.Find(o.kindTemplate(), catalogue.Dirs{})
}

// fromRecipe reads a recipe of AWS's HyperPod recipes.
func (o *Options) fromRecipe(f *factory.Factory) (*parse.Template, error) {
	r, err := recipe.Read(o.Recipe, o.OverrideParameters, recipe.Options{
		HyperPod: o.kindTemplate() == hyperPodTemplate, InstanceType: o.InstanceType})
	if err != nil {
		return nil, err
	}
	f.Notes(r.Notices)
	o.take(r.Values, r.Under)
	return r.Template, nil
}

// take remembers a file's values and fills in what the flags leave open and the
// cluster is asked about.
func (o *Options) take(v values.Values, under func(values.Values) values.Values) {
	o.base = &source{name: cmp.Or(o.File, o.Recipe), namespace: v.Namespace, under: func(flags values.Values) values.Values {
		out := under(flags)
		if o.changed("auto-resume") {
			out.AutoResume = o.AutoResume
			if !o.AutoResume && flags.MaxRetry == nil {
				out.MaxRetry = nil
			}
		}
		if o.changed("deep-health-check-passed-nodes-only") {
			out.DeepHealthOnly = o.DeepHealthOnly
		}
		// Namespace, queue and priority are the cluster's to check.
		out.Namespace, out.Queue, out.Priority = "", "", ""
		return out
	}}
	o.Name = cmp.Or(o.Name, v.Name)
	o.Queue, o.Priority = cmp.Or(o.Queue, v.Queue), cmp.Or(o.Priority, v.Priority)
}

// overFile lays the flags over the file's values, where there is such a file.
func (o *Options) overFile(v values.Values) values.Values {
	if o.base == nil {
		return v
	}
	return o.base.under(v)
}

// statedNamespace is the namespace that the definition itself states.
func (o *Options) statedNamespace(t *parse.Template, v values.Values) string {
	if o.base != nil {
		return o.base.namespace
	}
	return resolve.Namespace(t, v)
}

// describe says which definition is used.
func (o *Options) describe(t *parse.Template) string {
	if o.base != nil {
		return fmt.Sprintf("using %s with the embedded template %s", o.base.name, t.Name)
	}
	return describe(t)
}

const hyperPodTemplate = "hyperpod-pytorch"

// kindTemplates are the templates that --job-kind stands for, by v2's names.
var kindTemplates = [][2]string{
	{"kubeflow/PyTorchJob", "pytorch"},
	{"kubeflow/MPIJob", "mpi"},
	{"sagemaker/HyperPodPyTorchJob", hyperPodTemplate},
}

func jobKinds() []string {
	var out []string
	for _, k := range kindTemplates {
		out = append(out, k[0])
	}
	return out
}

// fullKind completes the name of a kind that is given without its group.
func fullKind(name string) string {
	for _, k := range jobKinds() {
		if _, kind, _ := strings.Cut(k, "/"); strings.EqualFold(kind, name) {
			return k
		}
	}
	return name
}

// kindTemplate is the template for --job-kind, PyTorchJob's when it is not given.
func (o *Options) kindTemplate() string {
	for _, k := range kindTemplates {
		if k[0] == o.JobKind {
			return k[1]
		}
	}
	return DefaultTemplate
}

// checkKind refuses a definition of another kind than --job-kind says.
func (o *Options) checkKind(t *parse.Template) error {
	if o.JobKind == "" {
		return nil
	}
	_, want, _ := strings.Cut(o.JobKind, "/")
	for _, kind := range t.Kinds() {
		if kind == want {
			return nil
		}
	}
	return errs.Usagef("%s makes a %s, and --job-kind says %s", t.Source, strings.Join(t.Kinds(), " and "), want).
		WithAdvice("leave --job-kind out")
}

// validateRecipe checks the flags of recipes.
func (o *Options) validateRecipe() error {
	if o.OverrideParameters == "" && o.Recipe == "" {
		return nil
	}
	if o.Recipe == "" {
		return errs.Usagef("--override-parameters is for --recipe").WithTry("--recipe FILE --override-parameters JSON")
	}
	for _, c := range [][2]string{{"--config-file", o.File}, {"--template", o.Template}} {
		if c[1] != "" {
			return twoSources("--recipe", c[0])
		}
	}
	if o.JobKind == "kubeflow/MPIJob" {
		return errs.Usagef("recipes are PyTorch jobs, not MPIJobs").WithTry("--job-kind PyTorchJob", "--job-kind HyperPodPyTorchJob")
	}
	var object map[string]any
	if o.OverrideParameters != "" && json.Unmarshal([]byte(o.OverrideParameters), &object) != nil {
		return errs.Usagef("--override-parameters is not understood: not a JSON object").
			WithTry(`--override-parameters '{"recipes.trainer.num_nodes": 2, "container": "IMAGE"}'`)
	}
	return nil
}
