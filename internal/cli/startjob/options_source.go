package startjob

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/newerfields"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Source holds the flags that define the job. Fields have the names of their flags.
type Source struct {
	Name         string
	GenerateName bool
	File         string // --config-file
	Template     string
	JobKind      string
	From         string // [NAMESPACE/]NAME of a job of the cluster
	Recipe       string
	// OverrideParameters is a JSON object that overrides the recipe.
	OverrideParameters string
	Set                []string
	AllowUnset         []string
	AllowUnknown       bool
	// FileCount is how often --config-file was given.
	FileCount int
}

// Title implements factory.OptionGroup.
func (*Source) Title() string { return "What to start" }

// AddFlags implements factory.OptionGroup.
func (s *Source) AddFlags(cmd *cobra.Command) {
	factory.AddJobNameFlag(cmd, &s.Name)
	fs := cmd.Flags()
	fs.BoolVar(&s.GenerateName, "generate-name", false, "append a random suffix to the name")
	fs.VarP(&counted{to: &s.File, times: &s.FileCount}, "config-file", "f", "manifest, template, v2 configuration file or sbatch script; a folder of manifests; - for stdin")
	factory.TakesFile(fs, "config-file")
	fs.StringVar(&s.Template, "template", "", "name of a template (see list-templates)")
	factory.AddChoice(cmd, &s.JobKind, factory.Choice{Name: "job-kind", Words: jobKinds(), Read: fullKind,
		Usage: "kind of job if no template is named: PyTorchJob|MPIJob|HyperPodPyTorchJob"})
	fs.StringVar(&s.From, "from", "", "copy a job of the cluster ([NAMESPACE/]NAME) and apply the other flags to the copy")
	fs.StringVar(&s.Recipe, "recipe", "", "PyTorch recipe file in a checkout of AWS's HyperPod recipes")
	factory.TakesFile(fs, "recipe")
	fs.StringVar(&s.OverrideParameters, "override-parameters", "", "JSON object that overrides values of the recipe")
	fs.StringArrayVar(&s.Set, "set", nil, "set a template parameter, or any field by its path: K=V (repeatable)")
	fs.StringSliceVar(&s.AllowUnset, "allow-unset", nil, "placeholder of a command, argument or environment value that may stay without a value (repeatable)")
	newerfields.AddFlag(fs, &s.AllowUnknown, "send")
}

// Validate implements factory.OptionGroup.
func (s *Source) Validate() error {
	if s.FileCount > 1 {
		return errs.Usagef("--config-file can be given only once").WithAdvice("put the files into one folder, or start them one after the other")
	}
	sources := s.sources()
	if len(sources) > 1 {
		return twoSources(sources[0], sources[1])
	}
	if s.Template != "" && strings.ContainsAny(strings.TrimPrefix(s.Template, team.Prefix), `/\`) {
		e := factory.Invalid("template", s.Template, "must be the name of a template")
		if named, err := factory.SplitJob(s.Template, ""); err == nil && named.Namespace != "" && !catalogue.HasExtension(s.Template) {
			return e.Suggest(errs.Option("--from", s.Template).WithNote("repeats the job"), errs.Option("--template", team.Prefix+named.Name, "-n", named.Namespace).WithNote("uses the team's template"))
		}
		return e.Suggest(errs.Option("-f", "FILE"))
	}
	if _, err := s.repeated(); s.From != "" && err != nil {
		return factory.Invalid("from", s.From, "must be the name of a job").Suggest(errs.Option("--from", "NAME"), errs.Option("--from", "NAMESPACE/NAME"))
	}
	return s.validateRecipe()
}

// sources returns the flags that define a job and were given. Two of them exclude each other, apart from --recipe and
// --job-kind, which says what the recipe becomes.
func (s *Source) sources() (out []string) {
	for _, c := range [][2]string{{"from", s.From}, {"recipe", s.Recipe}, {"config-file", s.File}, {"template", s.Template}} {
		if c[1] != "" {
			out = append(out, c[0])
		}
	}
	if s.From != "" && s.JobKind != "" {
		out = append(out, "job-kind")
	}
	return out
}

// twoSources returns the error about two flags that each define the job.
func twoSources(a, b string) error {
	value := map[string]string{"config-file": "FILE", "recipe": "FILE", "job-kind": "KIND"}
	e := factory.Excludes(a, b)
	e.Why = "each defines the job"
	return e.Suggest(errs.Option("--"+a, cmp.Or(value[a], "NAME")), errs.Option("--"+b, cmp.Or(value[b], "NAME")))
}

func (s *Source) validateRecipe() error {
	if s.Recipe == "" && s.OverrideParameters != "" {
		return factory.Requires("override-parameters", "--recipe").Suggest(errs.Option("--recipe", "FILE", "--override-parameters", "JSON"))
	}
	if s.Recipe != "" && s.JobKind == "kubeflow/MPIJob" {
		return errs.Usagef("--recipe cannot be used with --job-kind MPIJob: recipes are PyTorch jobs").
			Suggest(errs.Option("--job-kind", "PyTorchJob"), errs.Option("--job-kind", "HyperPodPyTorchJob"))
	}
	var object map[string]any
	if s.OverrideParameters != "" && json.Unmarshal([]byte(s.OverrideParameters), &object) != nil {
		return errs.Usagef("invalid --override-parameters: must be a JSON object").
			Suggest(errs.Option("--override-parameters", `{"recipes.trainer.num_nodes": 2, "container": "IMAGE"}`))
	}
	return nil
}

// repeated returns the job that --from names.
func (s *Source) repeated() (factory.JobArgument, error) { return factory.SplitJob(s.From, "") }

func (s *Source) set(v *values.Values) (err error) {
	v.AllowUnset = s.AllowUnset
	v.Set, err = values.ParseAssignments(s.Set)
	return err
}

const hyperPodTemplate = "hyperpod-pytorch"

// kindTemplates are the templates that --job-kind chooses, by v2's names.
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

// kindTemplate returns the template for --job-kind. The default is PyTorchJob's.
func (s *Source) kindTemplate() string {
	for _, k := range kindTemplates {
		if k[0] == s.JobKind {
			return k[1]
		}
	}
	return DefaultTemplate
}

// checkKind refuses a definition of another kind than --job-kind names.
func (s *Source) checkKind(t *parse.Template) error {
	if s.JobKind == "" {
		return nil
	}
	_, want, _ := strings.Cut(s.JobKind, "/")
	for _, kind := range t.Kinds() {
		if kind == want {
			return nil
		}
	}
	return errs.Usagef("--job-kind %s cannot be used with %s: it defines a %s", want, t.Source, strings.Join(t.Kinds(), " and a ")).
		WithAdvice("leave --job-kind out")
}
