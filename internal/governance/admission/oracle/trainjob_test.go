package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	kftrainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	jobsetapi "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/jobs/trainjob"
	"sigs.k8s.io/kueue/pkg/podset"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/trainruntime"
)

type noIndex struct{}

func (noIndex) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// randomRuntime is a runtime and a TrainJob of it, of the forms that users write.
func randomRuntime(r *rand.Rand) (runtime, job map[string]any) {
	object := func(text string, args ...any) map[string]any {
		var m map[string]any
		must(json.Unmarshal(fmt.Appendf(nil, text, args...), &m))
		return m
	}
	some := func(texts ...string) string { return texts[r.Intn(len(texts))] }
	resources := func() string {
		return some(`{}`, `{"requests":{"cpu":"2","memory":"4Gi"}}`, `{"limits":{"nvidia.com/gpu":"8"}}`,
			`{"requests":{"cpu":"1"},"limits":{"cpu":"2","nvidia.com/gpu":"4"}}`)
	}
	container := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"image":"i","resources":%s,"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]%s}`, name, resources(),
			some(``, `,"command":["run"]`, `,"volumeMounts":[{"name":"v","mountPath":"/v"}]`))
	}
	pods := func(name string) string {
		return fmt.Sprintf(`{%s"spec":{"containers":[%s%s]%s}}`, some(``, `"metadata":{"labels":{"x":"y"},"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"}},`),
			container(name), some(``, `,`+container("side")), some(``, `,"nodeSelector":{"n":"1"}`, `,"tolerations":[{"key":"a","operator":"Exists"}]`, `,"volumes":[{"name":"v","emptyDir":{}}]`))
	}
	row := func(name, step string) string {
		metadata := ""
		if step != "" {
			metadata = fmt.Sprintf(`"metadata":{"labels":{"trainer.kubeflow.org/trainjob-ancestor-step":%q}},`, step)
		}
		return fmt.Sprintf(`{"name":%q,"replicas":%s,"template":{%s"spec":{%s"template":%s}}}`, name, some("1", "1", "2"), metadata,
			some(``, `"parallelism":2,`, `"parallelism":3,"completions":1,`), pods(some(name, name, "node")))
	}
	policy := some(`"torch":{}`, `"torch":{}`, `"jax":{}`, `"xgboost":{}`, ``,
		`"mpi":{"numProcPerNode":1,"mpiImplementation":"OpenMPI","sshAuthMountPath":"/root/.ssh","runLauncherAsNode":`+some("true", "false")+`}`)
	if nodes := some("", `"numNodes":2`, `"numNodes":4`); nodes != "" {
		policy = nodes + some("", ","+policy)
		if policy[len(policy)-1] == ',' {
			policy = policy[:len(policy)-1]
		}
	}
	rows := row("node", some("trainer", "trainer", "trainer", ""))
	if r.Intn(3) == 0 {
		rows = row("launcher", "trainer") + "," + row("node", "")
	}
	if r.Intn(3) == 0 {
		rows = row("dataset-initializer", "dataset-initializer") + "," + row("model-initializer", "model-initializer") + "," + rows
	}
	runtime = object(`{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"ClusterTrainingRuntime","metadata":{"name":"r"},"spec":{%s"template":{%s"spec":{"replicatedJobs":[%s]}}}}`,
		some("", fmt.Sprintf(`"mlPolicy":{%s},`, policy), fmt.Sprintf(`"mlPolicy":{%s},`, policy)), some("", `"metadata":{"labels":{"l":"1"}},`), rows)
	fields := ""
	if r.Intn(4) > 0 {
		parts := []string{}
		for _, f := range []string{`"numNodes":` + some("1", "3", "5"), `"image":"mine"`, `"command":["c"]`, `"args":["a"]`,
			`"env":[{"name":"B","value":"9"},{"name":"C","value":"3"}]`, `"resourcesPerNode":` + resources(), `"numProcPerNode":2`} {
			if r.Intn(2) == 0 {
				parts = append(parts, f)
			}
		}
		fields += fmt.Sprintf(`,"trainer":{%s}`, strings.Join(parts, ","))
	}
	if r.Intn(3) == 0 {
		fields += `,"initializer":{"dataset":{"storageUri":"hf://d","env":[{"name":"A","value":"7"}]},"model":{"storageUri":"hf://m","secretRef":{"name":"s"}}}`
	}
	patches := `{"manager":"kueue.x-k8s.io/manager","trainingRuntimeSpec":{"template":{"spec":{}}}}`
	if r.Intn(2) == 0 {
		patches = fmt.Sprintf(`{"manager":"example.com/me","trainingRuntimeSpec":{"template":{"spec":{"replicatedJobs":[{"name":%q,"template":{"spec":{"template":{%s"spec":%s}}}}]}}}},`,
			some("node", "launcher"), some("", `"metadata":{"labels":{"p":"q"}},`),
			some(`{"nodeSelector":{"n":"2","m":"3"}}`, `{"tolerations":[{"key":"b","operator":"Exists"}],"serviceAccountName":"sa"}`,
				`{"volumes":[{"name":"w","emptyDir":{}}],"containers":[{"name":"node","volumeMounts":[{"name":"w","mountPath":"/w"}]}]}`)) + patches
	}
	job = object(`{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"t","namespace":"ns","uid":"u","labels":{"kueue.x-k8s.io/queue-name":"q"}},
		"spec":{"runtimeRef":{"name":"r","kind":"ClusterTrainingRuntime","apiGroup":"trainer.kubeflow.org"},"suspend":true%s,"runtimePatches":[%s]}}`, fields, patches)
	return runtime, job
}

func typed[T any](m map[string]any) *T {
	out := new(T)
	data, err := json.Marshal(m)
	must(err)
	must(json.Unmarshal(data, out))
	return out
}

func generic(spec kftrainer.TrainJobSpec) map[string]any {
	return *typed[map[string]any](map[string]any{"metadata": map[string]any{"name": "t", "namespace": "ns"}, "spec": spec})
}

// podSetsOf is Kueue's answer; the plugins of the Trainer panic on what its webhook refuses.
func podSetsOf(ctx context.Context, j *trainjob.TrainJob, c client.Client) (out []kueue.PodSet, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return j.PodSets(ctx, c)
}

// TestTrainJob compares the pod sets of random TrainJobs with those of Kueue's integration,
// which runs the Trainer's own code, and what Kueue changes in a job that it starts.
func TestTrainJob(t *testing.T) {
	ctx := t.Context()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kftrainer.AddToScheme, jobsetapi.AddToScheme, kueue.AddToScheme} {
		must(add(scheme))
	}
	r := rand.New(rand.NewSource(int64(*first)))
	several, refused, pods := 0, 0, int32(0)
	for i := range min(*inputs, 3000) {
		rt, job := randomRuntime(r)
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(typed[kftrainer.ClusterTrainingRuntime](rt), typed[kftrainer.TrainJob](job)).Build()
		if _, err := trainjob.NewReconciler(ctx, c, noIndex{}, nil); err != nil {
			t.Fatal(err)
		}
		theirs := (*trainjob.TrainJob)(typed[kftrainer.TrainJob](job))
		want, err := podSetsOf(ctx, theirs, c)
		with, ok, mineErr := trainruntime.With(kinds.TrainJob, job, func(kinds.Reference) map[string]any { return rt })
		if err != nil {
			refused++ // plugins of the Trainer rely on what its webhook checks
			continue
		}
		if !ok || mineErr != nil {
			t.Fatalf("input %d: %v\n%s\n%s", i, mineErr, asJSON(rt), asJSON(job))
		}
		wl, err := integration.WorkloadFor(ctx, []byte(asJSON(with)), integration.NewLookup())
		if err != nil {
			t.Fatalf("input %d: %v\n%s\n%s", i, err, asJSON(rt), asJSON(job))
		}
		if len(want) > 1 {
			several++
		}
		for _, ps := range want {
			pods += ps.Count
		}
		if have := asJSON(wl.Spec.PodSets); have != asJSON(want) {
			t.Fatalf("input %d:\nKueue %s\nours  %s\nruntime %s\njob %s", i, asJSON(want), have, asJSON(rt), asJSON(job))
		}
		infos := make([]podset.PodSetInfo, len(want))
		for n := range want {
			infos[n] = podset.PodSetInfo{Name: want[n].Name, NodeSelector: map[string]string{"flavor": "f"}, Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}
		}
		var there kftrainer.TrainJob
		must(c.Get(ctx, client.ObjectKey{Namespace: "ns", Name: "t"}, &there))
		theirs = (*trainjob.TrainJob)(&there)
		must(theirs.RunWithPodSetsInfo(ctx, c, infos))
		started, _, err := trainruntime.With(kinds.TrainJob, generic(theirs.Spec), func(kinds.Reference) map[string]any { return rt })
		must(err)
		for _, p := range kinds.TrainJob.Parts(started) {
			if kinds.Text(p.Template, "spec", "nodeSelector", "flavor") != "f" || kinds.Text(p.Template, "metadata", "labels", "a") != "b" {
				t.Fatalf("input %d: the started job's %s lacks what Kueue adds: %s", i, p.Name, asJSON(p.Template))
			}
		}
	}
	t.Logf("%d inputs, %d with several pod sets, %d pods, %d that Kueue cannot read", min(*inputs, 3000), several, pods, refused)
	if refused > min(*inputs, 3000)/4 {
		t.Error("too few inputs are compared")
	}
}
