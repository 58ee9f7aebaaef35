package sandbox

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

const container = `{containers: [{name: c, image: i, resources: {requests: {nvidia.com/gpu: "2", cpu: "4", memory: 8Gi}, limits: {nvidia.com/gpu: "2"}}}]}`

// every kind of job, with the states that its own operator would report.
var kindCases = []struct {
	kind    kinds.Job
	spec    string
	pods    int
	waiting string // paths that say that it waits, runs and is done
	running string
	done    string
}{
	{kinds.PyTorchJob, `pytorchReplicaSpecs: {Master: {replicas: 1, template: {spec: $C}}, Worker: {replicas: 2, template: {spec: $C}}}`, 3, "Suspended", "Running", "Succeeded"},
	{kinds.TFJob, `tfReplicaSpecs: {Chief: {replicas: 1, template: {spec: $C}}, Worker: {replicas: 1, template: {spec: $C}}}`, 2, "Suspended", "Running", "Succeeded"},
	{kinds.XGBoostJob, `xgbReplicaSpecs: {Master: {replicas: 1, template: {spec: $C}}, Worker: {replicas: 1, template: {spec: $C}}}`, 2, "Suspended", "Running", "Succeeded"},
	{kinds.JAXJob, `jaxReplicaSpecs: {Worker: {replicas: 2, template: {spec: $C}}}`, 2, "Suspended", "Running", "Succeeded"},
	{kinds.PaddleJob, `paddleReplicaSpecs: {Master: {replicas: 1, template: {spec: $C}}, Worker: {replicas: 1, template: {spec: $C}}}`, 2, "Suspended", "Running", "Succeeded"},
	{kinds.MPIJob, `mpiReplicaSpecs: {Launcher: {replicas: 1, template: {spec: $C}}, Worker: {replicas: 2, template: {spec: $C}}}`, 3, "Suspended", "Running", "Succeeded"},
	{kinds.HyperPodPyTorchJob, `replicaSpecs: [{name: pods, replicas: 2, template: {spec: $C}}]`, 2, "Suspended", "Running", "Succeeded"},
	{kinds.BatchJob, `{parallelism: 2, completions: 2, template: {spec: $B}}`, 2, "Suspended", "", "Complete"},
	{kinds.RayJob, `{entrypoint: python x.py, shutdownAfterJobFinishes: true, rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: {spec: $C}}, workerGroupSpecs: [{groupName: g, replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: {spec: $C}}]}}`, 2, "jobDeploymentStatus=Suspended", "jobStatus=RUNNING", "jobStatus=SUCCEEDED"},
	{kinds.RayCluster, `{headGroupSpec: {rayStartParams: {}, template: {spec: $C}}, workerGroupSpecs: [{groupName: g, replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: {spec: $C}}]}`, 2, "state=suspended", "state=ready", "state=ready"},
	{kinds.JobSet, `{replicatedJobs: [{name: r, replicas: 2, template: {spec: {parallelism: 1, completions: 1, template: {spec: $B}}}}]}`, 2, "Suspended", "", "Completed"},
	{kinds.TrainJob, `{runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2, resourcesPerNode: {requests: {nvidia.com/gpu: "2", cpu: "4"}, limits: {nvidia.com/gpu: "2"}}}}`, 2, "Suspended", "", "Complete"},
	{kinds.RayService, `{serveConfigV2: x, rayClusterConfig: {headGroupSpec: {rayStartParams: {}, template: {spec: $C}}, workerGroupSpecs: [{groupName: g, replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: {spec: $C}}]}}`, 2, "serviceStatus=", "serviceStatus=Running", "serviceStatus=Running"},
	{kinds.DeploymentKind, `{replicas: 2, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $C}}`, 2, "#readyReplicas=0", "#readyReplicas=2", "#readyReplicas=2"},
	{kinds.StatefulSetKind, `{replicas: 2, serviceName: a, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: $C}}`, 2, "#readyReplicas=0", "#readyReplicas=2", "#readyReplicas=2"},
	{kinds.LeaderWorkerSet, `{replicas: 2, leaderWorkerTemplate: {size: 2, leaderTemplate: {spec: $D}, workerTemplate: {spec: $D}}}`, 4, "#readyReplicas=0", "#readyReplicas=2", "#readyReplicas=2"},
	{kinds.AppWrapper, `{components: [{template: {apiVersion: v1, kind: Service, metadata: {name: s}}}, {template: {apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: in}, spec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: $C}}}}}}]}`, 2, "phase=Suspended", "phase=Running", "phase=Succeeded"},
	{kinds.Notebook, `{template: {spec: $C}}`, 1, "#readyReplicas=0", "#readyReplicas=1", "#readyReplicas=1"},
	{kinds.SparkApplication, `{type: Python, sparkVersion: 4.0.0, mainApplicationFile: f, driver: {cores: 1, memory: 1g}, executor: {instances: 2, gpu: {name: nvidia.com/gpu, quantity: 1}}}`, 3,
		"applicationState.state=SUSPENDED", "applicationState.state=RUNNING", "applicationState.state=COMPLETED"},
	{kinds.Workspace, `{displayName: d, image: i, resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}}`, 1, "!Available", "Available", "Available"},
	{kinds.InferenceEndpointConfig, `{modelName: m, modelSourceConfig: {modelSourceType: s3}, worker: {image: i, modelInvocationPort: {containerPort: 80}, modelVolumeMount: {name: v}, resources: {limits: {nvidia.com/gpu: 1}}}, replicas: 2}`, 2, "state=DeploymentInProgress", "state=DeploymentComplete", "state=DeploymentComplete"},
	{kinds.PodKind, `$B`, 1, "phase=Pending", "phase=Running", "phase=Succeeded"},
}

func holds(j map[string]any, what string) bool {
	if key, found := strings.CutPrefix(what, "#"); found {
		key, value, _ := strings.Cut(key, "=")
		n, _ := object.Int(j, "status", key)
		return fmt.Sprint(n) == value
	}
	if key, value, found := strings.Cut(what, "="); found {
		return object.Text(j, append([]string{"status"}, strings.Split(key, ".")...)...) == value
	}
	if name, found := strings.CutPrefix(what, "!"); found {
		return !object.True(j, name)
	}
	return what == "" || object.True(j, what)
}

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range kindCases {
		seen[c.kind.Kind] = true
		t.Run(c.kind.Kind, func(t *testing.T) {
			b := newBench(t, "john-smith")
			// Something else has all the room at first.
			b.create(smithNS, pytorch("first", "smith", 2, 4, lasting("10m")))
			b.clock.move(time.Second)
			spec := map[string]any{}
			fill := strings.NewReplacer("$C", container, "$B", "{restartPolicy: Never, "+container[1:], "$D", strings.ReplaceAll(container, `"2"`, `"1"`))
			text := fill.Replace(c.spec)
			if name := c.kind.Launch().Container; name != "" { // the operator looks for it
				text = strings.ReplaceAll(text, "{name: c,", "{name: "+name+",")
			}
			if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
				t.Fatal(err)
			}
			b.create(smithNS, map[string]any{"apiVersion": c.kind.GroupVersion(), "kind": c.kind.Kind, "spec": spec,
				"metadata": map[string]any{"name": "j", "labels": map[string]any{kinds.QueueLabel: smithNS + "-localqueue"}}})
			j := b.get(c.kind.Resource, smithNS, "j")
			if !holds(j, c.waiting) || !c.kind.Itself && !c.kind.OnePod && len(b.podPhases(smithNS, "j")) != 0 {
				t.Fatalf("it does not wait: %v", j["status"])
			}
			b.advance(11 * time.Minute)
			j = b.get(c.kind.Resource, smithNS, "j")
			if holds(j, c.waiting) || !holds(j, c.running) || object.Bool(j, c.kind.SuspendPath...) {
				t.Fatalf("it does not run: %v; %v", j["status"], b.reasons(smithNS, "j"))
			}
			by := "?labelSelector="
			if c.kind.Itself {
				by = "?fieldSelector="
			}
			pods := b.items(kinds.Pod.Path(smithNS, "") + by + url.QueryEscape(c.kind.PodSelector(j)))
			if len(pods) != c.pods {
				t.Errorf("%d pods with the kind's label, want %d", len(pods), c.pods)
			}
			for _, p := range pods {
				if object.Text(p, "status", "phase") != "Running" || object.Text(p, "spec", "nodeName") == "" {
					t.Errorf("pod %v", p)
				}
			}
			if c.kind.OnePod {
				return
			}
			if w := b.workload(smithNS, "j"); !object.True(w, "Admitted") || !object.True(w, "PodsReady") {
				t.Errorf("workload %v", object.At(w, "status", "conditions"))
			}
			b.advance(2 * time.Hour)
			j = b.get(c.kind.Resource, smithNS, "j")
			if !holds(j, c.done) {
				t.Errorf("it is not done: %v", j["status"])
			}
			if w := b.workload(smithNS, "j"); !c.kind.Serves && !object.True(w, "Finished") {
				t.Errorf("workload %v", object.At(w, "status", "conditions"))
			}
		})
	}
	for _, k := range kinds.Jobs() {
		if !seen[k.Kind] && !k.PodsElsewhere(nil) {
			t.Errorf("no case for %s", k.Kind)
		}
	}
}
