package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

const gpu = corev1.ResourceName("nvidia.com/gpu")

const jobMeta = `{"name":"train","namespace":"team","uid":"1234","labels":{"kueue.x-k8s.io/queue-name":"queue","kueue.x-k8s.io/priority-class":"high"}}`

func template(gpus int) string {
	return fmt.Sprintf(`{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"%d"}}}]}}`, gpus)
}

func replica(n int, gpus int) string {
	return fmt.Sprintf(`{"replicas":%d,"template":%s}`, n, template(gpus))
}

// manifests has one job of every kind.
var manifests = []struct{ kind, apiVersion, spec, want string }{
	{"PyTorchJob", "kubeflow.org/v1", `{"runPolicy":{"suspend":true},"pytorchReplicaSpecs":{"Worker":` + replica(3, 8) + `,"Master":` + replica(1, 8) + `}}`, "master 1 8, worker 3 24"},
	{"PyTorchJob", "kubeflow.org/v1", `{"pytorchReplicaSpecs":{"Worker":{"template":` + template(4) + `}}}`, "worker 1 4"},
	{"TFJob", "kubeflow.org/v1", `{"tfReplicaSpecs":{"PS":` + replica(2, 0) + `,"Worker":` + replica(2, 4) + `,"Chief":` + replica(1, 4) + `}}`, "chief 1 4, ps 2 0, worker 2 8"},
	{"XGBoostJob", "kubeflow.org/v1", `{"xgbReplicaSpecs":{"Master":` + replica(1, 1) + `,"Worker":` + replica(2, 1) + `}}`, "master 1 1, worker 2 2"},
	{"JAXJob", "kubeflow.org/v1", `{"jaxReplicaSpecs":{"Worker":` + replica(2, 4) + `}}`, "worker 2 8"},
	{"PaddleJob", "kubeflow.org/v1", `{"paddleReplicaSpecs":{"Master":` + replica(1, 1) + `,"Worker":` + replica(2, 1) + `}}`, "master 1 1, worker 2 2"},
	{"MPIJob", "kubeflow.org/v2beta1", `{"runPolicy":{"suspend":true},"mpiReplicaSpecs":{"Launcher":` + replica(1, 0) + `,"Worker":` + replica(4, 8) + `}}`, "launcher 1 0, worker 4 32"},
	{"HyperPodPyTorchJob", "sagemaker.amazonaws.com/v1", `{"nprocPerNode":"8","replicaSpecs":[{"name":"pods","replicas":2,"template":` + template(8) + `},{"name":"aux","template":` + template(1) + `}]}`, "pods 2 16, aux 1 1"},
	{"HyperPodPyTorchJob", "sagemaker.amazonaws.com/v1", `{"replicaSpecs":[{"replicas":2,"spares":1,"template":` + template(8) + `}]}`, "main 3 24"},
	{"Job", "batch/v1", `{"template":` + template(2) + `}`, "main 1 2"},
	{"Job", "batch/v1", `{"suspend":true,"parallelism":5,"completions":3,"template":` + template(2) + `}`, "main 3 6"},
	{"JobSet", "jobset.x-k8s.io/v1alpha2", `{"suspend":true,"replicatedJobs":[{"name":"leader","template":{"spec":{"template":` + template(1) + `}}},{"name":"workers","replicas":2,"template":{"spec":{"parallelism":3,"completions":3,"template":` + template(2) + `}}}]}`, "leader 1 1, workers 6 12"},
	{"TrainJob", "trainer.kubeflow.org/v1alpha1", `{"runtimeRef":{"name":"r"}},"hyperpod.child":{"spec":{"replicatedJobs":[{"name":"init","replicas":1,"template":{"spec":{"parallelism":1,"completions":1,"template":` + template(0) + `}}},{"name":"node","replicas":1,"template":{"spec":{"parallelism":3,"completions":3,"template":` + template(2) + `}}}]}}`, "init 1 0, node 3 6"},
	{"RayCluster", "ray.io/v1", `{"suspend":true,"headGroupSpec":{"rayStartParams":{},"template":` + template(0) + `},"workerGroupSpecs":[{"groupName":"gpu","replicas":3,"rayStartParams":{},"template":` + template(4) + `}]}`, "head 1 0, gpu 3 12"},
	{"RayJob", "ray.io/v1", `{"suspend":true,"entrypoint":"x","submissionMode":"HTTPMode","rayClusterSpec":{"headGroupSpec":{"rayStartParams":{},"template":` + template(0) + `},"workerGroupSpecs":[{"groupName":"gpu","replicas":2,"rayStartParams":{},"template":` + template(4) + `}]}}`, "head 1 0, gpu 2 8"},
	{"RayService", "ray.io/v1", `{"serveConfigV2":"x","rayClusterConfig":{"suspend":true,"headGroupSpec":{"rayStartParams":{},"template":` + template(0) + `},"workerGroupSpecs":[{"groupName":"gpu","replicas":2,"rayStartParams":{},"template":` + template(4) + `}]}}`, "head 1 0, gpu 2 8"},
	{"Deployment", "apps/v1", `{"replicas":3,"template":` + template(2) + `}`, "main 3 6"},
	{"StatefulSet", "apps/v1", `{"template":` + template(2) + `}`, "main 1 2"},
	{"LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", `{"replicas":2,"leaderWorkerTemplate":{"size":3,"leaderTemplate":` + template(1) + `,"workerTemplate":` + template(2) + `}}`, "leader 2 2, worker 4 8"},
	{"AppWrapper", "workload.codeflare.dev/v1beta2", `{"suspend":true,"components":[{"template":{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"}}},{"template":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"p"},"spec":{"pytorchReplicaSpecs":{"Worker":` + replica(3, 8) + `,"Master":` + replica(1, 8) + `}}}}]}`, "train-0 1 8, train-1 3 24"},
	{"Notebook", "kubeflow.org/v1", `{"template":` + template(2) + `}`, "main 1 2"},
	{"SparkApplication", "sparkoperator.k8s.io/v1beta2", `{"type":"Scala","sparkVersion":"4.0.0","mainApplicationFile":"f","nodeSelector":{"a":"b"},"driver":{"cores":1,"coreRequest":"500m"},"executor":{"instances":3,"memory":"512m","gpu":{"name":"nvidia.com/gpu","quantity":2}}}`, "driver 1 0, executor 3 6"},
	{"Workspace", "workspace.jupyter.org/v1alpha1", `{"displayName":"x","resources":{"limits":{"nvidia.com/gpu":"2"}}}`, "main 1 2"},
	{"InferenceEndpointConfig", "inference.sagemaker.aws.amazon.com/v1", `{"modelName":"m","worker":{"image":"i","resources":{"limits":{"nvidia.com/gpu":"2"}}}}`, "main 1 2"},
	{"Pod", "v1", `{"containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"2"}}}]}`, "main 1 2"},
}

func manifest(kind, apiVersion, spec string) []byte {
	return []byte(`{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":` + jobMeta + `,"spec":` + spec + `}`)
}

func testLookup() Lookup {
	return NewLookup(
		&kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 500},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Value: 7, GlobalDefault: true},
		&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "a100"}, Spec: kueue.ResourceFlavorSpec{
			NodeLabels:  map[string]string{"node.kubernetes.io/instance-type": "ml.p4d.24xlarge"},
			Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}},
		}},
	)
}

func TestWorkloadForEveryKind(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range manifests {
		seen[m.kind] = true
		t.Run(m.kind+" "+m.want, func(t *testing.T) {
			data := manifest(m.kind, m.apiVersion, m.spec)
			wl, err := WorkloadFor(context.Background(), data, testLookup())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			asks := wl.DeepCopy()
			for i := range asks.Spec.PodSets {
				workload.UseLimitsAsMissingRequestsInPod(&asks.Spec.PodSets[i].Template.Spec)
			}
			info := workload.NewInfo(asks)
			for i := range info.TotalRequests {
				r := &info.TotalRequests[i]
				got = append(got, fmt.Sprintf("%s %d %d", r.Name, r.Count, r.Requests.ResourceValue(gpu)))
			}
			if s := strings.Join(got, ", "); s != m.want {
				t.Errorf("pod sets %q, want %q", s, m.want)
			}
			gvk := schemaOf(m.kind, m.apiVersion)
			if want := jobframework.GetWorkloadNameForOwnerWithGVK("train", "1234", gvk); wl.Name != want || wl.Namespace != "team" {
				t.Errorf("%s/%s, want team/%s", wl.Namespace, wl.Name, want)
			}
			if wl.Spec.QueueName != "queue" || *wl.Spec.Priority != 500 || wl.Spec.PriorityClassRef.Name != "high" || !*wl.Spec.Active {
				t.Errorf("spec %+v", wl.Spec)
			}
			o := metav1.GetControllerOf(wl)
			if o == nil || o.Kind != m.kind || o.APIVersion != m.apiVersion || o.Name != "train" || o.UID != "1234" || wl.Labels["kueue.x-k8s.io/job-uid"] != "1234" {
				t.Errorf("owner %+v, labels %v", o, wl.Labels)
			}
		})
	}
	for _, gvk := range SupportedJobs() {
		if k, _ := kinds.JobFor(gvk.GroupVersion().String(), gvk.Kind); !seen[gvk.Kind] && !k.PodsElsewhere(nil) {
			t.Errorf("no manifest of %s", gvk)
		}
	}
}

func schemaOf(kind, apiVersion string) schema.GroupVersionKind {
	return (&metav1.TypeMeta{Kind: kind, APIVersion: apiVersion}).GroupVersionKind()
}

func suspended(job []byte) (bool, error) {
	gj, _, err := parseJob(job)
	if err != nil {
		return false, err
	}
	return gj.IsSuspended(), nil
}

// A job that starts gets its flavor's node labels, and after an eviction is as before.
func TestStartAndSuspend(t *testing.T) {
	ctx := context.Background()
	for _, m := range manifests {
		t.Run(m.kind+" "+m.want, func(t *testing.T) {
			data := manifest(m.kind, m.apiVersion, strings.Replace(m.spec, `{`, `{"x-unknown":{"kept":[1]},`, 1))
			wl, err := WorkloadFor(ctx, data, testLookup())
			if err != nil {
				t.Fatal(err)
			}
			k, _ := kinds.JobFor(m.apiVersion, m.kind)
			if k.OnePod && k.Form != nil {
				t.Skip("Kueue starts its pods")
			}
			admitAll(wl)
			started, err := StartJob(ctx, data, wl, testLookup())
			if err != nil {
				t.Fatal(err)
			}
			if k.Kind == kinds.SparkApplication.Kind && strings.Count(string(started), `"a":"b"`) != 2 {
				t.Errorf("the node labels of the application are lost: %s", started)
			}
			if on, err := suspended(started); on && len(k.SuspendPath) > 0 || err != nil {
				t.Errorf("suspended %v, %v", on, err)
			}
			n := strings.Count(string(started), `"node.kubernetes.io/instance-type":"ml.p4d.24xlarge"`)
			if n != len(wl.Spec.PodSets) || strings.Count(string(started), `"tolerations":[{"key":"gpu","operator":"Exists"}]`) != n {
				t.Errorf("%d node selectors for %d pod sets:\n%s", n, len(wl.Spec.PodSets), started)
			}
			stopped, err := SuspendJob(ctx, started, wl)
			if err != nil {
				t.Fatal(err)
			}
			if on, err := suspended(stopped); !on || err != nil {
				t.Errorf("suspended %v, %v", on, err)
			}
			for what, s := range map[string][]byte{"started": started, "stopped": stopped} {
				if !strings.Contains(string(s), `"x-unknown":{"kept":[1]}`) {
					t.Errorf("%s lost an unknown field: %s", what, s)
				}
			}
			again, err := WorkloadFor(ctx, childOf(t, data, stopped), testLookup())
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(again.Spec)
			b, _ := json.Marshal(wl.Spec)
			if string(a) != string(b) {
				t.Errorf("the restored job asks for something else:\n%s\n%s", a, b)
			}
		})
	}
}

// childOf returns the second job with the child that the first one comes with, if any.
func childOf(t *testing.T, from, to []byte) []byte {
	t.Helper()
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal(from, &a), json.Unmarshal(to, &b)); err != nil {
		t.Fatal(err)
	}
	child := kinds.ChildOf(a)
	if child == nil {
		return to
	}
	if kinds.ChildOf(b) != nil {
		t.Error("a changed job keeps its child, which no API server knows")
	}
	out, err := json.Marshal(kinds.WithChild(b, child))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func admitAll(wl *kueue.Workload) {
	wl.Status.Admission = &kueue.Admission{ClusterQueue: "team"}
	for _, ps := range wl.Spec.PodSets {
		wl.Status.Admission.PodSetAssignments = append(wl.Status.Admission.PodSetAssignments, kueue.PodSetAssignment{
			Name: ps.Name, Count: ptr.To(ps.Count), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{gpu: "a100"},
			ResourceUsage: corev1.ResourceList{gpu: resource.MustParse("1")},
		})
	}
}

func TestWorkloadForPartialJob(t *testing.T) {
	ctx := context.Background()
	data := []byte(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n","annotations":{"kueue.x-k8s.io/job-min-parallelism":"2"},"labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"parallelism":8,"completions":20,"template":` + template(1) + `}}`)
	wl, err := WorkloadFor(ctx, data, testLookup())
	if err != nil {
		t.Fatal(err)
	}
	if m := wl.Spec.PodSets[0].MinCount; m == nil || *m != 2 {
		t.Fatalf("%+v", wl.Spec.PodSets[0])
	}
	if *wl.Spec.Priority != 7 || wl.Spec.PriorityClassRef.Name != "default" {
		t.Errorf("the global default priority: %+v", wl.Spec)
	}
	admitAll(wl)
	wl.Status.Admission.PodSetAssignments[0].Count = ptr.To[int32](3)
	started, err := StartJob(ctx, data, wl, testLookup())
	if err != nil || !strings.Contains(string(started), `"parallelism":3`) {
		t.Errorf("%s, %v", started, err)
	}
	stopped, err := SuspendJob(ctx, started, wl)
	if err != nil || !strings.Contains(string(stopped), `"parallelism":8`) {
		t.Errorf("%s, %v", stopped, err)
	}
}

func TestWorkloadForErrors(t *testing.T) {
	tests := []struct {
		name, in string
		want     string
		unknown  bool
	}{
		{"not JSON", `{`, "job:", false},
		{"not a job", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"p"}}`, "v1 Service", true},
		{"old version", `{"apiVersion":"kubeflow.org/v1","kind":"MPIJob","metadata":{"name":"p"}}`, "version v2beta1 is needed", true},
		{"wrong type", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"parallelism":"three"}}`, "Job:", false},
		{"no name", `{"apiVersion":"batch/v1","kind":"Job","metadata":{},"spec":{}}`, "metadata.name is missing", false},
		{"no pods", `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"j"},"spec":{"pytorchReplicaSpecs":{}}}`, "it has no pods", false},
		{"incomplete", `{"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j"},"spec":{"entrypoint":"x"}}`, "incomplete", false},
		{"unknown priority class", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","labels":{"kueue.x-k8s.io/priority-class":"urgent"}},"spec":{"template":{"spec":{"containers":[]}}}}`, `priority class: workloadpriorityclasses "urgent" not found`, false},
		{"odd replica specs", `{"apiVersion":"sagemaker.amazonaws.com/v1","kind":"HyperPodPyTorchJob","metadata":{"name":"j"},"spec":{"replicaSpecs":"all"}}`, "replicaSpecs", false},
		{"prebuilt", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","labels":{"kueue.x-k8s.io/prebuilt-workload-name":"w"}},"spec":{"template":{"spec":{"containers":[]}}}}`, "uses w: the job names a prebuilt workload", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wl, err := WorkloadFor(context.Background(), []byte(tt.in), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrUnknownJob) != tt.unknown {
				t.Errorf("%v, %v; want %q", wl, err, tt.want)
			}
		})
	}
}
