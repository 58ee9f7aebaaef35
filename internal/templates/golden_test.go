package templates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// governed are the values that start-job finds out in a team's namespace.
func governed(v values.Values) values.Values {
	v.Namespace, v.Queue, v.Priority = "hyperpod-ns-ml-engineers", "hyperpod-ns-ml-engineers-localqueue", "training-priority"
	return v
}

func everything(t *testing.T) values.Values {
	t.Helper()
	volumes, err := values.ParseVolumes([]string{"scratch:/mnt/k8s-disks/0:/scratch"}, []string{"fsx-claim:/fsx,models:/models:ro"})
	if err != nil {
		t.Fatal(err)
	}
	selector, err := values.ParseSelector(`{"required": {"topology.kubernetes.io/zone": ["us-west-2a"]}, "preferred": {"team": ["a"], "rack": ["1", "2"]}, "weights": [10]}`)
	if err != nil {
		t.Fatal(err)
	}
	return governed(values.Values{
		Name: "all", Image: "registry.example/train:2", PullPolicy: "Always", InstanceType: "p5.48xlarge", NodeCount: values.Int(4),
		TasksPerNode: values.Int(4), Accelerators: values.Int(4), EFA: values.Int(8), VCPU: "60", Memory: "500Gi", VCPULimit: "64", MemoryLimit: "600Gi",
		Environment: map[string]string{"NCCL_DEBUG": "WARN", "EPOCHS": "3"},
		EntryScript: "/src/train.py", ScriptArgs: []string{"--lr", "1e-4", "--note", "two words"},
		PreScript: []string{"nvidia-smi", "echo it's on"}, PostScript: []string{"echo done"},
		LabelSelector: selector, DeepHealthOnly: true, HealthAffinity: yes(), ServiceAccount: "trainer", PodPriorityClass: "high", Volumes: volumes,
		RestartPolicy: "OnFailure", Labels: map[string]string{"example.com/team": "a"}, Annotations: map[string]string{"example.com/ticket": "42"},
	})
}

func TestGolden(t *testing.T) {
	everyFlag := everything(t)
	resumed := everyFlag
	resumed.AutoResume, resumed.MaxRetry = true, values.Int(3)
	retried := everyFlag
	retried.MaxRetry = values.Int(5)
	train := values.Values{Name: "demo", Image: "registry.example/train:1", EntryScript: "/src/train.py"}
	with := func(f func(*values.Values)) values.Values { v := train; f(&v); return governed(v) }
	for _, c := range []struct {
		golden, template string
		values           values.Values
	}{
		{"pytorch-gpu", "pytorch", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.p5.48xlarge", values.Int(2) })},
		{"pytorch-one-node", "pytorch", with(func(v *values.Values) { v.InstanceType = "ml.g5.12xlarge" })},
		{"pytorch-part-of-a-node", "pytorch", with(func(v *values.Values) { v.InstanceType, v.Accelerators = "ml.p5.48xlarge", values.Int(1) })},
		{"pytorch-trainium", "pytorch", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.trn1.32xlarge", values.Int(2) })},
		{"pytorch-cpu", "pytorch", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.c5.4xlarge", values.Int(2) })},
		{"pytorch-mig", "pytorch", with(func(v *values.Values) {
			v.InstanceType, v.Partition, v.PartitionCount = "ml.p4d.24xlarge", "mig-3g.20gb", values.Int(2)
		})},
		{"pytorch-no-type", "pytorch", with(func(v *values.Values) { v.Accelerators = values.Int(2) })},
		{"pytorch-other-program", "pytorch", values.Values{Name: "probe", Image: "registry.example/train:1", Command: "python3 -c 'print(1)'", InstanceType: "ml.g5.xlarge", HealthAffinity: no()}},
		{"pytorch-every-flag", "pytorch", resumed},
		{"mpi-gpu", "mpi", with(func(v *values.Values) {
			v.InstanceType, v.NodeCount, v.EntryScript = "ml.p5.48xlarge", values.Int(2), "/opt/nccl-tests/build/all_reduce_perf"
			v.ScriptArgs = []string{"-b", "8"}
		})},
		{"mpi-cpu", "mpi", with(func(v *values.Values) {
			v.InstanceType, v.NodeCount, v.TasksPerNode = "ml.c5n.18xlarge", values.Int(3), values.Int(36)
		})},
		{"mpi-every-flag", "mpi", resumed},
		{"fsdp-llama", "fsdp-llama", governed(values.Values{Name: "llama", Image: "registry.example/fsdp:1"})},
		{"fsdp-llama-etcd", "fsdp-llama-etcd", governed(values.Values{Name: "llama", Image: "registry.example/fsdp:1", Elastic: values.Elastic{Max: values.Int(4)}, Volumes: []values.Volume{{Type: values.PVC, Claim: "fsx", MountPath: "/checkpoints"}}})},
		{"neuron-llama", "neuron-llama", governed(values.Values{Name: "neuron", Image: "registry.example/neuron:1", NodeCount: values.Int(2)})},
		{"dev", "dev", governed(values.Values{Name: "desk", Image: "registry.example/tools:1", InstanceType: "ml.g5.xlarge"})},
		{"notebook", "notebook", governed(values.Values{Name: "nb", Image: "registry.example/lab:1", InstanceType: "ml.p5.48xlarge", Accelerators: values.Int(1), Params: map[string]any{"MAX_SECONDS": 43200}, Volumes: []values.Volume{{Type: values.PVC, Claim: "home-ada", MountPath: "/home/jovyan"}}})},
		{"ddp-cpu", "ddp-cpu", with(func(*values.Values) {})},
		{"accelerate", "accelerate", with(func(v *values.Values) {
			v.InstanceType, v.NodeCount, v.ResultsDir = "ml.g6.12xlarge", values.Int(2), "/fsx/out"
		})},
		{"hyperpod-pytorch", "hyperpod-pytorch", with(func(v *values.Values) {
			v.InstanceType, v.NodeCount, v.MaxRetry = "ml.p5.48xlarge", values.Int(4), values.Int(3)
		})},
		{"nccl-tests", "nccl-tests", governed(values.Values{Name: "nccl", Params: map[string]any{"TEST": "all_gather_perf", "HUGEPAGES": "5120Mi"}})},
		{"smpv2-llama2", "smpv2-llama2", governed(values.Values{Name: "smpv2-llama2"})},
		{"trainjob", "trainjob", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.g5.12xlarge", values.Int(2) })},
		{"jax", "jax", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.g5.12xlarge", values.Int(2) })},
		{"ray", "ray", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.g5.12xlarge", values.Int(2) })},
		{"spark", "spark", with(func(v *values.Values) { v.InstanceType, v.NodeCount = "ml.g5.12xlarge", values.Int(2) })},
		{"serve", "serve", governed(values.Values{Name: "llm", Image: "registry.example/vllm:1", InstanceType: "ml.g5.12xlarge", NodeCount: values.Int(2)})},
		{"trainjob-of-the-runtime", "trainjob", values.Values{Name: "t", Params: map[string]any{"ENTRY_SCRIPT": "/train.py"}}},
		{"job-every-flag", "testdata/manifests/job.yaml", retried},
		{"hyperpod-every-flag", "testdata/manifests/hyperpod.yaml", retried},
		{"master-every-flag", "testdata/manifests/master.yaml", resumed},
		{"job-untouched", "testdata/manifests/job.yaml", values.Values{}},
		{"with-services", "testdata/manifests/with-services.yaml", governed(values.Values{
			Params: map[string]any{"NUM_NODES": 3, "GPU_PER_NODE": "1", "REGISTRY": "registry.example/", "TAG": ":v1"}})},
	} {
		t.Run(c.golden, func(t *testing.T) {
			r := rendered(t, c.template, c.values)
			got, err := manifest.Marshal(r.Objects)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Notices {
				got = append(got, "# notice: "+n+"\n"...)
			}
			golden.Check(t, "testdata/golden/"+c.golden+".yaml", string(got))
		})
	}
}

// TestRestricted: the level "restricted" of Pod Security allows the pods that people work in.
func TestRestricted(t *testing.T) {
	judge, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dev", "notebook"} {
		r := rendered(t, name, governed(values.Values{Name: "x", Image: "registry.example/i:1", InstanceType: "ml.g5.xlarge", Volumes: []values.Volume{{Type: values.PVC, Claim: "home", MountPath: "/work"}}}))
		var job batchv1.Job
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.Objects[r.Job], &job); err != nil {
			t.Fatal(err)
		}
		pod := job.Spec.Template
		if found := policy.AggregateCheckResults(judge.EvaluatePod(psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}, &pod.ObjectMeta, &pod.Spec)); !found.Allowed {
			t.Errorf("%s: %s", name, found.ForbiddenDetail())
		}
	}
}

// embeddedNames are the templates that come with the program.
func embeddedNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("catalogue/embedded/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".yaml")
	}
	return files
}

// mustFind reads a template that comes with the program, or a file.
func mustFind(t testing.TB, name string) *parse.Template {
	t.Helper()
	path, source := name, name
	if !strings.HasSuffix(name, ".yaml") {
		path, source = "catalogue/embedded/"+name+".yaml", "embedded"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tm, err := parse.Text(strings.TrimSuffix(filepath.Base(name), ".yaml"), source, data)
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	return tm
}

func mustParse(t *testing.T, text string) *parse.Template {
	t.Helper()
	tm, err := parse.Text("test", "test.yaml", []byte(text))
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	return tm
}

func rendered(t *testing.T, name string, v values.Values) render.Result {
	t.Helper()
	return mustRender(t, mustFind(t, name), v)
}

func mustRender(t *testing.T, tm *parse.Template, v values.Values) render.Result {
	t.Helper()
	r, err := render.Objects(tm, v)
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	return r
}
