package recipe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// configParam holds the finished recipe's text.
const configParam = "RECIPE_CONFIG"

// checkpointless is the model_type of recipes that restart in the process.
const checkpointless = "hyperpod_checkpointless_nemo"

// adapter is the repository whose examples recipes of model_type hf run.
const adapter = "https://github.com/aws/sagemaker-hyperpod-training-adapter-for-nemo.git"

// examples are the adapter's scripts by the folder that the recipe is in.
var examples = map[string]string{
	"deepseek": "examples/deepseek/deepseek_pretrain.py",
	"llama":    "examples/llama/llama_pretrain.py",
	"mistral":  "examples/mistral/mistral_pretrain.py",
	"mixtral":  "examples/mixtral/mixtral_pretrain.py",
}

// checkpointlessScripts are in the image, by family and task.
var checkpointlessScripts = map[string]string{
	"llama_pretrain":      "/opt/amazon/examples/llama3/llama3_70b_pretrain_checkpointless.py",
	"llama_lora":          "/opt/amazon/examples/llama3/llama3_70b_peft_checkpointless.py",
	"gpt_oss_fine_tuning": "/opt/amazon/examples/gpt_oss/gpt_oss_120b_full_finetune_checkpointless.py",
	"gpt_oss_lora":        "/opt/amazon/examples/gpt_oss/gpt_oss_120b_peft_checkpointless.py",
}

// moduleFlag stands in the script's place when a module is started: the launcher is
// called as torchrun -m MODULE ARGUMENTS.
const moduleFlag = "-m"

// fineTuningModule runs recipes of model_type llm_finetuning_aws; it is in the image.
const fineTuningModule = "amzn_awsllm_fine_tuning.train_hp"

// program chooses the program as the launcher does: from the overrides, or by model_type and folder.
func (r *reader) program(v *values.Values) error {
	family := filepath.Base(filepath.Dir(r.path))
	script, module := r.launcher["git.entry_script"], r.launcher["git.entry_module"]
	repo := r.launcher["git.repo_url_or_path"]
	if script == "" && module == "" {
		switch r.text("run.model_type") {
		case "llm_finetuning_aws":
			module = fineTuningModule
		case checkpointless:
			task, err := r.task()
			if err != nil {
				return err
			}
			if script = checkpointlessScripts[family+"_"+task]; script == "" {
				return errs.Usagef("%s cannot be started here: no script is known for %s of %s", r.path, task, family).
					Suggest(setting.Overrides.Option(`{"git.entry_script": "PATH"}`))
			}
		default:
			if script = examples[family]; script == "" {
				script = "examples/custom_model/custom_pretrain.py"
			}
			if repo == "" && r.launcher["git.use_default"] != "false" {
				repo = adapter
			}
		}
	}
	args := []string{"--config-path=/config", "--config-name=config.yaml"}
	if module != "" {
		v.EntryScript, v.ScriptArgs = moduleFlag, append([]string{module}, args...)
	} else {
		v.EntryScript, v.ScriptArgs = script, args
	}
	before, after, err := v2config.Checkout(repo, r.launcher["git.branch"], r.launcher["git.commit"])
	if err != nil {
		return setting.Overrides.InvalidSecret("git: %v", err)
	}
	if lines := r.text("pre_script"); lines != "" {
		before = append(before, lines)
	}
	if n := r.find("pre_script"); n != nil {
		for _, item := range n.Content {
			before = append(before, item.Value)
		}
	}
	v.PreScript, v.PostScript = append(before, r.upgrade()...), after
	return nil
}

// task returns the task of a checkpointless recipe, from the name of its file.
func (r *reader) task() (string, error) {
	name := strings.ToLower(filepath.Base(r.path))
	for _, t := range []struct{ part, task string }{{"full_fine_tuning", "fine_tuning"}, {"fine_tuning", "fine_tuning"}, {"lora", "lora"}, {"pretrain", "pretrain"}} {
		if strings.Contains(name, t.part) {
			return t.task, nil
		}
	}
	return "", errs.Usagef("%s: the file's name does not show whether it is a pretrain, fine_tuning or lora recipe", r.path)
}

// upgrade returns the commands that install the version of transformers which the launcher installs for a
// model.
func (r *reader) upgrade() []string {
	version := map[string]string{"deepseek_r1": "4.48.2", "llama_v4": "4.51.3", "gpt_oss": "4.55.0"}[r.text("model.model_type")]
	if version == "" && r.text("model.multi_modal") == "true" {
		version = "4.45.2"
	}
	if version == "" {
		return nil
	}
	return []string{"pip install transformers==" + version}
}

// cluster applies what the overrides set about the job.
func (r *reader) cluster(v *values.Values) error {
	for key, to := range map[string]*string{
		"cluster.namespace": &v.Namespace, "cluster.service_account_name": &v.ServiceAccount, "cluster.pullPolicy": &v.PullPolicy,
		"cluster.restartPolicy": &v.RestartPolicy, "cluster.cleanPodPolicy": &v.RunPolicy.CleanPodPolicy,
		"cluster.priority_class_name": &v.PodPriorityClass, "cluster.queue_name": &v.Queue,
	} {
		*to = r.launcher[key]
	}
	if p := v.RestartPolicy; p != "" && !slices.Contains([]string{"Always", "OnFailure", "Never", "ExitCode"}, p) {
		return setting.Overrides.InvalidSecret("cluster.restartPolicy %q must be %s", p, manifest.OrList(values.RestartPolicies))
	}
	return nil
}

// template returns the embedded template of the job's kind with the recipe's ConfigMap.
func template(o Options) (*parse.Template, error) {
	name := "pytorch"
	if o.HyperPod {
		name = "hyperpod-pytorch"
	}
	base, err := catalogue.Find(name, catalogue.Dirs{})
	if err != nil {
		return nil, err
	}
	text := string(base.Text)
	for _, part := range [][2]string{
		{"parameters:\n", "  " + configParam + ": {type: string, required: true, help: the recipe}\n"},
		{"              volumeMounts:\n", "                - {name: recipe, mountPath: /config, readOnly: true}\n"},
		{"          volumes:\n", "            - name: recipe\n              configMap: {name: \"${JOB_NAME}-recipe\"}\n"},
	} {
		i := strings.Index(text, part[0])
		if i < 0 {
			return nil, fmt.Errorf("the template %s has no %q", name, strings.TrimSpace(part[0]))
		}
		i += len(part[0])
		text = text[:i] + part[1] + text[i:]
	}
	text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${JOB_NAME}-recipe\n  labels:\n    app: ${JOB_NAME}\ndata:\n  config.yaml: \"${" + configParam + "}\"\n"
	return parse.Text(name, catalogue.Embedded, []byte(text))
}
