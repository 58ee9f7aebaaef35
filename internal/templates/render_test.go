package templates

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func at(t *testing.T, o map[string]any, path string) any {
	t.Helper()
	steps, err := fieldpath.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any = o
	for _, s := range steps {
		if s.List {
			l, _ := v.([]any)
			if s.Index >= len(l) {
				return nil
			}
			v = l[s.Index]
			continue
		}
		m, _ := v.(map[string]any)
		v = m[s.Key]
	}
	return v
}

const (
	workerPod       = "spec.pytorchReplicaSpecs.Worker.template.spec"
	workerContainer = workerPod + ".containers[0]"
)

func TestRenderErrors(t *testing.T) {
	base := values.Values{Name: "demo", Image: "i", EntryScript: "t.py", InstanceType: "ml.p5.48xlarge", NodeCount: values.Int(2)}
	with := func(f func(*values.Values)) values.Values { v := base; f(&v); return v }
	const master, job = "testdata/manifests/master.yaml", "testdata/manifests/job.yaml"
	for _, c := range []struct {
		name, template string
		values         values.Values
		want           []string
	}{
		{"no name", "pytorch", with(func(v *values.Values) { v.Name = "" }), []string{"JOB_NAME", "--name"}},
		{"upper case", "pytorch", with(func(v *values.Values) { v.Name = "Demo" }), []string{`"Demo"`, "lower-case"}},
		{"dash at the end", "pytorch", with(func(v *values.Values) { v.Name = "demo-" }), []string{"letter or digit at both ends"}},
		{"blank", "pytorch", with(func(v *values.Values) { v.Name = " demo" }), []string{"blanks"}},
		{"underscore", "pytorch", with(func(v *values.Values) { v.Name = "a_b" }), []string{"a_b"}},
		{"digit first", "pytorch", with(func(v *values.Values) { v.Name = "7b" }), []string{"start with a letter", "PyTorchJob"}},
		{"too long", "pytorch", with(func(v *values.Values) { v.Name = strings.Repeat("a", 55) }), []string{"at most 54", "-worker-1"}},
		{"too long for its launcher", "mpi", with(func(v *values.Values) { v.Name = strings.Repeat("a", 50) }), []string{"at most 48", "-launcher-"}},
		{"missing values", "pytorch", values.Values{Name: "demo"}, []string{"2 more values", "IMAGE", "--image", "ENTRY_SCRIPT", "--entry-script"}},
		{"torchrun without a script", "pytorch", with(func(v *values.Values) { v.EntryScript, v.Command = "", "torchrun --tee 3" }), []string{"ENTRY_SCRIPT"}},
		{"missing image in a manifest", "testdata/manifests/with-services.yaml", values.Values{NodeCount: values.Int(2), Accelerators: values.Int(1)}, []string{"REGISTRY", "TAG", "--set REGISTRY="}},
		{"unknown parameter", "pytorch", with(func(v *values.Values) { v.Params = map[string]any{"SHM_SIZ": "1Gi"} }), []string{"SHM_SIZ", `did you mean "SHM_SIZE"`}},
		{"unknown --set", "pytorch", with(func(v *values.Values) { v.Set = []fieldpath.Assignment{{Key: "shm_size", Value: "1Gi"}} }), []string{"shm_size", "SHM_SIZE"}},
		{"parameter of another type", "pytorch", with(func(v *values.Values) { v.NodeCount, v.Params = nil, map[string]any{"NODE_COUNT": "two"} }), []string{"NODE_COUNT", "whole number"}},
		{"parameter outside its enum", "pytorch", with(func(v *values.Values) { v.Params = map[string]any{"CLEAN_POD_POLICY": "Some"} }), []string{"CLEAN_POD_POLICY", "All, Running, None"}},
		{"quantity parameter", "pytorch", with(func(v *values.Values) { v.Params = map[string]any{"SHM_SIZE": "big"} }), []string{"SHM_SIZE", "quantity"}},
		{"flag and parameter differ", "pytorch", with(func(v *values.Values) { v.Params = map[string]any{"NODE_COUNT": 3} }), []string{"--node-count is 2", "NODE_COUNT is 3"}},
		{"parameter that is a map", "pytorch", with(func(v *values.Values) { v.Params = map[string]any{"IMAGE": map[string]any{"a": 1}} }), []string{"IMAGE", "must be a single value"}},
		{"unknown type", "pytorch", with(func(v *values.Values) { v.InstanceType = "p5.48xlarg" }), []string{"p5.48xlarg", `did you mean "ml.p5.48xlarge"`}},
		{"no nodes", "pytorch", with(func(v *values.Values) { v.NodeCount = values.Int(0) }), []string{`--node-count "0"`, "at least 1"}},
		{"negative nodes", "pytorch", with(func(v *values.Values) { v.NodeCount = values.Int(-2) }), []string{`--node-count "-2"`}},
		{"no tasks", "pytorch", with(func(v *values.Values) { v.TasksPerNode = values.Int(0) }), []string{`--tasks-per-node "0"`}},
		{"negative accelerators", "pytorch", with(func(v *values.Values) { v.Accelerators = values.Int(-1) }), []string{`--accelerators "-1"`}},
		{"too many accelerators", "pytorch", with(func(v *values.Values) { v.Accelerators = values.Int(9) }), []string{"ml.p5.48xlarge has 8 accelerators", "9"}},
		{"accelerators on a CPU type", "pytorch", with(func(v *values.Values) { v.InstanceType, v.Accelerators = "c5.large", values.Int(1) }), []string{"ml.c5.large has no accelerators"}},
		{"the manifest's accelerators", job, with(func(v *values.Values) { v.InstanceType = "c5.large"; v.Accelerators = values.Int(1) }), []string{"no accelerators"}},
		{"too many of the manifest's accelerators", master, with(func(v *values.Values) { v.InstanceType = "g5.12xlarge" }), []string{"ml.g5.12xlarge has 4 accelerators", "8"}},
		{"other accelerators than the manifest's", master, with(func(v *values.Values) { v.InstanceType = "trn1.32xlarge" }), []string{"nvidia.com/gpu", "ml.trn1.32xlarge"}},
		{"too many EFA", "pytorch", with(func(v *values.Values) { v.EFA = values.Int(33) }), []string{"has 32 EFA", "33"}},
		{"too much memory", "pytorch", with(func(v *values.Values) { v.Memory = "3Ti" }), []string{"memory of 3Ti", "2048Gi"}},
		{"too much CPU", "pytorch", with(func(v *values.Values) { v.VCPU = "193" }), []string{"cpu of 193", "192"}},
		{"memory that is not a quantity", "pytorch", with(func(v *values.Values) { v.Memory = "16Gigs" }), []string{"--memory", "16Gigs"}},
		{"CPU below zero", "pytorch", with(func(v *values.Values) { v.VCPU = "-1" }), []string{"--vcpu"}},
		{"request above limit's type", "pytorch", with(func(v *values.Values) { v.MemoryLimit = "x" }), []string{"--memory-limit"}},
		{"MIG profile", "pytorch", with(func(v *values.Values) { v.Partition = "3g.41gb" }), []string{"3g.41gb", "did you mean", "3g.40gb"}},
		{"MIG on a type without", "pytorch", with(func(v *values.Values) { v.InstanceType, v.Partition = "g5.12xlarge", "1g.5gb" }), []string{"does not support MIG"}},
		{"MIG and accelerators", "pytorch", with(func(v *values.Values) { v.Partition, v.Accelerators = "1g.10gb", values.Int(1) }), []string{"cannot be used with"}},
		{"MIG without a type", "pytorch", with(func(v *values.Values) { v.Partition, v.InstanceType = "1g.10gb", "" }), []string{"--instance-type"}},
		{"MIG count alone", "pytorch", with(func(v *values.Values) { v.PartitionCount = values.Int(1) }), []string{"--accelerator-partition-type"}},
		{"MIG count of none", "pytorch", with(func(v *values.Values) { v.Partition, v.PartitionCount = "1g.10gb", values.Int(0) }), []string{"at least 1"}},
		{"pull policy", "pytorch", with(func(v *values.Values) { v.PullPolicy = "always" }), []string{"--pull-policy", `did you mean "Always"`}},
		{"restart policy", "pytorch", with(func(v *values.Values) { v.RestartPolicy = "Sometimes" }), []string{"--restart-policy", "OnFailure"}},
		{"restart policy of MPI", "mpi", with(func(v *values.Values) { v.RestartPolicy = "Always" }), []string{"Always", "OnFailure or Never", "MPIJob"}},
		{"restart policy of a Job", job, with(func(v *values.Values) { v.InstanceType, v.RestartPolicy = "", "Always" }), []string{"Always", "of a Job"}},
		{"resume with another policy", "pytorch", with(func(v *values.Values) { v.AutoResume, v.RestartPolicy = true, "Never" }), []string{"OnFailure", "Never", "--restart-policy OnFailure"}},
		{"resume against the manifest", master, with(func(v *values.Values) { v.AutoResume = true }), []string{"OnFailure", "Master has Never"}},
		{"retries without resume", "pytorch", with(func(v *values.Values) { v.MaxRetry = values.Int(3) }), []string{"--max-retry", "--auto-resume"}},
		{"negative retries", "pytorch", with(func(v *values.Values) { v.AutoResume, v.MaxRetry = true, values.Int(-1) }), []string{`--max-retry "-1"`}},
		{"resume of a Job", job, with(func(v *values.Values) { v.InstanceType, v.AutoResume = "", true }), []string{"--auto-resume", "backoffLimit"}},
		{"retry annotation alone", "pytorch", with(func(v *values.Values) { v.Annotations = map[string]string{kinds.MaxRetryAnnotation: "3"} }), []string{kinds.MaxRetryAnnotation, "--auto-resume"}},
		{"resume annotation alone", "pytorch", with(func(v *values.Values) { v.Annotations = map[string]string{kinds.AutoResumeAnnotation: "true"} }), []string{kinds.AutoResumeAnnotation, "--max-retry"}},
		{"environment name", "pytorch", with(func(v *values.Values) { v.Environment = map[string]string{"A-B": "1"} }), []string{`"A-B"`, "environment"}},
		{"label name", "pytorch", with(func(v *values.Values) { v.Labels = map[string]string{"a b": "1"} }), []string{`"a b"`}},
		{"label value", "pytorch", with(func(v *values.Values) { v.Labels = map[string]string{"a": "x@y"} }), []string{"x@y"}},
		{"annotation name", "pytorch", with(func(v *values.Values) { v.Annotations = map[string]string{"a b": "1"} }), []string{`"a b"`}},
		{"namespace", "pytorch", with(func(v *values.Values) { v.Namespace = "Team A" }), []string{"--namespace"}},
		{"queue", "pytorch", with(func(v *values.Values) { v.Queue = "a/b" }), []string{"--queue-name"}},
		{"priority", "pytorch", with(func(v *values.Values) { v.Priority = "a b" }), []string{"--priority"}},
		{"volume", "pytorch", with(func(v *values.Values) {
			v.Volumes = []values.Volume{{Name: "d", Type: values.HostPath, Path: "rel", MountPath: "/d"}}
		}), []string{"rel", "absolute"}},
		{"two volumes at a path", "pytorch", with(func(v *values.Values) {
			v.Volumes = []values.Volume{{Type: values.PVC, Claim: "a", MountPath: "/d"}, {Type: values.PVC, Claim: "b", MountPath: "/d/"}}
		}), []string{"two volumes are mounted at /d"}},
		{"open quote", "pytorch", with(func(v *values.Values) { v.Command = "python 'x" }), []string{"--command", "not closed"}},
		{"a path that does not exist", "pytorch", with(func(v *values.Values) {
			v.Set = []fieldpath.Assignment{{Key: "spec.runPolcy.backoffLimit", Value: "3"}}
		}), []string{"runPolcy", `did you mean "runPolicy"`}},
		{"a value of another type", "pytorch", with(func(v *values.Values) {
			v.Set = []fieldpath.Assignment{{Key: "spec.runPolicy.backoffLimit", Value: "many"}}
		}), []string{"spec.runPolicy.backoffLimit", "whole number"}},
		{"an item too far", "pytorch", with(func(v *values.Values) {
			v.Set = []fieldpath.Assignment{{Key: workerPod + ".containers[3].image", Value: "x"}}
		}), []string{"item [3] not found"}},
		{"no replicas left", "pytorch", with(func(v *values.Values) {
			v.Set = []fieldpath.Assignment{{Key: "spec.pytorchReplicaSpecs.Worker.replicas", Value: "0"}}
		}), []string{"invalid replicas 0 of Worker"}},
		{"no image left", "pytorch", with(func(v *values.Values) {
			v.Set = []fieldpath.Assignment{{Key: workerContainer + ".image", Value: "null"}}
		}), []string{"no image", "--image"}},
		{"pytorch's container", "pytorch", with(func(v *values.Values) {
			v.Set = []fieldpath.Assignment{{Key: workerContainer + ".name", Value: "main"}}
		}), []string{"named pytorch"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := render.Objects(mustFind(t, c.template), c.values)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if code := errs.ExitOf(err); code != errs.Usage {
				t.Errorf("exit code %d, want %d", code, errs.Usage)
			}
			text := errs.Text(err, false)
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		})
	}
}

// A name of 54 letters makes pods of exactly 63 with one digit, and does not
// with two.
func TestLongestName(t *testing.T) {
	v := values.Values{Name: strings.Repeat("a", 54), Image: "i", EntryScript: "t.py", NodeCount: values.Int(10)}
	rendered(t, "pytorch", v)
	v.NodeCount = values.Int(11)
	if _, err := render.Objects(mustFind(t, "pytorch"), v); err == nil {
		t.Error("pods of 64 letters were accepted")
	}
}

func TestManifestsThatNeedCare(t *testing.T) {
	two := jobHead + "---\n" + strings.Replace(jobHead, "name: j}", "name: k}", 1)
	none := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: $HOME, y: \"${X}\"}\n"
	for _, c := range []struct {
		name, text string
		values     values.Values
		want       string
	}{
		{"two jobs", two, values.Values{}, "2 jobs"},
		{"image without a job", none, values.Values{Image: "i"}, "--image requires a job"},
		{"no name at all", strings.Replace(jobHead, "metadata: {name: j}", "metadata: {generateName: j-}", 1), values.Values{}, "--name"},
		{"no image", strings.Replace(jobHead, "        image: i\n", "", 1), values.Values{}, "no image"},
		{"arguments for a shell", jobHead + "        command: [bash, -c, run]\n", values.Values{ScriptArgs: []string{"x"}}, "--script-args"},
		{"arguments without a command", jobHead, values.Values{ScriptArgs: []string{"x"}}, "--entry-script"},
		{"lines around the image's command", jobHead, values.Values{PreScript: []string{"date"}}, "--pre-script"},
		{"nodes of a Ray job with two groups", "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n  workerGroupSpecs:\n" +
			"  - {groupName: a, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}\n  - {groupName: b, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}\n",
			values.Values{NodeCount: values.Int(3)}, "--node-count"},
		{"restart policy of a Ray job", "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n  workerGroupSpecs:\n" +
			"  - {groupName: a, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}\n", values.Values{RestartPolicy: "Never"}, "RayCluster"},
		{"a key that becomes another's", strings.Replace(jobHead, "metadata: {name: j}", "metadata: {name: j, labels: {\"${A}\": x, b: $A}}", 1), values.Values{Params: map[string]any{"A": "b"}}, `key ${A} becomes "b", which exists already`},
		{"a key of two lines", strings.Replace(jobHead, "metadata: {name: j}", "metadata: {name: j, labels: {\"${A}\": x}}", 1), values.Values{Params: map[string]any{"A": "b: c\nd"}}, "not a valid key"},
		{"no key", strings.Replace(jobHead, "metadata: {name: j}", "metadata: {name: j, labels: {\"${A}\": x}}", 1), values.Values{Params: map[string]any{"A": ""}}, "not a valid key"},
		{"a key that nobody gives", strings.Replace(jobHead, "metadata: {name: j}", "metadata: {name: j, labels: {\"${A}\": x}}", 1), values.Values{}, "requires a value for A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := render.Objects(mustParse(t, c.text), c.values)
			if err == nil || !strings.Contains(errs.Text(err, false), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
	// Launching parameters in a template without a job.
	lone := "parameters: {TORCHRUN_FLAGS: {type: list}, MPIRUN_FLAGS: {type: list}}\n---\napiVersion: example.com/v1\nkind: Thing\na: $TORCHRUN_FLAGS\nb: $MPIRUN_FLAGS\n"
	if got := mustRender(t, mustParse(t, lone), values.Values{}).Objects[0]; !reflect.DeepEqual(got["a"], []any{"--nnodes=1", "--nproc_per_node=1"}) {
		t.Errorf("got %v", got)
	}
	r := mustRender(t, mustParse(t, none), values.Values{Name: "b", Namespace: "team", Queue: "q"})
	if r.Job != -1 || at(t, r.Objects[0], "metadata.name") != "b" || at(t, r.Objects[0], "metadata.namespace") != "team" {
		t.Errorf("got %v", r)
	}
	if at(t, r.Objects[0], "data.x") != "$HOME" || at(t, r.Objects[0], "metadata.labels") != nil {
		t.Errorf("a ConfigMap's text or labels changed: %v", r.Objects[0])
	}
}

func TestResultNumbers(t *testing.T) {
	for _, c := range []struct {
		template string
		values   values.Values
		want     render.Result
	}{
		{"pytorch", values.Values{InstanceType: "trn1.32xlarge", NodeCount: values.Int(2)}, render.Result{InstanceType: "ml.trn1.32xlarge", NodeCount: 2, TasksPerNode: 32, Accelerators: 16, AcceleratorResource: instances.NeuronDevice}},
		{"pytorch", values.Values{InstanceType: "p5.48xlarge", TasksPerNode: values.Int(2)}, render.Result{InstanceType: "ml.p5.48xlarge", NodeCount: 1, TasksPerNode: 2, Accelerators: 2, AcceleratorResource: instances.GPU}},
		{"pytorch", values.Values{InstanceType: "p5.48xlarge", TasksPerNode: values.Int(16)}, render.Result{InstanceType: "ml.p5.48xlarge", NodeCount: 1, TasksPerNode: 16, Accelerators: 8, AcceleratorResource: instances.GPU}},
		{"pytorch", values.Values{InstanceType: "m5.large"}, render.Result{InstanceType: "ml.m5.large", NodeCount: 1, TasksPerNode: 2}},
		{"smpv2-llama2", values.Values{}, render.Result{InstanceType: "ml.p5.48xlarge", NodeCount: 2, TasksPerNode: 8, Accelerators: 8, AcceleratorResource: instances.GPU}},
		{"testdata/manifests/master.yaml", values.Values{}, render.Result{NodeCount: 4, TasksPerNode: 8, Accelerators: 8, AcceleratorResource: instances.GPU}},
	} {
		v := c.values
		if c.template == "pytorch" {
			v.Name, v.Image, v.EntryScript = "d", "i", "t.py"
		}
		got := rendered(t, c.template, v)
		got.Objects, got.Notices, got.Origin = nil, nil, ""
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v\nwant %+v", c.template, got, c.want)
		}
	}
}

// What the cluster's own nodes offer wins over the table.
func TestNodeOfTheCluster(t *testing.T) {
	v := values.Values{Name: "d", Image: "i", EntryScript: "t.py", InstanceType: "ml.x9.metal", NodeCount: values.Int(2),
		Node: &values.Node{Allocatable: map[string]string{"cpu": "100", "memory": "200Gi", "nvidia.com/gpu": "4", "vpc.amazonaws.com/efa": "2"}}}
	r := rendered(t, "pytorch", v)
	requests := at(t, r.Objects[0], workerContainer+".resources.requests")
	want := map[string]any{"cpu": "95", "memory": "190Gi", "nvidia.com/gpu": int64(4), "vpc.amazonaws.com/efa": int64(2)}
	if !reflect.DeepEqual(requests, want) {
		t.Errorf("requests %v, want %v", requests, want)
	}
	// A cluster whose device plugin serves the newer name, and a node that leaves
	// less than the table's estimate.
	v.InstanceType, v.Node = "trn1.32xlarge", &values.Node{Allocatable: map[string]string{"cpu": "100", "memory": "500Gi", "aws.amazon.com/neuron": "16"}}
	r = rendered(t, "pytorch", v)
	requests = at(t, r.Objects[0], workerContainer+".resources.requests")
	want = map[string]any{"cpu": "95", "memory": "461Gi", "aws.amazon.com/neuron": int64(16), "vpc.amazonaws.com/efa": int64(8)}
	if !reflect.DeepEqual(requests, want) {
		t.Errorf("requests %v, want %v", requests, want)
	}
}

// A governed job's every pod template carries the labels, or Kueue never admits
// it; ordinary objects keep theirs.
func TestInjectLabels(t *testing.T) {
	labels := map[string]string{kinds.QueueLabel: "q", kinds.PriorityLabel: "p"}
	for name, path := range map[string][]string{
		"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Master: {template: {}}, Worker: {template: {}}}}\n": {
			"", "spec.pytorchReplicaSpecs.Master.template", "spec.pytorchReplicaSpecs.Worker.template"},
		"apiVersion: ray.io/v1\nkind: RayCluster\nspec: {headGroupSpec: {template: {}}, workerGroupSpecs: [{template: {}}, {template: {}}]}\n": {
			"", "spec.headGroupSpec.template", "spec.workerGroupSpecs[0].template", "spec.workerGroupSpecs[1].template"},
		"apiVersion: apps/v1\nkind: StatefulSet\nspec: {template: {}}\n":                                                       {"", "spec.template"},
		"apiVersion: batch/v1\nkind: CronJob\nspec: {jobTemplate: {spec: {template: {}}}}\n":                                   {"", "spec.jobTemplate.spec.template"},
		"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {leaderWorkerTemplate: {workerTemplate: {}}}\n": {"", "spec.leaderWorkerTemplate.workerTemplate"},
		"apiVersion: v1\nkind: Service\nmetadata: {labels: {a: b}}\n":                                                          {""},
	} {
		docs, err := manifest.Parse([]byte(name))
		if err != nil {
			t.Fatal(err)
		}
		o := docs[0].Plain().(map[string]any)
		jobobject.InjectLabels(o, labels)
		for _, p := range path {
			m := o
			if p != "" {
				m, _ = at(t, o, p).(map[string]any)
			}
			for k, v := range labels {
				if got := jobobject.Inner(m, "metadata", "labels")[k]; got != v {
					t.Errorf("%s at %q: %s is %v", manifest.TextOf(o["kind"]), p, k, got)
				}
			}
		}
	}
	// The template of a Notebook has no metadata: API servers refuse it.
	notebook := map[string]any{"apiVersion": "kubeflow.org/v1", "kind": "Notebook", "spec": map[string]any{"template": map[string]any{"spec": map[string]any{}}}}
	jobobject.InjectLabels(notebook, labels)
	if template := jobobject.Inner(notebook, "spec", "template"); template["metadata"] != nil || jobobject.Queue(notebook) != "q" {
		t.Errorf("the Notebook is %v", notebook)
	}
}

// Rendering is a pure function: twice the same, also at the same time.
func TestRenderIsPure(t *testing.T) {
	tm := mustFind(t, "testdata/manifests/master.yaml")
	v := everything(t)
	first, err := manifest.Marshal(mustRender(t, tm, v).Objects)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := render.Objects(tm, v)
			if err != nil {
				t.Error(err)
				return
			}
			if again, _ := manifest.Marshal(r.Objects); string(again) != string(first) {
				t.Error("two renderings differ")
			}
		})
	}
	wg.Wait()
	if !reflect.DeepEqual(v, everything(t)) {
		t.Error("the values were changed")
	}
}

// The budget is 5 ms. One run must be within four times that, for an instrumented machine; on a busy one it has 10 s for a
// run that nothing interrupts.
func TestRenderIsFast(t *testing.T) {
	tm := mustFind(t, "pytorch")
	v := everything(t)
	best := time.Hour
	for begin := time.Now(); best > 20*time.Millisecond && time.Since(begin) < 10*time.Second; {
		start := time.Now()
		mustRender(t, tm, v)
		best = min(best, time.Since(start))
	}
	if best > 20*time.Millisecond {
		t.Errorf("the fastest rendering took %v", best)
	}
}

func BenchmarkRender(b *testing.B) {
	tm := mustFind(b, "pytorch")
	v := values.Values{Name: "d", Image: "i", EntryScript: "t.py", InstanceType: "p5.48xlarge", NodeCount: values.Int(4)}
	for b.Loop() {
		if _, err := render.Objects(tm, v); err != nil {
			b.Fatal(err)
		}
	}
}
