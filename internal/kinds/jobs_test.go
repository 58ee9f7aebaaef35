package kinds

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	mpi "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	kubeflow1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	ray "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// template is a pod template that differs from all others.
func template(name string) core.PodTemplateSpec {
	t := core.PodTemplateSpec{}
	t.Name = name
	return t
}

func replicaSpec(name string, n int32) *kubeflow1.ReplicaSpec {
	return &kubeflow1.ReplicaSpec{Replicas: &n, Template: template(name)}
}

func specs(t string) map[kubeflow1.ReplicaType]*kubeflow1.ReplicaSpec {
	return map[kubeflow1.ReplicaType]*kubeflow1.ReplicaSpec{"Worker": replicaSpec("w", 3), kubeflow1.ReplicaType(t): replicaSpec("m", 1)}
}

func n(i int32) *int32 { return &i }

func suspended() kubeflow1.RunPolicy { yes := true; return kubeflow1.RunPolicy{Suspend: &yes} }

// The paths of the table, held against the kinds' own Go types. Every sample is
// suspended and has a template "m" or "w" for each role.
func samples() []struct {
	kind   Job
	object any
	want   []string
} {
	yes := true
	cluster := ray.RayClusterSpec{
		Suspend:       &yes,
		HeadGroupSpec: ray.HeadGroupSpec{Template: template("m")},
		WorkerGroupSpecs: []ray.WorkerGroupSpec{{GroupName: "big", Replicas: n(2), NumOfHosts: 4, Template: template("w")},
			{GroupName: "small", NumOfHosts: 1, Template: template("w2")}},
	}
	rayParts := []string{"head 1 m", "big 8 w", "small 0 w2"}
	replicated := func(name string, replicas, parallelism, completions int32) jobset.ReplicatedJob {
		r := jobset.ReplicatedJob{Name: name, Replicas: replicas}
		r.Template.Spec = batch.JobSpec{Parallelism: &parallelism, Completions: &completions, Template: template(name)}
		return r
	}
	return []struct {
		kind   Job
		object any
		want   []string
	}{
		{PyTorchJob, kubeflow1.PyTorchJob{Spec: kubeflow1.PyTorchJobSpec{RunPolicy: suspended(), PyTorchReplicaSpecs: specs("Master")}}, []string{"Master 1 m", "Worker 3 w"}},
		{TFJob, kubeflow1.TFJob{Spec: kubeflow1.TFJobSpec{RunPolicy: suspended(), TFReplicaSpecs: specs("Chief")}}, []string{"Chief 1 m", "Worker 3 w"}},
		{JAXJob, kubeflow1.JAXJob{Spec: kubeflow1.JAXJobSpec{RunPolicy: suspended(), JAXReplicaSpecs: specs("Worker")}}, []string{"Worker 1 m"}},
		{PaddleJob, kubeflow1.PaddleJob{Spec: kubeflow1.PaddleJobSpec{RunPolicy: suspended(), PaddleReplicaSpecs: specs("Master")}}, []string{"Master 1 m", "Worker 3 w"}},
		{XGBoostJob, kubeflow1.XGBoostJob{Spec: kubeflow1.XGBoostJobSpec{RunPolicy: suspended(), XGBReplicaSpecs: specs("Master")}}, []string{"Master 1 m", "Worker 3 w"}},
		{MPIJob, mpi.MPIJob{Spec: mpi.MPIJobSpec{RunPolicy: mpi.RunPolicy{Suspend: &yes}, MPIReplicaSpecs: map[mpi.MPIReplicaType]*mpi.ReplicaSpec{
			"Launcher": {Replicas: n(1), Template: template("m")}, "Worker": {Replicas: n(3), Template: template("w")}}}}, []string{"Launcher 1 m", "Worker 3 w"}},
		{BatchJob, batch.Job{Spec: batch.JobSpec{Suspend: &yes, Parallelism: n(4), Template: template("w")}}, []string{"worker 4 w"}},
		{BatchJob, batch.Job{Spec: batch.JobSpec{Suspend: &yes, Parallelism: n(4), Completions: n(2), Template: template("w")}}, []string{"worker 2 w"}},
		{BatchJob, batch.Job{Spec: batch.JobSpec{Suspend: &yes, Completions: n(9), Template: template("w")}}, []string{"worker 1 w"}},
		{BatchJob, batch.Job{Spec: batch.JobSpec{Suspend: &yes, Parallelism: n(0), Template: template("w")}}, []string{"worker 0 w"}},
		{RayJob, ray.RayJob{Spec: ray.RayJobSpec{Suspend: true, RayClusterSpec: &cluster}}, rayParts},
		{RayCluster, ray.RayCluster{Spec: cluster}, rayParts},
		{JobSet, jobset.JobSet{Spec: jobset.JobSetSpec{Suspend: &yes, ReplicatedJobs: []jobset.ReplicatedJob{replicated("m", 1, 1, 1), replicated("w", 3, 4, 4), replicated("x", 3, 4, 2)}}},
			[]string{"m 1 m", "w 12 w", "x 6 x"}},
		{RayService, ray.RayService{Spec: ray.RayServiceSpec{RayClusterSpec: cluster}}, rayParts},
		{DeploymentKind, apps.Deployment{Spec: apps.DeploymentSpec{Replicas: n(3), Template: template("w")}}, []string{"pod 3 w"}},
		{StatefulSetKind, apps.StatefulSet{Spec: apps.StatefulSetSpec{Template: template("w")}}, []string{"pod 1 w"}},
		{PodKind, core.Pod{ObjectMeta: template("w").ObjectMeta}, []string{"pod 1 w"}},
		{LeaderWorkerSet, json.RawMessage(`{"spec":{"replicas":2,"leaderWorkerTemplate":{"size":4,"leaderTemplate":{"metadata":{"name":"m"}},"workerTemplate":{"metadata":{"name":"w"}}}}}`), []string{"leader 2 m", "worker 6 w"}},
		{LeaderWorkerSet, json.RawMessage(`{"spec":{"replicas":2,"leaderWorkerTemplate":{"size":4,"workerTemplate":{"metadata":{"name":"w"}}}}}`), []string{"worker 8 w"}},
		{TrainJob, json.RawMessage(`{"spec":{"suspend":true},"hyperpod.child":{"spec":{"replicatedJobs":[
			{"name":"model-initializer","replicas":1,"template":{"spec":{"parallelism":1,"completions":1,"template":{"metadata":{"name":"m"}}}}},
			{"name":"node","replicas":1,"template":{"spec":{"parallelism":3,"completions":3,"template":{"metadata":{"name":"w"}}}}}]}}}`), []string{"model-initializer 1 m", "node 3 w"}},
		{AppWrapper, json.RawMessage(`{"metadata":{"name":"a"},"spec":{"suspend":true,"components":[{"template":{"apiVersion":"v1","kind":"Service"}},
			{"template":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","spec":{"pytorchReplicaSpecs":{"Master":{"template":{"metadata":{"name":"m"}}},"Worker":{"replicas":3,"template":{"metadata":{"name":"w"}}}}}}},
			{"template":{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","spec":{"replicatedJobs":[{"name":"r","replicas":3,"template":{"spec":{"parallelism":4,"completions":2,"template":{"metadata":{"name":"r"}}}}}]}}},
			{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}},
			{"podSets":[{"path":"template.spec.mpiReplicaSpecs.Worker.template","replicas":2}],
			 "template":{"apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob","spec":{"mpiReplicaSpecs":{"Worker":{"replicas":2,"template":{"metadata":{"name":"x"}}}}}}}]}}`),
			[]string{"Master 1 m", "Worker 3 w", "r 6 r", "pod 1 p", "Worker-4 2 x"}},
		{Notebook, json.RawMessage(`{"spec":{"template":{"metadata":{"name":"w"}}}}`), []string{"pod 1 w"}},
		{SparkApplication, json.RawMessage(`{"spec":{"suspend":true,"driver":{"labels":{"name":"m"}},"executor":{"instances":3}}}`), []string{"driver 1 <nil>", "executor 3 <nil>"}},
		{SparkApplication, json.RawMessage(`{"spec":{"suspend":true,"driver":{"cores":1},"executor":{"cores":1},"dynamicAllocation":{"enabled":true}}}`), []string{"driver 1 <nil>", "executor 0 <nil>"}},
		{Workspace, json.RawMessage(`{"spec":{"displayName":"i"}}`), []string{"pod 1 <nil>"}},
		{Workspace, json.RawMessage(`{"spec":{"displayName":"i","desiredStatus":"Stopped"}}`), []string{"pod 0 <nil>"}},
		{InferenceEndpointConfig, json.RawMessage(`{"spec":{"replicas":2,"worker":{"image":"i"}}}`), []string{"model 2 <nil>"}},
		{InferenceEndpointConfig, json.RawMessage(`{"spec":{"worker":{"image":"i"},"pdSpec":{"prefillSpec":{"replicas":2},"decodingSpec":{"replicas":3}}}}`), []string{"prefill 2 <nil>", "decode 3 <nil>"}},
		{JumpStartModel, json.RawMessage(`{"spec":{"replicas":2}}`), nil},
		// There are no Go types for this one; the sample follows its documentation.
		{HyperPodPyTorchJob, json.RawMessage(`{"spec":{"runPolicy":{"suspend":true},"replicaSpecs":[
			{"name":"pods","replicas":3,"template":{"metadata":{"name":"w"}}},{"name":"one","template":{"metadata":{"name":"m"}}}]}}`), []string{"pods 3 w", "one 1 m"}},
	}
}

func asMap(t *testing.T, v any) map[string]any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPartsOfRealTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range samples() {
		seen[s.kind.Kind] = true
		object := asMap(t, s.object)
		var got []string
		for _, p := range s.kind.Parts(object) {
			got = append(got, fmt.Sprint(p.Name, " ", p.Replicas, " ", lookup(p.Template, path("metadata.name"))))
			p.Template["changed"] = true
		}
		if !reflect.DeepEqual(got, s.want) {
			t.Errorf("%s: got %q, want %q", s.kind.Kind, got, s.want)
		}
		for _, p := range s.kind.Parts(object) {
			if p.Template["changed"] != true && s.kind.Form == nil {
				t.Errorf("%s: the template of %s is a copy", s.kind.Kind, p.Name)
			}
		}
		if len(s.kind.SuspendPath) > 0 && lookup(object, s.kind.SuspendPath) != true {
			t.Errorf("%s: nothing to suspend at %v", s.kind.Kind, s.kind.SuspendPath)
		}
	}
	for _, k := range Jobs() {
		if !seen[k.Kind] {
			t.Errorf("%s has no sample", k.Kind)
		}
	}
}

func TestPartsOfOddObjects(t *testing.T) {
	for name, object := range map[string]map[string]any{
		"nil":                  nil,
		"empty":                {},
		"spec is a list":       {"spec": []any{}},
		"specs are text":       {"spec": map[string]any{"pytorchReplicaSpecs": "x", "replicatedJobs": "x"}},
		"a role is null":       {"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": nil}}},
		"no template":          {"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": 1}}}},
		"the template is null": {"spec": map[string]any{"template": nil}},
	} {
		for _, k := range Jobs() {
			if got := k.Parts(object); len(got) != 0 && !k.Itself {
				t.Errorf("%s of %s: %v", k.Kind, name, got)
			}
		}
	}
	// Numbers as each decoder gives them, and what is none.
	for _, replicas := range []any{int64(3), 3, float64(3)} {
		object := map[string]any{"spec": map[string]any{"parallelism": replicas, "template": map[string]any{}}}
		if got := BatchJob.Parts(object); len(got) != 1 || got[0].Replicas != 3 {
			t.Errorf("%T: %v", replicas, got)
		}
	}
	object := map[string]any{"spec": map[string]any{"parallelism": "3", "template": map[string]any{}}}
	if got := BatchJob.Parts(object); len(got) != 1 || got[0].Replicas != 1 {
		t.Errorf("text: %v", got)
	}
	object = map[string]any{"spec": map[string]any{"replicaSpecs": []any{map[string]any{"name": 7, "template": map[string]any{}}}}}
	if got := HyperPodPyTorchJob.Parts(object); len(got) != 1 || got[0].Name != "0" {
		t.Errorf("an unknown name: %v", got)
	}
}

func TestPodSelector(t *testing.T) {
	named := map[string]any{"metadata": map[string]any{"name": "x"}}
	for _, tt := range []struct {
		kind   Job
		object map[string]any
		want   string
	}{
		{PyTorchJob, named, kubeflow1.JobNameLabel + "=x"},
		{MPIJob, named, mpi.JobNameLabel + "=x"},
		{BatchJob, named, batch.JobNameLabel + "=x"},
		{JobSet, named, jobset.JobSetNameKey + "=x"},
		{HyperPodPyTorchJob, named, "HPJob=x"},
		{RayCluster, named, "ray.io/cluster=x"},
		{RayJob, named, ""},
		{RayJob, map[string]any{"metadata": named["metadata"], "status": map[string]any{"rayClusterName": ""}}, ""},
		{RayJob, map[string]any{"metadata": named["metadata"], "status": map[string]any{"rayClusterName": "x-abcde"}}, "ray.io/cluster=x-abcde"},
		{PyTorchJob, nil, ""},
	} {
		if got := tt.kind.PodSelector(tt.object); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.kind.Kind, got, tt.want)
		}
	}
}

func TestJobFor(t *testing.T) {
	for _, k := range Jobs() {
		if got, ok := JobFor(k.GroupVersion(), k.Kind); !ok || got.Plural != k.Plural {
			t.Errorf("%s %s: %v", k.GroupVersion(), k.Kind, got.Kind)
		}
		if got, ok := JobFor(k.Group+"/v99", k.Kind); !ok || got.Plural != k.Plural {
			t.Errorf("another version of %s: %v", k.Kind, ok)
		}
	}
	for _, bad := range [][2]string{{"v1", "Job"}, {"", "Job"}, {"batch/v1", "job"}, {"batch/v1", "PyTorchJob"}, {"example.com/v1", "PyTorchJob"}, {"v1", "Service"}} {
		if got, ok := JobFor(bad[0], bad[1]); ok {
			t.Errorf("%v is %s", bad, got.Kind)
		}
	}
}

func TestJobNamed(t *testing.T) {
	for name, want := range map[string]string{"PyTorchJob": "PyTorchJob", "pytorchjobs": "PyTorchJob", "PYTORCHJOB": "PyTorchJob", "pytorchjobs.kubeflow.org": "PyTorchJob",
		"pytorchjob.kubeflow.org": "PyTorchJob", "job": "Job", "jobs": "Job", "jobs.batch": "Job", "rayjob": "RayJob", "jobset.jobset.x-k8s.io": "JobSet",
		"": "", "pods": "Pod", "pytorchjobs.batch": "", "pytorch": ""} {
		got, ok := JobNamed(name)
		if got.Kind != want || ok != (want != "") {
			t.Errorf("%q: %q %v", name, got.Kind, ok)
		}
	}
}
