package templates

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const jobSet = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  replicatedJobs:
  - name: workers
    replicas: REPLICAS
    template:
      spec:
        parallelism: PODS
        completions: PODS
        template:
          spec:
            restartPolicy: Never
            containers:
            - {name: c, image: "i:1", command: [torchrun, --nnodes=NODES, t.py]}
`

// The pods of a JobSet are its replicas times the pods of each job. --node-count sets
// the one that the manifest leaves open.
func TestJobSetCounts(t *testing.T) {
	for _, c := range []struct {
		name, replicas, pods, nodes string
		count                       *int
		want, fault, note           string
	}{
		{name: "the placeholder is required", replicas: "1", pods: "${NUM_NODES}", nodes: "${NUM_NODES}", fault: "NUM_NODES"},
		{name: "the placeholder is the number of pods", replicas: "1", pods: "${NUM_NODES}", nodes: "${NUM_NODES}", count: values.Int(4), want: "1 4 4"},
		{name: "pods of one job", replicas: "1", pods: "2", nodes: "4", count: values.Int(4), want: "1 4 4"},
		{name: "pods of several jobs", replicas: "2", pods: "2", nodes: "4", count: values.Int(8), want: "2 4 4"},
		{name: "several jobs of unequal parts", replicas: "2", pods: "2", nodes: "3", count: values.Int(3), fault: "2 equal parts"},
		{name: "a command that counts all pods", replicas: "2", pods: "3", nodes: "6", want: "2 3 3"},
		{name: "a command that counts the pods of a job", replicas: "2", pods: "3", nodes: "3", want: "2 3 3"},
		{name: "a command that counts neither", replicas: "2", pods: "3", nodes: "4", want: "2 3 3", note: "sets --nnodes=4, and the job has 6 pods"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("REPLICAS", c.replicas, "PODS", c.pods, "NODES", c.nodes)
			manifest := text.Replace(jobSet)
			r, err := render.Objects(mustParse(t, manifest), values.Values{NodeCount: c.count})
			if c.fault != "" {
				if err == nil || !strings.Contains(errs.Text(err, false), c.fault) {
					t.Fatalf("error %v, want %s", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			get := func(path string) any { return at(t, r.Objects[0], "spec.replicatedJobs[0]."+path) }
			if got := fmt.Sprint(get("replicas"), get("template.spec.parallelism"), get("template.spec.completions")); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if notes := strings.Join(r.Notices, " "); (c.note == "") == strings.Contains(notes, "nnodes") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %s, want %q", notes, c.note)
			}
		})
	}
}

// Every job kind's fields are checked: an unknown one, a word for a number, and an
// invalid quantity.
func TestFieldsOfEveryJobKind(t *testing.T) {
	pod := "template: {spec: {serviceAccountName: V_KSA, containers: [{name: pytorch, image: \"i:1\", resources: {limits: {cpu: PLACE}}}]}}"
	specs := map[string]string{
		"PyTorchJob":         "pytorchReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"MPIJob":             "mpiReplicaSpecs: {Launcher: {replicas: two, " + pod + "}}",
		"TFJob":              "tfReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"XGBoostJob":         "xgbReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"JAXJob":             "jaxReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"PaddleJob":          "paddleReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"HyperPodPyTorchJob": "replicaSpecs: [{name: w, replicas: two, " + pod + "}]",
		"Job":                "parallelism: two, " + pod,
		"JobSet":             "replicatedJobs: [{name: w, replicas: two, template: {spec: {" + pod + "}}}]",
		"RayCluster":         "headGroupSpec: {" + pod + "}, workerGroupSpecs: [{groupName: w, replicas: two}]",
		"RayService":         "rayClusterConfig: {headGroupSpec: {" + pod + "}, workerGroupSpecs: [{groupName: w, replicas: two}]}",
		"Deployment":         "replicas: two, " + pod,
		"StatefulSet":        "replicas: two, " + pod,
		"LeaderWorkerSet":    "replicas: two, leaderWorkerTemplate: {workerTemplate: {" + strings.TrimPrefix(pod, "template: {") + "}",
		"Pod":                "activeDeadlineSeconds: two, " + strings.TrimPrefix(strings.TrimSuffix(pod, "}}"), "template: {spec: {"),
		"TrainJob": "runtimeRef: {name: r}, trainer: {numNodes: two, resourcesPerNode: {limits: {cpu: PLACE}}}, runtimePatches: [{manager: cli.hyperpod/pods, " +
			"trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {serviceAccountName: V_KSA}}}}}]}}}}]",
		"Notebook":                strings.Replace(pod, "containers:", "activeDeadlineSeconds: two, containers:", 1),
		"SparkApplication":        "driver: {cores: two, initContainers: [{resources: {limits: {cpu: PLACE}}}], serviceAccount: V_KSA}, executor: {instances: 1}",
		"Workspace":               "idleShutdown: {}, resources: {limits: {cpu: PLACE}}, volumes: two, serviceAccountName: V_KSA",
		"InferenceEndpointConfig": "replicas: two, worker: {resources: {limits: {cpu: PLACE}}}, kubernetes: {serviceAccountName: V_KSA}",
		"AppWrapper":              "components: [{template: {apiVersion: batch/v1, kind: Job, metadata: {name: i}, spec: {parallelism: two, " + pod + "}}}]",
		"RayJob":                  "rayClusterSpec: {headGroupSpec: {" + pod + "}, workerGroupSpecs: [{groupName: w, replicas: two}]}",
	}
	for kind, spec := range specs {
		k, ok := kinds.JobNamed(kind)
		if !ok {
			t.Fatal(kind)
		}
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: j}\nspec: {oddField: 1, %s}\n", k.GroupVersion(), kind, spec)
		_, faults, _ := render.Check("t", "t", []byte(text))
		got := fmt.Sprint(faults)
		for _, want := range []string{`no field "oddField" in spec`, "two", "PLACE", "V_KSA"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", kind, want, got)
			}
		}
	}
	for _, k := range kinds.Jobs() {
		if kind := k.Kind; specs[kind] == "" && !k.PodsElsewhere(nil) {
			t.Errorf("%s is not tested", kind)
		}
	}
}

// The fields that KubeRay v1.7 added are known, and their values are checked.
func TestNewerRayFields(t *testing.T) {
	cluster := `{tlsOptions: {enabled: true}, networkPolicy: {mode: DenyAll}, historyServerOptions: {}, autoscalerOptions: {command: [c], args: [a], imagePullPolicy: Always}, ` +
		`gcsFaultToleranceOptions: {backend: embedded, storage: {size: 1Gi}, externalStorageNamespace: n}, ` +
		`headGroupSpec: {rayStartParams: {}, ingressOptions: {host: h}, template: {spec: {containers: [{name: h, image: "i:1"}]}}}, ` +
		`workerGroupSpecs: [{groupName: w, replicas: 1, priority: 2, rayStartParams: {}, template: {spec: {containers: [{name: w, image: "i:1"}]}}}]}`
	for kind, spec := range map[string]string{"RayCluster": cluster, "RayJob": "{entrypoint: e, rayClusterSpec: " + cluster + "}", "RayService": "{suspend: false, rayClusterConfig: " + cluster + "}"} {
		text := "apiVersion: ray.io/v1\nkind: " + kind + "\nmetadata: {name: j}\nspec: " + spec + "\n"
		if _, faults, _ := render.Check("t", "t", []byte(text)); len(faults) > 0 {
			t.Errorf("%s: %v", kind, faults)
		}
		wrong := strings.NewReplacer("enabled: true", "enabled: maybe", "priority: 2", "priority: high", "imagePullPolicy", "pullPolicy").Replace(text)
		if _, faults, _ := render.Check("t", "t", []byte(wrong)); len(faults) != 3 {
			t.Errorf("%s: %d faults: %v", kind, len(faults), faults)
		}
	}
}

// The webhooks of the training operator look for a container of a name, a different one
// for each kind. The MPI operator has no such rule.
func TestContainerNames(t *testing.T) {
	for kind, want := range map[string]string{"PyTorchJob": "pytorch", "TFJob": "tensorflow", "XGBoostJob": "xgboost", "JAXJob": "jax", "PaddleJob": "paddle", "MPIJob": ""} {
		k, _ := kinds.JobNamed(kind)
		role := "Worker"
		switch kind {
		case "XGBoostJob":
			role = "Master"
		case "MPIJob":
			role = "Launcher"
		}
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: x}\nspec: {%s: {%s: {replicas: 1, template: {spec: {containers: [{name: NAME, image: \"i:1\"}]}}}}}\n",
			k.GroupVersion(), kind, k.Roles[0].Path[1], role)
		_, err := render.Objects(mustParse(t, strings.Replace(text, "NAME", "c", 1)), values.Values{})
		if said := fmt.Sprint(err); want != "" && !strings.Contains(said, "requires a container named "+want) || want == "" && err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if want != "" {
			if _, err := render.Objects(mustParse(t, strings.Replace(text, "NAME", want, 1)), values.Values{}); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}

// The queue label is where Kueue reads it, for every kind that it governs, and a queue
// that the manifest names stays unless the user names another one.
func TestQueueOfEveryKind(t *testing.T) {
	const pod = "{spec: {containers: [{name: c, image: \"i:1\"}]}}"
	for _, c := range []struct{ kind, spec, queueAt, podAt string }{
		{"v1 Pod", "{containers: [{name: c, image: \"i:1\"}]}", "", ""},
		{"apps/v1 Deployment", "{selector: {matchExpressions: [{key: a, operator: DoesNotExist}]}, template: " + pod + "}", "", "spec.template"},
		{"apps/v1 StatefulSet", "{selector: {matchExpressions: [{key: a, operator: DoesNotExist}]}, serviceName: s, template: " + pod + "}", "", "spec.template"},
		{"leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", "{leaderWorkerTemplate: {workerTemplate: " + pod + "}}", "", "spec.leaderWorkerTemplate.workerTemplate"},
		{"trainer.kubeflow.org/v1alpha1 TrainJob", "{runtimeRef: {name: torch}}", "", ""},
		{"workload.codeflare.dev/v1beta2 AppWrapper", "{components: [{template: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: \"i:1\"}]}}}]}", "", "spec.components[0].template"},
		{"kubeflow.org/v1 JAXJob", "{jaxReplicaSpecs: {Worker: {replicas: 1, template: " + strings.Replace(pod, "name: c", "name: jax", 1) + "}}}", "", "spec.jaxReplicaSpecs.Worker.template"},
		{"kubeflow.org/v1 PaddleJob", "{paddleReplicaSpecs: {Worker: {replicas: 1, template: " + strings.Replace(pod, "name: c", "name: paddle", 1) + "}}}", "", "spec.paddleReplicaSpecs.Worker.template"},
		{"ray.io/v1 RayService", "{rayClusterConfig: {headGroupSpec: {template: " + pod + "}}}", "", ""},
		{"sparkoperator.k8s.io/v1beta2 SparkApplication", "{type: Scala, sparkVersion: 3.5.0, mainApplicationFile: a.jar, image: \"i:1\", driver: {}, executor: {}}", "", ""},
		{"workspace.jupyter.org/v1alpha1 Workspace", "{displayName: d, image: \"i:1\"}", "", ""},
		{"inference.sagemaker.aws.amazon.com/v1 JumpStartModel", "{model: {modelId: m}, server: {instanceType: ml.g5.xlarge}}", "", ""},
		{"batch/v1 CronJob", "{schedule: \"1 * * * *\", jobTemplate: {metadata: {labels: {a: b}}, spec: {template: " + strings.Replace(pod, "spec: {", "spec: {restartPolicy: Never, ", 1) + "}}}", "spec.jobTemplate.", "spec.jobTemplate.spec.template"},
	} {
		version, kind, _ := strings.Cut(c.kind, " ")
		own := ""
		for _, v := range []struct {
			own    string
			chosen bool
			want   string
		}{{"", true, "q"}, {"mine", true, "mine"}, {"mine", false, "q"}} {
			if own = ""; v.own != "" {
				own = ", labels: {kueue.x-k8s.io/queue-name: " + v.own + "}"
			}
			text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: x%s}\nspec: %s\n", version, kind, own, c.spec)
			r, err := render.Objects(mustParse(t, text), values.Values{Queue: "q", QueueChosen: v.chosen})
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			places := []string{"", c.queueAt}
			if c.podAt != "" {
				places = append(places, c.podAt+".")
			}
			for _, place := range places {
				if got := at(t, r.Objects[0], place+`metadata.labels["kueue.x-k8s.io/queue-name"]`); got != v.want {
					t.Errorf("%s with queue %q: %smetadata has %v, want %s", kind, v.own, place, got, v.want)
				}
			}
			if told := strings.Contains(strings.Join(r.Notices, " "), "replaced the queue mine of "+kind+" x with q"); told != (v.own != "" && v.want == "q") {
				t.Errorf("%s with queue %q: %s", kind, v.own, r.Notices)
			}
		}
	}
}

// --queue-name for a manifest that Kueue does not queue is reported.
func TestQueueOfNothing(t *testing.T) {
	text := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {}\n"
	for _, c := range []struct {
		chosen bool
		want   string
	}{{false, "--queue-name is not applied"}, {true, ""}} {
		r, err := render.Objects(mustParse(t, text), values.Values{Queue: "q", QueueChosen: c.chosen})
		if got := strings.Join(r.Notices, " "); err != nil || c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("chosen %v: %q, %v", c.chosen, got, err)
		}
	}
}

// An instance type with EFA gives it to the pods of the kinds that have a place for it. --efa is an error where there is none.
func TestEFAWithoutAField(t *testing.T) {
	for _, c := range []struct {
		kind, spec string
		takes      bool
	}{
		{"SparkApplication", "{type: Scala, sparkVersion: 3.5.0, mainApplicationFile: a.jar, image: \"i:1\", driver: {}, executor: {instances: 2}}", false},
		{"Workspace", "{displayName: d, image: \"i:1\", resources: {requests: {cpu: 1}}}", true},
		{"InferenceEndpointConfig", "{modelName: m, modelSourceConfig: {modelSourceType: s3}, replicas: 2, worker: {image: \"i:1\", modelInvocationPort: {containerPort: 80}, modelVolumeMount: {name: v}, resources: {requests: {cpu: 1}}}}", true},
		{"TrainJob", "{runtimeRef: {name: r}, trainer: {numNodes: 2}}", true},
		{"Job", "{template: {spec: {containers: [{name: c, image: \"i:1\"}]}}}", true},
	} {
		k, _ := kinds.JobNamed(c.kind)
		text := fmt.Sprintf("description: d\nparameters: {}\n---\napiVersion: %s\nkind: %s\nmetadata: {name: x}\nspec: %s\n", k.GroupVersion(), c.kind, c.spec)
		r, err := render.Objects(mustParse(t, text), values.Values{InstanceType: "ml.p5.48xlarge", NodeCount: values.Int(2)})
		if err != nil {
			t.Errorf("%s: %s", c.kind, errs.Text(err, false))
			continue
		}
		if got := strings.Contains(fmt.Sprint(r.Objects), "vpc.amazonaws.com/efa:32"); got != c.takes {
			t.Errorf("%s: EFA %t in %v", c.kind, got, r.Objects)
		}
		if _, err := render.Objects(mustParse(t, text), values.Values{EFA: values.Int(4)}); (err == nil) != c.takes {
			t.Errorf("%s: --efa: %v", c.kind, err)
		}
	}
}

// The operators of Kubeflow refuse jobs without a role that they need, and with numbers of pods that they cannot start.
// validation.ValidateMPIJob is the rule of the MPI operator itself; the others are in pkg/webhooks of training-operator v1.9,
// which does not build with this version of controller-runtime.
func TestCountsOfRoles(t *testing.T) {
	for _, c := range []struct{ kind, roles, want string }{
		{"PyTorchJob", "Worker 2", ""},
		{"PyTorchJob", "Worker -", ""},
		{"PyTorchJob", "Master 1", ""},
		{"PyTorchJob", "Master -", "must be 1"},
		{"PyTorchJob", "Master 0", "must be 1"},
		{"PyTorchJob", "Master 2", "must be 1"},
		{"PyTorchJob", "Master 0, Worker 2", "must be 1"},
		{"PyTorchJob", "Master -, Worker 2", "must be 1"},
		{"PyTorchJob", "Master 1, Worker -", ""},
		{"PyTorchJob", "Master 1, Worker 0", "must be at least 1"},
		{"PyTorchJob", "Master 1, Worker -1", "must be at least 1"},
		{"XGBoostJob", "Master 1, Worker 2", ""},
		{"XGBoostJob", "Master 1, Worker 0", ""},
		{"XGBoostJob", "Master 0, Worker 2", "must be 1"},
		{"XGBoostJob", "Master -, Worker 2", "must be 1"},
		{"XGBoostJob", "Worker 2", "must have a Master"},
		{"PaddleJob", "Master -, Worker 2", ""},
		{"PaddleJob", "Master 0, Worker 2", ""},
		{"PaddleJob", "Worker 2", ""},
		{"TFJob", "Chief 1, Worker 2", ""},
		{"TFJob", "Chief 1, Master 1", "only one of Chief and Master"},
		{"TFJob", "Master 0, Worker 2", ""},
		{"JAXJob", "Worker -", ""},
		{"MPIJob", "Launcher 1, Worker 2", ""},
		{"MPIJob", "Launcher -, Worker 1", ""},
		{"MPIJob", "Launcher -, Worker -", "must be at least 1"},
		{"MPIJob", "Launcher 1", ""},
		{"MPIJob", "Worker 2", "must have a Launcher"},
		{"MPIJob", "Launcher 0, Worker 2", "must be 1"},
		{"MPIJob", "Launcher 2, Worker 2", "must be 1"},
		{"MPIJob", "Launcher 1, Worker 0", "must be at least 1"},
	} {
		k, _ := kinds.JobNamed(c.kind)
		roles := map[string]any{}
		for _, r := range strings.Split(c.roles, ", ") {
			name, n, _ := strings.Cut(r, " ")
			role := map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": k.Launch().Container, "image": "i:1"}}}}}
			if k.Launch().Container == "" {
				kinds.Set(role, []any{map[string]any{"name": "c", "image": "i:1"}}, "template", "spec", "containers")
			}
			if n != "-" {
				role["replicas"] = json.Number(n)
			}
			roles[name] = role
		}
		object := map[string]any{"apiVersion": k.GroupVersion(), "kind": c.kind, "metadata": map[string]any{"name": "j"}, "spec": map[string]any{k.Roles[0].Path[1]: roles}}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		_, faults, _ := render.Check("t", "t", text)
		if got := fmt.Sprint(faults); (c.want == "") != (len(faults) == 0) || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s, want %q", c.kind, c.roles, got, c.want)
		}
		if c.kind != "MPIJob" {
			continue
		}
		var job mpi.MPIJob
		if err := json.Unmarshal(text, &job); err != nil {
			t.Fatal(err)
		}
		mpi.SetDefaults_MPIJob(&job)
		if refused := validation.ValidateMPIJob(&job); (len(refused) > 0) != (c.want != "") {
			t.Errorf("%s %s: the operator says %v", c.kind, c.roles, refused)
		}
	}
}

// The definition of a SparkApplication allows any fields in the templates of its pods, which the Spark operator gives to Spark.
func TestSparkPodTemplate(t *testing.T) {
	const template = "{oddField: 1, spec: {containers: [{name: c, oddField: two, env: [{value: v}]}]}}"
	text := "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: s}\nspec: {type: Scala, sparkVersion: 3.5.0, mainApplicationFile: a.jar, " +
		"image: \"i:1\", driver: {template: " + template + "}, executor: {template: " + template + "}}\n"
	_, faults, err := render.Check("t", "t", []byte(text))
	if len(faults) > 0 || err != nil {
		t.Errorf("%v, %v", faults, err)
	}
	if _, err := render.Objects(mustParse(t, text), values.Values{}); err != nil {
		t.Error(err)
	}
}

// Numbers such as 2.0 and 2e0 are whole, and blanks around a quantity do not count, as for the API server.
func TestNumbersAsTheServerReadsThem(t *testing.T) {
	text := func(n string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: " + n + ", template: {spec: {containers: [{name: c, image: \"i:1\", resources: {requests: {cpu: \"1 \"}}}]}}}\n"
	}
	for n, want := range map[string]bool{"2.0": true, "2e0": true, "2.5": false, "1e30": false} {
		if _, faults, err := render.Check("t", "t", []byte(text(n))); (len(faults) == 0 && err == nil) != want {
			t.Errorf("%s: %v, %v", n, faults, err)
		}
	}
	r, err := render.Objects(mustParse(t, text("2.0")), values.Values{})
	if err != nil || fmt.Sprint(at(t, r.Objects[0], "spec.parallelism")) != "2" {
		t.Errorf("%v, %v", r, err)
	}
}
