package jsonschema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// What is in docs/schema is what the types say now.
func TestFilesAreUpToDate(t *testing.T) {
	for name, write := range map[string]func() ([]byte, error){"template": Template, "config-v2": Config} {
		want, err := write()
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile("../../docs/schema/" + name + ".schema.json")
		if err != nil || !bytes.Equal(have, want) {
			t.Errorf("docs/schema/%s.schema.json is not up to date (%v): go run ./cmd/gendocs", name, err)
		}
	}
}

type testCase struct {
	schema   string
	document any
	what     string
	valid    bool
}

func documents(t *testing.T, path string) []any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []any
	for _, text := range strings.Split("\n"+string(data), "\n---") {
		var doc any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if doc != nil {
			out = append(out, doc)
		}
	}
	return out
}

// Templates that Parse takes are valid by the schema, and mistakes that it refuses
// are not.
func TestSchemasAgree(t *testing.T) {
	var cases []testCase
	files, _ := filepath.Glob("../templates/catalogue/embedded/*.yaml")
	more, _ := filepath.Glob("../templates/testdata/manifests/*.yaml")
	for _, f := range append(files, more...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse.Text("t", f, data); err != nil {
			continue
		}
		for _, doc := range documents(t, f) {
			cases = append(cases, testCase{"template", doc, f, true})
		}
	}
	if len(cases) < 6 {
		t.Fatalf("only %d documents", len(cases))
	}
	for _, c := range []struct {
		text  string
		valid bool
	}{
		{"{parameters: {A: {type: int, default: 3}, B: x, C: [1]}, fixed: [spec.runPolicy]}", true},
		{"{parameters: {A: {type: integer}}}", false},
		{"{parameters: {A: {typ: int}}}", false},
		{"{parameters: {'1A': 1}}", false},
		{"{parameters: {}, fixt: []}", false},
		{"{kind: Pod, apiVersion: v1, spec: {containers: [{name: a, image: i, resources: {limits: {cpu: 4, memory: 1Gi, nvidia.com/gpu: null}}}]}}", true},
		{"{kind: Pod, apiVersion: v1, spec: {container: []}}", false},
		{"{kind: Pod, apiVersion: v1, spec: {hostNetwork: 5}}", false},
		{"{kind: Pod, apiVersion: v1, spec: {priority: '${P}'}}", true},
		{"{kind: Job, apiVersion: batch/v1, spec: {backoffLimit: many}}", false},
		{"{kind: PyTorchJob, apiVersion: kubeflow.org/v1, spec: {pytorchReplicaSpecs: {Worker: {replicas: $N, template: {spec: {containers: []}}}}}}", true},
		{"{kind: PyTorchJob, apiVersion: kubeflow.org/v1, spec: {pytorchReplicaSpecs: {Worker: {replica: 1}}}}", false},
		{"{kind: Widget, apiVersion: example.com/v1, anything: [1]}", true},
	} {
		var doc any
		if err := yaml.Unmarshal([]byte(c.text), &doc); err != nil {
			t.Fatal(err)
		}
		// Ours first: both have to agree.
		text, _ := yaml.Marshal(doc)
		full := string(text)
		if !strings.Contains(full, "kind:") {
			full += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
		}
		if _, err := parse.Text("t", "t", []byte(full)); (err == nil) != c.valid {
			t.Errorf("%s: Parse says %v", c.text, err)
		}
		cases = append(cases, testCase{"template", doc, c.text, c.valid})
	}
	const config = `
defaults: [{override hydra/job_logging: stdout}]
hydra: {run: {dir: .}, output_subdir: null}
training_cfg:
  entry_script: /t.py
  script_args: [{--epochs: 3}, --fast]
  run: {name: demo, nodes: 2, ntasks_per_node: 8}
cluster:
  cluster_type: k8s
  instance_type: ml.p5.48xlarge
  cluster_config:
    scheduler_type: SageMaker
    custom_labels: {kueue.x-k8s.io/priority-class: training-priority}
    annotations: {sagemaker.amazonaws.com/enable-job-auto-resume: true, sagemaker.amazonaws.com/job-max-retry-count: 2}
    label_selector: {required: {a: [b]}, preferred: {c: [d]}, weights: [100]}
    persistent_volume_claims: [{claimName: c, mountPath: /fsx}]
    pullPolicy: IfNotPresent
base_results_dir: ./results
container: i
env_vars: {NCCL_DEBUG: INFO, UNSET: null}
`
	for _, c := range []struct {
		from, to string
		valid    bool
	}{
		{"", "", true},
		{"pullPolicy: IfNotPresent", "pullPolicy: Sometimes", false},
		{"nodes: 2", "nodes: 0", false},
		{"nodes: 2", "nodes: '${training_cfg.run.ntasks_per_node}'", true},
		{"--epochs: 3", "--epochs: [3]", false},
		{"ntasks_per_node: 8", "ntasks_per_node: 8, tasks: 1", false},
		{"preferred: {c: [d]}", "preferred: {c: {d: e}}", false},
		{"UNSET: null", "UNSET: [1]", false},
		{"cluster_type: k8s", "cluster_type: slurm", false},
		{"training_cfg:", "git: {token: abc, repo_url_or_path: 'https://example.com/x'}\ntraining_cfg:", false},
		{"training_cfg:", "git: {update_adapter: true}\ntraining_cfg:", false},
		{"container: i\n", "", false},
		{"scheduler_type", "schedulerType", false},
		{"weights: [100]", "weights: [1000]", false},
		{"instance_type: ml.p5.48xlarge", "instance_type: ml.p5.48xlarge\n  service_account_name: sa", true},
		{"{claimName: c, mountPath: /fsx}", "{claimName: c}", false},
	} {
		var doc any
		text := []byte(strings.Replace(config, c.from, c.to, 1))
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		if _, err := v2config.Read("c", text, values.Values{}); (err == nil) != c.valid {
			t.Errorf("config with %s: Read says %v", c.to, err)
		}
		cases = append(cases, testCase{"config-v2", doc, "config with " + c.to, c.valid})
	}
	judge(t, cases)
}

// judge asks a validator that is not ours, which knows nothing of our types.
func judge(t *testing.T, cases []testCase) {
	t.Helper()
	for name, write := range map[string]func() ([]byte, error){"template": Template, "config-v2": Config} {
		data, err := write()
		if err != nil {
			t.Fatal(err)
		}
		validate := fixture.Validator(data)
		for _, c := range cases {
			if c.schema != name {
				continue
			}
			document, err := json.Marshal(c.document)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(document); (err == nil) != c.valid {
				t.Errorf("%s: the schema says %v", c.what, err)
			}
		}
	}
}
