package templates

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// The fields of the PyTorchJob that the official CLI v2.2.0 submits for two
// nodes of ml.p5.48xlarge, and what this program makes of them. Where they
// differ, the difference is a decision and is stated here.
func TestFieldsOfTheOfficialCLI(t *testing.T) {
	r := rendered(t, "pytorch", values.Values{
		Name: "demo", Namespace: "hyperpod-ns-research", Image: "IMAGE", EntryScript: "/workspace/train.py", InstanceType: "ml.p5.48xlarge", NodeCount: values.Int(2),
		Queue: "hyperpod-ns-research-localqueue", Priority: "training-priority", AutoResume: true, MaxRetry: values.Int(3),
		Volumes: []values.Volume{{Type: values.PVC, Claim: "fsx-claim", MountPath: "/fsx"}},
	})
	if len(r.Objects) != 1 {
		t.Fatalf("%d objects; the script is the container's command, not a ConfigMap", len(r.Objects))
	}
	for path, want := range map[string]any{
		"apiVersion":         "kubeflow.org/v1",
		"kind":               "PyTorchJob",
		"metadata.name":      "demo", // exact, the official CLI adds five letters
		"metadata.namespace": "hyperpod-ns-research",
		`metadata.annotations["sagemaker.amazonaws.com/enable-job-auto-resume"]`: "true",
		`metadata.annotations["sagemaker.amazonaws.com/job-max-retry-count"]`:    "3",
		"metadata.labels.app":                              "demo",
		`metadata.labels["kueue.x-k8s.io/queue-name"]`:     "hyperpod-ns-research-localqueue",
		`metadata.labels["kueue.x-k8s.io/priority-class"]`: "training-priority",
		"spec.pytorchReplicaSpecs.Master":                  nil,
		"spec.elasticPolicy":                               nil,
		"spec.pytorchReplicaSpecs.Worker.replicas":         int64(2),
		"spec.pytorchReplicaSpecs.Worker.restartPolicy":    "OnFailure",
		workerPod + ".restartPolicy":                       nil,
		workerContainer + ".name":                          "pytorch",
		workerContainer + ".image":                         "IMAGE",
		workerContainer + ".imagePullPolicy":               "IfNotPresent",
		workerContainer + ".securityContext":               map[string]any{"capabilities": map[string]any{"add": []any{"IPC_LOCK"}}},
		workerContainer + ".resources.limits":              map[string]any{"nvidia.com/gpu": int64(8), "vpc.amazonaws.com/efa": int64(32)},
		workerContainer + ".volumeMounts[1]":               map[string]any{"name": "fsx-claim-volume", "mountPath": "/fsx"},
		workerContainer + ".volumeMounts[0]":               map[string]any{"name": "shm", "mountPath": "/dev/shm"},
		workerPod + ".volumes[1].persistentVolumeClaim":    map[string]any{"claimName": "fsx-claim"},
		workerPod + ".volumes[0].emptyDir.medium":          "Memory", // no hostPath: baseline Pod Security forbids it
		workerPod + ".hostNetwork":                         nil,
		workerPod + ".tolerations":                         nil,
		workerPod + ".nodeSelector":                        nil,
		workerContainer + ".resources.requests.cpu":        "179", // the official CLI asks for none, so that quota never counts it
		workerContainer + ".resources.requests.memory":     "1890Gi",
		workerPod + ".affinity.nodeAffinity." + "requiredDuringSchedulingIgnoredDuringExecution" + ".nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
			expressionIn(kinds.NodeHealthLabel, []string{"Schedulable"}), expressionIn(kinds.InstanceTypeLabel, []string{"ml.p5.48xlarge"})}}},
		workerPod + ".affinity.nodeAffinity." + "preferredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{"weight": int64(100), "preference": map[string]any{
			"matchExpressions": []any{expressionIn(kinds.DeepHealthLabel, []string{"Passed"})}}}},
		workerContainer + ".command": []any{"torchrun"},
		workerContainer + ".args":    []any{"--nnodes=2", "--nproc_per_node=8", "--rdzv_backend=c10d", "--rdzv_endpoint=demo-worker-0:29400", "--rdzv_id=demo", "/workspace/train.py"},
	} {
		if got := at(t, r.Objects[0], path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
	env := map[string]any{}
	for _, e := range jobobject.MapsIn(at(t, r.Objects[0], workerContainer+".env")) {
		env[manifest.TextOf(e["name"])] = e["value"]
	}
	// CUDA_VISIBLE_DEVICES is the device plugin's business, and the settings of one
	// library's overlap (CUDA_DEVICE_MAX_CONNECTIONS=1) slow others down.
	want := map[string]any{"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "^lo,docker0,veth_def_agent", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1", "FI_PROVIDER": "efa"}
	if !reflect.DeepEqual(env, want) {
		t.Errorf("environment %v, want %v", env, want)
	}
}

func TestUsersValuesWin(t *testing.T) {
	r := rendered(t, "pytorch", values.Values{Name: "d", Image: "i", EntryScript: "t.py", InstanceType: "p5.48xlarge", NodeCount: values.Int(2), EFA: values.Int(0),
		Environment: map[string]string{"FI_PROVIDER": "tcp", "NCCL_SOCKET_IFNAME": "eth0"}, Volumes: []values.Volume{{Name: "big", Type: values.EmptyDir, MountPath: "/dev/shm", Memory: true, Size: "100Gi"}}})
	c, _ := at(t, r.Objects[0], workerContainer).(map[string]any)
	if got := jobobject.Named(c["env"], "FI_PROVIDER")["value"]; got != "tcp" {
		t.Errorf("FI_PROVIDER is %v", got)
	}
	if got := jobobject.Named(c["env"], "NCCL_SOCKET_IFNAME")["value"]; got != "eth0" {
		t.Errorf("NCCL_SOCKET_IFNAME is %v", got)
	}
	if got := jobobject.Inner(c, "resources", "limits"); got["vpc.amazonaws.com/efa"] != nil {
		t.Errorf("--efa 0 asks for %v", got)
	}
	if got := at(t, r.Objects[0], workerPod+".volumes"); !reflect.DeepEqual(got, []any{map[string]any{"name": "big", "emptyDir": map[string]any{"medium": "Memory", "sizeLimit": "100Gi"}}}) {
		t.Errorf("volumes %v: the replaced one has to go", got)
	}
}

func TestNoFabricWithoutEFA(t *testing.T) {
	for _, c := range []struct {
		instanceType string
		nodes        int
		want         bool
	}{{"p5.48xlarge", 2, true}, {"p5.48xlarge", 1, false}, {"g5.2xlarge", 2, false}, {"c6i.32xlarge", 2, false}, {"c5n.18xlarge", 2, true}} {
		r := rendered(t, "pytorch", values.Values{Name: "d", Image: "i", EntryScript: "t.py", InstanceType: c.instanceType, NodeCount: values.Int(c.nodes)})
		if got := jobobject.Named(at(t, r.Objects[0], workerContainer+".env"), "FI_PROVIDER") != nil; got != c.want {
			t.Errorf("%d x %s: FI_PROVIDER %v", c.nodes, c.instanceType, got)
		}
	}
}

// Invalid JSON is refused in our words.
func TestSelectorText(t *testing.T) {
	_, err := values.ParseSelector("{bad")
	if errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "invalid --label-selector: must be a JSON object") || strings.Contains(err.Error(), "invalid character") {
		t.Errorf("%v", err)
	}
}

// --label-selector adds to the health affinity; a label that it names is its own.
func TestNodeRules(t *testing.T) {
	base := values.Values{Name: "d", Image: "i", EntryScript: "t.py", InstanceType: "p5.48xlarge"}
	required := func(v values.Values) map[string][]string {
		r := rendered(t, "pytorch", v)
		pod, _ := at(t, r.Objects[0], workerPod).(map[string]any)
		out := map[string][]string{}
		for _, k := range []string{kinds.NodeHealthLabel, kinds.DeepHealthLabel, kinds.InstanceTypeLabel, "zone"} {
			if w := jobobject.RequiredLabel(pod, k); len(w) > 0 {
				out[k] = w
			}
		}
		return out
	}
	health, typ := []string{"Schedulable"}, []string{"ml.p5.48xlarge"}
	for name, c := range map[string]struct {
		change func(*values.Values)
		want   map[string][]string
	}{
		"as it is": {func(*values.Values) {}, map[string][]string{kinds.NodeHealthLabel: health, kinds.InstanceTypeLabel: typ}},
		"selector": {func(v *values.Values) { v.LabelSelector.Required = map[string][]string{"zone": {"a"}} }, map[string][]string{kinds.NodeHealthLabel: health, kinds.InstanceTypeLabel: typ, "zone": {"a"}}},
		"two types": {func(v *values.Values) {
			v.LabelSelector.Required = map[string][]string{kinds.InstanceTypeLabel: {"x", "y"}}
		}, map[string][]string{kinds.NodeHealthLabel: health, kinds.InstanceTypeLabel: {"x", "y"}}},
		"preferred type": {func(v *values.Values) {
			v.LabelSelector.Preferred = map[string][]string{kinds.InstanceTypeLabel: {"x"}}
		},
			map[string][]string{kinds.NodeHealthLabel: health}},
		"deep":              {func(v *values.Values) { v.DeepHealthOnly = true }, map[string][]string{kinds.NodeHealthLabel: health, kinds.DeepHealthLabel: {"Passed"}, kinds.InstanceTypeLabel: typ}},
		"no health":         {func(v *values.Values) { v.HealthAffinity = no() }, map[string][]string{kinds.InstanceTypeLabel: typ}},
		"deep, not general": {func(v *values.Values) { v.HealthAffinity, v.DeepHealthOnly = no(), true }, map[string][]string{kinds.DeepHealthLabel: {"Passed"}, kinds.InstanceTypeLabel: typ}},
		"nothing":           {func(v *values.Values) { v.HealthAffinity, v.InstanceType = no(), "" }, map[string][]string{}},
	} {
		v := base
		c.change(&v)
		if got := required(v); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	v := base
	v.HealthAffinity, v.InstanceType = no(), ""
	if got := at(t, rendered(t, "pytorch", v).Objects[0], workerPod+".affinity"); got != nil {
		t.Errorf("an empty affinity is left: %v", got)
	}
	// A manifest without any gets it only when asked.
	for want, health := range map[bool]*bool{false: nil, true: yes()} {
		r := mustRender(t, mustParse(t, jobHead), values.Values{HealthAffinity: health})
		if got := at(t, r.Objects[0], "spec.template.spec.affinity") != nil; got != want {
			t.Errorf("health affinity %v: %v", want, got)
		}
	}
}

func TestNodeCountOfEachKind(t *testing.T) {
	data, err := os.ReadFile("testdata/manifests/master.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// An elastic policy requires workers.
	master := mustParse(t, strings.Replace(string(data), "elasticPolicy: {minReplicas: 1, maxReplicas: 2, maxRestarts: 10}", "nprocPerNode: auto", 1))
	for n, want := range map[int]any{1: nil, 2: int64(1), 5: int64(4)} {
		o := mustRender(t, master, values.Values{NodeCount: values.Int(n)}).Objects[0]
		if got := at(t, o, "spec.pytorchReplicaSpecs.Worker.replicas"); got != want || at(t, o, "spec.pytorchReplicaSpecs.Master.replicas") != int64(1) {
			t.Errorf("%d nodes beside a master: %v workers", n, got)
		}
	}
	alone := mustParse(t, "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\nspec: {pytorchReplicaSpecs: {Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: i}]}}}}}\n")
	o := mustRender(t, alone, values.Values{NodeCount: values.Int(3)}).Objects[0]
	if at(t, o, "spec.pytorchReplicaSpecs.Worker.replicas") != int64(2) || at(t, o, "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image") != "i" {
		t.Errorf("a master alone became %v", o)
	}
	ray := mustParse(t, "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec:\n  headGroupSpec: {template: {spec: {containers: [{name: h, image: i}]}}}\n"+
		"  workerGroupSpecs: [{groupName: g, replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}]\n")
	o = mustRender(t, ray, values.Values{NodeCount: values.Int(3), Accelerators: values.Int(2), Queue: "q"}).Objects[0]
	if at(t, o, "spec.workerGroupSpecs[0].replicas") != int64(3) || at(t, o, "spec.headGroupSpec.template.spec.containers[0].resources") != nil {
		t.Errorf("a Ray cluster became %v", o)
	}
	if at(t, o, "spec.workerGroupSpecs[0].template.spec.containers[0].resources.limits") == nil || at(t, o, `spec.headGroupSpec.template.metadata.labels["kueue.x-k8s.io/queue-name"]`) != "q" {
		t.Errorf("a Ray cluster became %v", o)
	}
}

func TestNotices(t *testing.T) {
	pytorch := values.Values{Name: "d", Image: "i", EntryScript: "t.py", NodeCount: values.Int(2)}
	with := func(f func(*values.Values)) values.Values { v := pytorch; f(&v); return v }
	old := strings.Replace(jobHead, "batch/v1\nkind: Job", "kubeflow.org/v2beta1\nkind: MPIJob", 1)
	old = strings.Replace(old, "  template:\n    spec:\n      containers:\n      - name: c\n        image: i\n",
		"  slotsPerWorker: 8\n  mpiReplicaSpecs:\n    Launcher: {template: {spec: {containers: [{name: l, image: i, command: [mpirun, -np, \"16\", --host, j-worker-0, run]}]}}}\n"+
			"    Worker: {replicas: 2, template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}, containers: [{name: w, image: i}]}}}\n", 1)
	three := "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\nspec: {nprocPerNode: \"2\", pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: i, " +
		"command: [torchrun, --nnodes=3, --nproc_per_node, \"2\", t.py]}]}}}}}\n"
	head := "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r}\nspec: {headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: h, image: i, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}}}\n"
	limited := "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\nspec: {replicatedJobs: [{name: w, template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {limits: {google.com/tpu: 4}}}]}}}}}]}\n"
	for _, c := range []struct {
		name     string
		template *parse.Template
		values   values.Values
		want     string // "": none at all
	}{
		{"plain", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType = "p5.48xlarge" }), ""},
		{"no image", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType, v.Image = "p5.48xlarge", "<account>/i:1" }), `pytorch of Worker: image "<account>/i:1" is not a valid reference`},
		{"no accelerator", mustFind(t, "pytorch"), pytorch, "the job requests no accelerators"},
		{"a head with a GPU", mustParse(t, head), values.Values{}, ""},
		{"limits alone", mustParse(t, limited), values.Values{}, ""},
		{"part of the fabric", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType, v.Accelerators = "g5.48xlarge", values.Int(4) }), "uses TCP"},
		{"tight memory", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType, v.Memory = "p5.48xlarge", "2000Gi" }), "may not fit"},
		{"shared GPUs", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType, v.TasksPerNode = "p5.48xlarge", values.Int(16) }), "16 processes share 8 GPUs"},
		{"resume elsewhere", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType, v.AutoResume, v.Namespace = "p5.48xlarge", true, "team" }), "this one is team"},
		{"CPU pods on a GPU type", mustFind(t, "pytorch"), with(func(v *values.Values) { v.InstanceType, v.Accelerators = "p5.48xlarge", values.Int(0) }), "the job requests no accelerators on ml.p5.48xlarge"},
		{"more nodes than pods", mustParse(t, three), values.Values{}, "--nnodes=3, and the job has 2 pods"},
		{"processes in the command", mustParse(t, three), values.Values{TasksPerNode: values.Int(4)}, "--nproc_per_node=2, which overrides"},
		{"processes of MPI", mustParse(t, old), values.Values{NodeCount: values.Int(4)}, "-np 16, and the job has 4 pods with 8 slots"},
		{"type without ml.", mustParse(t, old), values.Values{}, "ml.p5.48xlarge"},
		{"renamed", mustParse(t, old), values.Values{Name: "k"}, "still contains j-worker-"},
	} {
		r := mustRender(t, c.template, c.values)
		if c.want == "" && len(r.Notices) > 0 || c.want != "" && !slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, c.want) }) {
			t.Errorf("%s: notices %q, want %q", c.name, r.Notices, c.want)
		}
	}
}

func TestLaunch(t *testing.T) {
	mpi := "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: j}\nspec:\n  slotsPerWorker: 4\n  mpiReplicaSpecs:\n    Launcher: {template: {spec: {containers: [{name: l, image: i, env: [{name: A, value: x}]}]}}}\n" +
		"    Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: i}]}}}\n"
	pytorch := "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: pytorch, image: i, command: [torchrun, old.py], args: [--old]}]}}}}}\n"
	for _, c := range []struct {
		name, text, container string
		values                values.Values
		command, args         []any
	}{
		{"script", pytorch, workerContainer, values.Values{EntryScript: "new.py", TasksPerNode: values.Int(4)}, []any{"torchrun"},
			[]any{"--nnodes=2", "--nproc_per_node=4", "--rdzv_backend=c10d", "--rdzv_endpoint=j-worker-0:29400", "--rdzv_id=j", "new.py"}},
		{"arguments", pytorch, workerContainer, values.Values{ScriptArgs: []string{"--x", "1"}}, []any{"torchrun", "old.py"}, []any{"--old", "--x", "1"}},
		{"program", pytorch, workerContainer, values.Values{Command: "accelerate launch --num_machines 2", EntryScript: "t.py"}, []any{"accelerate", "launch", "--num_machines", "2"}, []any{"t.py"}},
		{"module", pytorch, workerContainer, values.Values{Command: "python -m torch.distributed.run", EntryScript: "t.py", NodeCount: values.Int(1)}, []any{"python", "-m", "torch.distributed.run"}, []any{"--nnodes=1", "--nproc_per_node=1", "t.py"}},
		{"program alone", pytorch, workerContainer, values.Values{Command: "nvidia-smi"}, []any{"nvidia-smi"}, nil},
		{"before and after", pytorch, workerContainer, values.Values{PreScript: []string{"date"}, PostScript: []string{"sync"}}, []any{"/bin/bash", "-ec", "date\n\"$@\"\nsync", "job"}, []any{"torchrun", "old.py", "--old"}},
		{"launcher", mpi, "spec.mpiReplicaSpecs.Launcher.template.spec.containers[0]", values.Values{EntryScript: "/run", Environment: map[string]string{"B": "y"}}, []any{"mpirun"}, []any{"-np", "8", "-x", "A", "-x", "B", "/run"}},
		{"worker of MPI", mpi, "spec.mpiReplicaSpecs.Worker.template.spec.containers[0]", values.Values{EntryScript: "/run"}, nil, nil},
	} {
		o := mustRender(t, mustParse(t, c.text), c.values).Objects[0]
		command, _ := at(t, o, c.container+".command").([]any)
		args, _ := at(t, o, c.container+".args").([]any)
		if !reflect.DeepEqual(command, c.command) || !reflect.DeepEqual(args, c.args) {
			t.Errorf("%s: %q %q\nwant %q %q", c.name, command, args, c.command, c.args)
		}
	}
}

func expressionIn(key string, values []string) map[string]any {
	return map[string]any{"key": key, "operator": "In", "values": manifest.AnyList(values)}
}
