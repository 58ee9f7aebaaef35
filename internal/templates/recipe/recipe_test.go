package recipe

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func read(t *testing.T, path, overrides string, o Options) Recipe {
	t.Helper()
	r, err := Read(path, overrides, o)
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	return r
}

// config is the recipe as the pods see it.
func config(t *testing.T, r Recipe) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(r.Values.Params[configParam].(string)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRead(t *testing.T) {
	r := read(t, "testdata/llama/tune", `{"container": "image:1", "instance_type": "p5.48xlarge", "recipes.trainer.num_nodes": 4,
		"recipes": {"training_config": {"training_args": {"max_epochs": 7}}}, "+recipes.training_config.extra.deep": [1, {"a": 0.5}],
		"env_vars.NCCL_DEBUG": "INFO", "base_results_dir": "/fsx", "cluster": {"namespace": "team", "queue_name": "q"}, "cluster_type": "k8s"}`, Options{})
	v := r.Values
	if v.Name != "llama-3-1-8b" || v.Image != "image:1" || v.InstanceType != "p5.48xlarge" || *v.NodeCount != 4 || *v.TasksPerNode != 8 || v.Namespace != "team" || v.Queue != "q" {
		t.Errorf("values %+v", v)
	}
	if want := []string{"amzn_awsllm_fine_tuning.train_hp", "--config-path=/config", "--config-name=config.yaml"}; v.EntryScript != "-m" || !slices.Equal(v.ScriptArgs, want) {
		t.Errorf("program %s %q", v.EntryScript, v.ScriptArgs)
	}
	if v.Environment["NCCL_DEBUG"] != "INFO" || v.Environment["CUDA_DEVICE_MAX_CONNECTIONS"] != "1" || len(r.Notices) != 0 {
		t.Errorf("environment %v, notices %q", v.Environment, r.Notices)
	}
	c := config(t, r)
	if diff := cmp.Diff(map[string]any{"name": "llama_3.1-8B", "model_type": "llm_finetuning_aws", "results_dir": "/fsx/llama_3.1-8B"}, c["run"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{
		"training_args": map[string]any{"learning_rate": 1e-05, "max_epochs": 7.0, "world": 32.0, "half": 3.0, "more": 4.0,
			"output": "/fsx/llama_3.1-8B/out", "copy": []any{1.0, "two", nil}},
		"more_args": []any{1.0, "two", nil}, "extra": map[string]any{"deep": []any{1.0, map[string]any{"a": 0.5}}}}, c["training_config"]); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(v.Params[configParam].(string), "learning_rate: 1.0e-05") {
		t.Error("a number is not written as it was: YAML 1.1 takes 1e-05 for text")
	}
}

func TestRender(t *testing.T) {
	for _, o := range []Options{{}, {HyperPod: true}} {
		r := read(t, "testdata/llama/tune.yaml", `{"container": "image:1", "instance_type": "p5.48xlarge"}`, o)
		res, err := render.Objects(r.Template, r.Values)
		if err != nil {
			t.Fatal(errs.Text(err, true))
		}
		out, err := manifest.Marshal(res.Objects)
		if err != nil {
			t.Fatal(err)
		}
		program, kind := "torchrun", "kind: PyTorchJob"
		if o.HyperPod {
			program, kind = "hyperpodrun", "kind: HyperPodPyTorchJob"
		}
		for _, want := range []string{kind, "- " + program + "\n", "- --nnodes=2\n", "- -m\n", "- amzn_awsllm_fine_tuning.train_hp\n", "- --config-path=/config\n", "mountPath: /config",
			"name: llama-3-1-8b-recipe", "kind: ConfigMap", "config.yaml: |", "nvidia.com/gpu: 8", "vpc.amazonaws.com/efa: 32"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("HyperPod %v: no %q in\n%s", o.HyperPod, want, out)
			}
		}
	}
}

func TestPrograms(t *testing.T) {
	a := read(t, "testdata/llama/adapter.yaml", `{"git.branch": "v1", "git.commit": "abc"}`, Options{})
	if a.Values.EntryScript != "examples/llama/llama_pretrain.py" || !strings.Contains(strings.Join(a.Values.PreScript, "\n"), "clone --branch 'v1' '"+adapter+"'") ||
		a.Values.PreScript[len(a.Values.PreScript)-1] != "pip install transformers==4.51.3" {
		t.Errorf("the adapter's: %s %q", a.Values.EntryScript, a.Values.PreScript)
	}
	b := read(t, "testdata/llama/adapter.yaml", `{"git.use_default": false, "git.entry_script": "/opt/x.py"}`, Options{})
	if b.Values.EntryScript != "/opt/x.py" || len(b.Values.PreScript) != 1 {
		t.Errorf("a script of one's own: %s %q", b.Values.EntryScript, b.Values.PreScript)
	}
	c := read(t, "testdata/llama/checkpointless_lora.yaml", `{"container": "i", "instance_type": "ml.p5.48xlarge"}`, Options{HyperPod: true})
	if c.Values.EntryScript != checkpointlessScripts["llama_lora"] || c.Values.Memory != "32000Mi" || len(c.Values.PreScript) != 1 || c.Values.Environment["INPROCESS_RESTART"] != "1" {
		t.Errorf("checkpointless: %+v", c.Values)
	}
	res, err := render.Objects(c.Template, c.Values)
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	out, _ := manifest.Marshal(res.Objects)
	for _, want := range []string{"hugepages-2Mi: 5120Mi", "privileged: true", "allowPrivilegeEscalation: true", "sysctl -w"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestUnder(t *testing.T) {
	r := read(t, "testdata/llama/tune.yaml", "", Options{InstanceType: "ml.p5.48xlarge"})
	if len(r.Notices) > 0 || r.Values.InstanceType != "ml.p5.48xlarge" {
		t.Errorf("%s %q", r.Values.InstanceType, r.Notices)
	}
	v := r.Under(values.Values{ScriptArgs: []string{"a=b"}, NodeCount: values.Int(7)})
	if want := []string{fineTuningModule, "--config-path=/config", "--config-name=config.yaml", "a=b"}; !slices.Equal(v.ScriptArgs, want) || v.EntryScript != "-m" || *v.NodeCount != 7 {
		t.Errorf("%s %q", v.EntryScript, v.ScriptArgs)
	}
	v = r.Under(values.Values{EntryScript: "mine.py"})
	if want := []string{"--config-path=/config", "--config-name=config.yaml"}; !slices.Equal(v.ScriptArgs, want) || v.EntryScript != "mine.py" {
		t.Errorf("%s %q", v.EntryScript, v.ScriptArgs)
	}
	other := read(t, "testdata/llama/tune.yaml", "", Options{InstanceType: "ml.g6.48xlarge"})
	if !strings.Contains(strings.Join(other.Notices, ""), "the recipe is made for ml.p5.48xlarge, ml.g5.48xlarge") {
		t.Errorf("%q", other.Notices)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, overrides, want string }{
		"Nova":              {"run: {model_type: \"amazon.nova-lite-v1:0:300k\"}\n", "", "model_type amazon.nova-lite-v1:0:300k runs in service images"},
		"Ray":               {"run: {model_type: verl}\n", "", "model_type verl runs on a RayCluster"},
		"multi-turn":        {"run: {model_type: mtrl}\n", "", "model_type mtrl"},
		"evaluation":        {"run: {model_type: x}\nevaluation: {a: b}\n", "", "an evaluation runs in a service image"},
		"elastic":           {"run: {model_type: hf}\nelastic_policy: {is_elastic: true}\n", "", "elastic_policy.is_elastic"},
		"Trainium":          {"run: {model_type: hf}\n", `{"instance_type": "trn1.32xlarge"}`, "--template neuron-llama"},
		"no recipe":         {"a: b\n", "", "section run is missing"},
		"no model":          {"run: {name: x}\n", "", "run.model_type is missing"},
		"a list":            {"- a\n", "", "must be a map"},
		"a slip":            {"run: {model_type: hf}\ntrainer: {num_nodes: 1}\n", `{"recipes.trainer.num_node": 2}`, `did you mean "num_nodes"?`},
		"an unknown key":    {"run: {model_type: hf}\n", `{"cluster.volumes": [], "cluster.hostNetwork": true}`, "cluster.hostNetwork, cluster.volumes cannot be converted"},
		"not JSON":          {"run: {model_type: hf}\n", `a=b`, "must be a JSON object"},
		"slurm":             {"run: {model_type: hf}\n", `{"cluster_type": "slurm"}`, "must be k8s"},
		"a resolver":        {"run: {model_type: hf, name: \"${oc.env:HOME}\"}\n", "", "line 1: run.name: the resolver \"oc.env\" is not understood"},
		"a circle":          {"run: {model_type: hf}\na: \"${b}\"\nb: \"x${a}\"\n", "", "a cycle"},
		"itself":            {"run: {model_type: hf}\na: \"${a}\"\n", "", "a cycle"},
		"nothing there":     {"run: {model_type: hf}\na: \"${b.c}\"\n", "", "there is no b.c"},
		"nodes in words":    {"run: {model_type: hf}\ntrainer: {num_nodes: many}\n", "", "must be a whole number from 1"},
		"a branch":          {"run: {model_type: hf}\n", `{"git.branch": "--x"}`, "is not a branch or commit"},
		"an odd repository": {"run: {model_type: hf}\n", `{"git.repo_url_or_path": "../x"}`, "has to start with https://"},
		"tabs":              {"run:\n\tname: x\n", "", "the line is indented with a tab"},
		"twice":             {"run: {model_type: hf}\nrun: {a: b}\n", "", "is given twice"},
	} {
		path := filepath.Join(dir, "r.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path, c.overrides, Options{})
		if text := errs.Text(err, false); errs.ExitOf(err) != errs.Usage || !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q, got exit %d\n%s", name, c.want, errs.ExitOf(err), text)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), "", Options{}); errs.ExitOf(err) != errs.NotFound {
		t.Errorf("a recipe that is not there: %v", err)
	}
}

// recipesEnv names the environment variable with the path of a checkout of
// aws/sagemaker-hyperpod-recipes.
const recipesEnv = "HYPERPOD_TEST_RECIPES"

// TestCheckout starts every recipe of the public collection: each renders for both
// kinds of job, or is refused by name.
func TestCheckout(t *testing.T) {
	root := os.Getenv(recipesEnv)
	if root == "" {
		t.Skip("set " + recipesEnv + " to a checkout of aws/sagemaker-hyperpod-recipes")
	}
	outcomes := map[string]int{}
	err := filepath.WalkDir(filepath.Join(root, "recipes_collection", "recipes"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		for _, o := range []Options{{}, {HyperPod: true}} {
			r, err := Read(path, `{"container": "image", "instance_type": "p5.48xlarge"}`, o)
			if err != nil {
				text := errs.Text(err, false)
				why, _, _ := strings.Cut(text[strings.Index(text, ": ")+2:], "\n")
				why = strings.ReplaceAll(why, path, "PATH")
				if errs.ExitOf(err) != errs.Usage || !strings.Contains(why, "cannot be started here") {
					t.Errorf("%s: %s", path, text)
				}
				outcomes[why]++
				continue
			}
			if _, err := render.Objects(r.Template, r.Values); err != nil {
				t.Errorf("%s: %s", path, errs.Text(err, true))
			}
			outcomes["renders: "+r.Values.EntryScript+" "+r.Values.ScriptArgs[0]]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for why, n := range outcomes {
		lines = append(lines, fmt.Sprintf("%4d %s", n, why))
	}
	sort.Strings(lines)
	t.Log("recipes, each for two kinds of job:\n" + strings.Join(lines, "\n"))
}

// FuzzRead: no recipe and no overrides make the reader panic or hang, and what is
// accepted renders or is refused in words.
func FuzzRead(f *testing.F) {
	for _, path := range []string{"testdata/llama/tune.yaml", "testdata/llama/adapter.yaml"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), `{"container": "i", "recipes.trainer.num_nodes": 2, "+recipes.x.y": [1]}`)
	}
	f.Add("run: {model_type: hf}\na: &a [\"${b}\", *a]\nb: ${..c}\nc: ${multiply:${a.0},2}\n", `{"recipes": {"a": {"b": null}}}`)
	path := filepath.Join(f.TempDir(), "r.yaml")
	f.Fuzz(func(t *testing.T, text, overrides string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(path, overrides, Options{})
		if err == nil {
			_, err = render.Objects(r.Template, r.Values)
		}
		if err != nil && errs.ExitOf(err) != errs.Usage {
			t.Errorf("exit code %d: %v", errs.ExitOf(err), err)
		}
	})
}
