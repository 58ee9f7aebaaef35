package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	yamltext "github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/recipe"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/v2config"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// embeddedTemplates tries every embedded template.
func embeddedTemplates(t *testing.T, bed *cluster.Bed) {
	admin := newUser(t, bed.Kubeconfig)
	if err := bed.Apply(t.Context(), []byte(trainingRuntime)); err != nil {
		t.Fatal(err)
	}
	t.Run("kubectl accepts every template for every family", func(t *testing.T) { everyFamily(t, bed) })
	t.Run("server dry run", func(t *testing.T) { dryRuns(admin.in(t)) })
	t.Run("options", func(t *testing.T) { everyOption(t, bed) })
	t.Run("v2 files and recipes", func(t *testing.T) { otherFiles(t, bed) })
	t.Run("faulty values", func(t *testing.T) { faultyValues(t, bed) })
	t.Run("run", func(t *testing.T) { reallyRun(t, bed, admin.in(t)) })
	t.Run("samples", func(t *testing.T) { samples(t, bed) })
}

// families are one instance type of each family, such as ml.g5 and ml.trn1.
func families() []string {
	var out []string
	seen := map[string]bool{}
	for _, typ := range instances.All() {
		family := typ.Name[:strings.LastIndex(typ.Name, ".")]
		if !seen[family] {
			seen[family] = true
			out = append(out, typ.Name)
		}
	}
	return out
}

// values are what every template can be started with.
func valuesFor(name string) values.Values {
	return values.Values{Name: name, Namespace: engineers, Queue: engineers + "-localqueue", Priority: "training-priority",
		Image: "registry.example/train:1", NodeCount: values.Int(2)}
}

// withScript adds what a template asks for.
func withScript(tm *parse.Template, v values.Values) values.Values {
	if p, ok := tm.Param("ENTRY_SCRIPT"); ok && p.Required {
		v.EntryScript = "/src/train.py"
	}
	return v
}

// accepts lets kubectl apply objects as a server-side dry run, strictly.
func accepts(t *testing.T, bed *cluster.Bed, objects []map[string]any) {
	t.Helper()
	text, err := yamltext.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	out, err := bed.KubectlAs(t.Context(), bed.Kubeconfig, text, "apply", "--dry-run=server", "--validate=strict", "-f", "-")
	if err != nil {
		t.Fatalf("kubectl refuses: %v\n%s", err, out)
	}
	if got := strings.Count(out, "(server dry run)"); got != len(objects) {
		t.Errorf("%d of %d objects accepted:\n%s", got, len(objects), out)
	}
}

// names are the embedded templates. The bed serves no SparkApplication.
func names() []string {
	var out []string
	for _, info := range catalogue.Names(catalogue.Dirs{}) {
		if info.Name == "spark" {
			continue
		}
		out = append(out, info.Name)
	}
	return out
}

// trainingRuntime is what template trainjob names.
const trainingRuntime = `{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, metadata: {name: torch-distributed},
	spec: {mlPolicy: {numNodes: 1, torch: {}}, template: {spec: {replicatedJobs: [{name: node, template: {
		metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}},
		spec: {template: {spec: {containers: [{name: node, image: none}]}}}}}]}}}}`

func everyFamily(t *testing.T, bed *cluster.Bed) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			tm, err := catalogue.Find(name, catalogue.Dirs{})
			if err != nil {
				t.Fatal(err)
			}
			var all []map[string]any
			for i, typ := range families() {
				v := withScript(tm, valuesFor(fmt.Sprintf("t%d", i)))
				v.InstanceType = typ
				r, err := render.Objects(tm, v)
				if err != nil {
					t.Errorf("%s: %s", typ, errs.Text(err, true))
					continue
				}
				all = append(all, r.Objects...)
			}
			accepts(t, bed, all)
		})
	}
}

func dryRuns(admin user) {
	for _, name := range names() {
		out := admin.ok("start-job", "--name", "try-"+name, "--template", name, "--image", "registry.example/train:1",
			"--entry-script", "/src/train.py", "--node-count", "2", "-n", engineers, "--dry-run=server")
		if !strings.Contains(out, "/try-"+name+" created (server dry run)") {
			admin.t.Errorf("%s: %s", name, out)
		}
	}
}

// everyOption applies the options to each kind of job; the webhooks judge.
func everyOption(t *testing.T, bed *cluster.Bed) {
	n := values.Int
	for name, change := range map[string]func(*values.Values){
		"pytorch": func(v *values.Values) {
			v.Elastic = values.Elastic{Min: n(1), Max: n(4)}
			v.TasksPerNode = n(4)
			v.AutoResume, v.MaxRetry = true, n(3)
		},
		"fsdp-llama-etcd": func(v *values.Values) { v.Elastic = values.Elastic{Max: n(4)} },
		"hyperpod-pytorch": func(v *values.Values) {
			v.Elastic = values.Elastic{Min: n(1), Max: n(4), Step: n(1), ScaleUpSnooze: n(60), ScalingTimeout: n(60), ShutdownTimeout: n(60)}
		},
		"mpi":          func(*values.Values) {},
		"neuron-llama": func(v *values.Values) { v.InstanceType = "ml.trn1.32xlarge" },
		"accelerate":   func(*values.Values) {},
	} {
		t.Run(name, func(t *testing.T) {
			tm, err := catalogue.Find(name, catalogue.Dirs{})
			if err != nil {
				t.Fatal(err)
			}
			v := withScript(tm, valuesFor("options"))
			v.InstanceType = "ml.p5.48xlarge"
			v.Environment, v.SecretEnv = map[string]string{"A": "b"}, []values.SecretEnv{{Name: "C", Secret: "s", Key: "k"}, {Secret: "all"}}
			v.RunPolicy = values.RunPolicy{CleanPodPolicy: "Running", TTL: n(60), Deadline: n(3600)}
			v.Tolerations = []values.Toleration{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}, {Key: "slow", Exists: true, Effect: "NoExecute", Seconds: n(60)}, {Exists: true}}
			v.RequiredTopology = "topology.k8s.aws/network-node-layer-3"
			v.ServiceAccount, v.ResultsDir, v.PreScript = "default", "/fsx/out", []string{"nvidia-smi"}
			v.LabelSelector = values.Selector{Required: map[string][]string{"rack": {"1"}}, Preferred: map[string][]string{"zone": {"a", "b"}}}
			v.Volumes = []values.Volume{{Type: values.PVC, Claim: "fsx", MountPath: "/fsx"}, {Name: "h", Type: values.HostPath, Path: "/h", MountPath: "/h", Create: true},
				{Name: "e", Type: values.EmptyDir, MountPath: "/e", Memory: true, Size: "1Gi"}}
			v.Labels, v.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
			change(&v)
			if name == "mpi" {
				v.RestartPolicy = "OnFailure"
			}
			r, err := render.Objects(tm, v)
			if err != nil {
				t.Fatal(errs.Text(err, true))
			}
			accepts(t, bed, r.Objects)
		})
	}
}

// otherFiles lets the API server judge what becomes of configuration files and
// recipes, for each kind of job.
func otherFiles(t *testing.T, bed *cluster.Bed) {
	const file = "../../internal/templates/v2config/testdata/example.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config, err := v2config.Read(file, data, values.Values{})
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	for _, name := range []string{"pytorch", "mpi", "hyperpod-pytorch"} {
		t.Run("v2 as "+name, func(t *testing.T) {
			tm, err := catalogue.Find(name, catalogue.Dirs{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := render.Objects(tm, config.Under(values.Values{Namespace: engineers}))
			if err != nil {
				t.Fatal(errs.Text(err, true))
			}
			accepts(t, bed, r.Objects)
		})
	}
	for _, hyperPod := range []bool{false, true} {
		t.Run(fmt.Sprintf("recipe, HyperPod %v", hyperPod), func(t *testing.T) {
			found, err := recipe.Read("../../internal/templates/recipe/testdata/llama/checkpointless_lora", `{"container": "image"}`, recipe.Options{HyperPod: hyperPod})
			if err != nil {
				t.Fatal(errs.Text(err, true))
			}
			r, err := render.Objects(found.Template, values.Values{Namespace: engineers, InstanceType: "ml.p5.48xlarge"}.Over(found.Values))
			if err != nil {
				t.Fatal(errs.Text(err, true))
			}
			accepts(t, bed, r.Objects)
		})
	}
}

// reallyRun starts jobs of the kinds that have an operator here; their pods run on
// nodes that hold what the templates ask for.
func reallyRun(t *testing.T, bed *cluster.Bed, admin user) {
	for _, c := range []struct {
		template string
		args     []string
		pods     int
	}{
		{"pytorch", []string{"--entry-script", "/src/train.py", "--node-count", "2", "--instance-type", "ml.p5.48xlarge"}, 2},
		{"mpi", []string{"--entry-script", "/opt/ring", "--node-count", "1", "--instance-type", "ml.p5.48xlarge"}, 2}, // with the launcher
		{"ddp-cpu", []string{"--entry-script", "/src/ddp.py", "--node-count", "2"}, 2},
	} {
		t.Run(c.template, func(t *testing.T) {
			admin := admin.in(t)
			name := "run-" + c.template
			args := append([]string{"start-job", "--name", name, "--template", c.template, "--image", "registry.example/train:1", "-n", engineers,
				"--priority", "training", "--wait", "--timeout", "90s"}, c.args...)
			admin.ok(args...)
			if err := bed.WaitForPods(t.Context(), engineers, "training.kubeflow.org/job-name="+name, "Running", c.pods); err != nil {
				t.Error(err)
			}
			if c.template == "pytorch" { // the label that static rendezvous takes the rank from
				out, err := bed.Kubectl(t.Context(), "get", "pods", "-n", engineers, "-l", "training.kubeflow.org/job-name="+name, "--sort-by=.metadata.name",
					"-o", `jsonpath={.items[*].metadata.labels.training\.kubeflow\.org/replica-index}`)
				if err != nil || out != "0 1" {
					t.Errorf("the pods' indexes are %q, %v", out, err)
				}
			}
			admin.ok("cancel-job", name, "-n", engineers)
		})
	}
}

// samplesEnv names the environment variable with the path of a checkout of
// aws-samples/awsome-distributed-training.
const samplesEnv = "HYPERPOD_TEST_SAMPLES"

var sampleKind = regexp.MustCompile(`(?m)^\s*kind: *["']?(PyTorchJob|MPIJob|HyperPodPyTorchJob)\b`)

var (
	sampleVariable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
	namespaceLine  = regexp.MustCompile(`(?m)^(  namespace: ).*$`)
)

// sampleValue is a value for a sample's parameter, by its name.
func sampleValue(name string) string {
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case has("REQUEST"), has("LIMIT"), has("SHM"):
		return "4Gi"
	case name == "GPU_RESOURCE":
		return "nvidia.com/gpu"
	case has("NODE"), has("NUM_"), has("GPUS"), has("REPLICAS"), has("RETRY"), has("SIZE"):
		return "2"
	}
	return "value"
}

// samples lets the API server judge what becomes of the public samples, and of those
// that are refused here for what the operator refuses as well.
func samples(t *testing.T, bed *cluster.Bed) {
	root := os.Getenv(samplesEnv)
	if root == "" {
		t.Skip("set " + samplesEnv + " to a checkout of aws-samples/awsome-distributed-training")
	}
	accepted, refused := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(root, ".git")+"/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !sampleKind.Match(data) {
			return err
		}
		tm, err := parse.Text("sample", path, data)
		if err != nil {
			refused++
			t.Logf("refused: %s", errs.Text(err, false))
			return nil
		}
		v := values.Values{Name: "sample", Namespace: engineers, Queue: engineers + "-localqueue", Priority: "training-priority", Params: map[string]any{}}
		for _, p := range tm.Params {
			v.Params[p.Name] = sampleValue(p.Name)
		}
		r, err := render.Objects(tm, v)
		if err != nil && strings.Contains(err.Error(), "which the Kubeflow training operator asks for") {
			refused++
			t.Logf("refused: %s", errs.Text(err, false))
			plain := sampleVariable.ReplaceAllFunc(data, func(m []byte) []byte { return []byte(sampleValue(strings.Trim(string(m), "${}"))) })
			plain = namespaceLine.ReplaceAll(plain, []byte("${1}"+engineers))
			_, err := bed.KubectlAs(t.Context(), bed.Kubeconfig, plain, "apply", "--dry-run=server", "-f", "-")
			if err == nil || !strings.Contains(err.Error(), "pytorch") || !strings.Contains(err.Error(), "container") {
				t.Errorf("%s: kubectl says of it: %v", path, err)
			}
			return nil
		}
		if err != nil {
			t.Errorf("%s: %s", path, errs.Text(err, true))
			return nil
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			var served []map[string]any
			for _, o := range r.Objects {
				if group, _, _ := strings.Cut(fmt.Sprint(o["apiVersion"]), "/"); group == "resource.nvidia.com" {
					continue // a CRD that this control plane does not have
				}
				served = append(served, o)
			}
			if _, isJob := kinds.JobFor(fmt.Sprint(served[len(served)-1]["apiVersion"]), fmt.Sprint(served[len(served)-1]["kind"])); !isJob {
				t.Logf("the last object is a %v", served[len(served)-1]["kind"])
			}
			accepts(t, bed, served)
		})
		accepted++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d samples tried, %d refused by name", accepted, refused)
}
