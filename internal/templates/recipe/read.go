package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Recipe is a recipe as a template and values.
type Recipe struct {
	Template *parse.Template
	Values   values.Values
	Notices  []string
}

// Under returns the values of the recipe with flags on top. Arguments of the script are
// added to those of the recipe, which name its configuration.
func (r Recipe) Under(flags values.Values) values.Values {
	own := r.Values.ScriptArgs
	if flags.EntryScript != "" && r.Values.EntryScript == moduleFlag {
		own = own[1:] // the module
	}
	flags.ScriptArgs = append(slices.Clone(own), flags.ScriptArgs...)
	return flags.Over(r.Values)
}

// Options are inputs beside the recipe.
type Options struct {
	// HyperPod makes a HyperPodPyTorchJob instead of a PyTorchJob.
	HyperPod bool
	// InstanceType is the flag's, which wins over the overrides'.
	InstanceType string
}

// Read reads the file of a recipe (".yaml" may be left out) and applies the overrides: a
// JSON object as the official CLI takes it, such as
// {"recipes.trainer.num_nodes": 2, "container": "IMAGE"}. Errors about their content have
// exit code Usage.
func Read(path, overrides string, o Options) (Recipe, error) {
	path, data, err := load(path)
	if err != nil {
		return Recipe{}, err
	}
	if _, err := manifest.ParseTree(path, data); err != nil {
		return Recipe{}, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return Recipe{}, errs.Usagef("%s is not a recipe: it must be a map", path)
	}
	r := &reader{path: path, root: doc.Content[0], launcher: map[string]string{"base_results_dir": "./results", "git.use_default": "true"}}
	if err := r.override(overrides); err != nil {
		return Recipe{}, err
	}
	if o.InstanceType != "" {
		r.launcher["instance_type"] = o.InstanceType
	}
	if err := r.refuse(); err != nil {
		return Recipe{}, err
	}
	if err := r.resolveAll(); err != nil {
		return Recipe{}, err
	}
	return r.recipe(o)
}

// load reads the file up to a bound far above every recipe.
func load(path string) (string, []byte, error) {
	for _, p := range []string{path, path + ".yaml"} {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			continue
		}
		if err != nil {
			return "", nil, errs.Wrap(err, "cannot read "+p)
		}
		data, err := bounded.File(p, bounded.Settings)
		if errors.As(err, new(*bounded.TooLarge)) {
			return "", nil, errs.Usagef("%s is larger than a recipe can be (1 MiB)", p)
		}
		if err != nil {
			return "", nil, errs.Wrap(err, "cannot read "+p)
		}
		return p, data, nil
	}
	return "", nil, errs.NotFoundf("recipe %s not found", path).
		Suggest(setting.Recipe.Option("recipes_collection/recipes/fine-tuning/llama/NAME.yaml").WithNote("in a checkout of the HyperPod recipes"))
}

type reader struct {
	path string
	root *yaml.Node
	// launcher holds what the overrides say outside of the recipe: container,
	// instance_type, git.*, cluster.*, env_vars.*.
	launcher map[string]string
	notices  []string
}

func (r *reader) notef(format string, args ...any) {
	r.notices = append(r.notices, fmt.Sprintf(format, args...))
}

// find returns the value at a path of the recipe, nil when there is none.
func (r *reader) find(path string) *yaml.Node {
	at := r.root
	for _, key := range strings.Split(path, ".") {
		if at = child(at, key); at == nil {
			return nil
		}
	}
	return at
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// text returns a scalar of the recipe, "" when it is null or not there.
func (r *reader) text(path string) string {
	n := r.find(path)
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

func (r *reader) count(path string) (*int, error) {
	s := r.text(path)
	if s == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return nil, errs.Usagef("%s: invalid %s %q: must be a whole number from 1", r.path, path, s).Suggest(setting.Overrides.Option(`{"recipes.` + path + `": 2}`))
	}
	return &n, nil
}

// refuse names what a PyTorch job cannot express.
func (r *reader) refuse() error {
	model := r.text("run.model_type")
	no := func(what, why string) *errs.Error {
		return errs.Usagef("%s cannot be started here: %s %s", r.path, what, why)
	}
	switch {
	case r.find("evaluation") != nil || r.find("llm_as_judge") != nil:
		return no("an evaluation", "runs in a service image of its own, not as a PyTorch job")
	case r.find("run") == nil:
		return errs.Usagef("%s is not a recipe: section run is missing", r.path)
	case strings.HasPrefix(model, "amazon.nova"):
		return no("model_type "+model, "runs in service images of Amazon Nova, not as a PyTorch job")
	case model == "verl":
		return no("model_type verl", "runs on a RayCluster, not as a PyTorch job")
	case model == "mtrl":
		return no("model_type mtrl", "runs as a SageMaker training job, not on Kubernetes")
	case model == "":
		return errs.Usagef("%s is not a recipe: run.model_type is missing", r.path)
	case r.text("elastic_policy.is_elastic") == "true":
		return no("elastic_policy.is_elastic", "has a configuration for every number of nodes").
			Suggest(setting.Overrides.Option(`{"recipes.elastic_policy.is_elastic": false}`))
	}
	if t, ok := instances.Lookup(r.launcher["instance_type"]); ok && t.Resource != "" && t.Resource != instances.GPU {
		return no("a recipe on "+t.Name, "is started by a script of NeuronX Distributed").
			Suggest(setting.Template.Option("neuron-llama"))
	}
	return nil
}

// recipe makes the template and the values.
func (r *reader) recipe(o Options) (Recipe, error) {
	v := values.Values{Name: jobName(r.text("run.name")), Image: r.launcher["container"], InstanceType: r.launcher["instance_type"]}
	var err error
	if v.NodeCount, err = r.count("trainer.num_nodes"); err != nil {
		return Recipe{}, err
	}
	if v.TasksPerNode, err = r.count("trainer.devices"); err != nil {
		return Recipe{}, err
	}
	r.environment(&v)
	if err := r.cluster(&v); err != nil {
		return Recipe{}, err
	}
	if err := r.program(&v); err != nil {
		return Recipe{}, err
	}
	r.size(&v, o)
	r.noteType(v.InstanceType)
	var config bytes.Buffer
	enc := yaml.NewEncoder(&config)
	enc.SetIndent(2)
	if err := enc.Encode(r.root); err != nil {
		return Recipe{}, errs.Wrap(err, "cannot write the recipe's configuration")
	}
	v.Params = map[string]any{configParam: config.String()}
	t, err := template(o)
	return Recipe{Template: t, Values: v, Notices: r.notices}, err
}

// jobName makes a Kubernetes name of a recipe's.
func jobName(name string) string {
	return strings.Trim(strings.ToLower(strings.NewReplacer("_", "-", ".", "-", " ", "-").Replace(name)), "-")
}

func (r *reader) environment(v *values.Values) {
	v.Environment = map[string]string{"NCCL_DEBUG": "WARN"}
	if r.text("run.model_type") == checkpointless {
		maps.Copy(v.Environment, map[string]string{"HPCT_USE_ROOTLESS": "1", "INPROCESS_RESTART": "1", "INPROCESS_RESTART_TIMEOUT": "1800"})
	} else if v.NodeCount != nil && *v.NodeCount > 1 {
		maps.Copy(v.Environment, v2config.MultiNodeEnvironment())
	}
	for _, key := range slices.Sorted(maps.Keys(r.launcher)) {
		if name, ok := strings.CutPrefix(key, "env_vars."); ok {
			v.Environment[name] = r.launcher[key]
		}
	}
}

// size takes what the recipe says of memory, and the huge pages that only a path
// can set.
func (r *reader) size(v *values.Values, o Options) {
	v.Memory = r.text("resources.memory")
	container := "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0]"
	if o.HyperPod {
		container = "spec.replicaSpecs[0].template.spec.containers[0]"
	}
	if pages := r.text("resources.hugepages"); pages != "" {
		for _, list := range []string{"requests", "limits"} {
			v.Set = append(v.Set, fieldpath.Assignment{Key: container + ".resources." + list + ".hugepages-2Mi", Value: pages})
		}
	}
	if r.text("run.model_type") == checkpointless {
		v.Set = append(v.Set, fieldpath.Assignment{Key: container + ".securityContext.privileged", Value: "true"},
			// The API server refuses privileged containers that may not escalate.
			fieldpath.Assignment{Key: container + ".securityContext.allowPrivilegeEscalation", Value: "true"})
		r.notef("the recipe changes settings of the node's network, for which its container is privileged")
	}
}

// noteType compares the instance type with those that the recipe is made for.
func (r *reader) noteType(have string) {
	list := r.find("instance_types")
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		return
	}
	var names []string
	for _, n := range list.Content {
		names = append(names, n.Value)
	}
	if !slices.Contains(names, instances.Full(have)) {
		r.notef("the recipe is made for %s", strings.Join(names, ", "))
	}
}
