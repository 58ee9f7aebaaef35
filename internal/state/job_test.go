package state

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// samples are the objects of testdata/jobs.json by name, one of every kind.
func samples(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/jobs.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	for _, raw := range all {
		var named struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal(raw, &named); err != nil {
			t.Fatal(err)
		}
		out[named.Metadata.Name] = raw
	}
	return out
}

func sampleKind(t *testing.T, raw json.RawMessage) kinds.Job {
	t.Helper()
	var typed struct{ APIVersion, Kind string }
	if err := json.Unmarshal(raw, &typed); err != nil {
		t.Fatal(err)
	}
	k, ok := kinds.JobFor(typed.APIVersion, typed.Kind)
	if !ok {
		t.Fatalf("unknown kind %s", typed.Kind)
	}
	return k
}

func sample(t *testing.T, name string) Job {
	t.Helper()
	raw := samples(t)[name]
	j, err := DecodeJob(sampleKind(t, raw), raw)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func at(clock string) *time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return &t
}

func TestDecodeJob(t *testing.T) {
	j := sample(t, "train")
	want := Job{
		Kind:    kinds.PyTorchJob,
		Manager: "x",
		Meta: Meta{Name: "train", Namespace: "team", UID: "u-1", ResourceVersion: "77", Generation: 2, CreationTimestamp: *at("10:00:00"),
			Labels: map[string]string{kinds.QueueLabel: "hyperpod-ns-team-localqueue"}, Annotations: map[string]string{"note": "x"}},
		Conditions: []Condition{
			{Type: "Created", Status: "True", Reason: "PyTorchJobCreated", Message: "m1", LastTransitionTime: *at("10:00:00")},
			{Type: "Running", Status: "True", Reason: "PyTorchJobRunning", LastTransitionTime: at("10:00:09").Add(123456 * time.Microsecond)},
		},
		Start:            at("10:00:05"),
		Replicas:         map[string]ReplicaStatus{"Worker": {Active: 3}, "Master": {Active: 1, Failed: 2}},
		PodPriorityClass: "pods-high",
		TemplatePriority: "training-priority",
		Roles: []RoleCount{
			{Name: "Master", Replicas: 1, Requests: map[string]int64{"nvidia.com/gpu": 7}},
			{Name: "Worker", Replicas: 3, Requests: map[string]int64{"nvidia.com/gpu": 8}},
		},
		PodSelector: "training.kubeflow.org/job-name=train",
	}
	got := j
	got.Kind, want.Kind = kinds.Job{}, kinds.Job{} // functions are never equal
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if j.Queue() != "hyperpod-ns-team-localqueue" || j.Priority() != "training-priority" {
		t.Errorf("queue %q, priority %q", j.Queue(), j.Priority())
	}
}

func TestDecodeJobKinds(t *testing.T) {
	mpi := sample(t, "mpi")
	if !mpi.Suspended || mpi.Priority() != "high" || mpi.Kind.Kind != "MPIJob" {
		t.Errorf("MPIJob: %+v", mpi)
	}
	hp := sample(t, "hp")
	if hp.Suspended || hp.Restarts != 2 || hp.Roles[0].Requests["aws.amazon.com/neurondevice"] != 16 || hp.Priority() != "" {
		t.Errorf("HyperPodPyTorchJob: %+v", hp)
	}
	batch := sample(t, "batch")
	if !batch.Suspended || batch.Replicas["worker"] != (ReplicaStatus{Active: 2, Ready: 1, Succeeded: 3, Failed: 4}) || batch.Priority() != "pc" || batch.Roles[0].Requests["nvidia.com/mig-1g.5gb"] != 2 {
		t.Errorf("Job: %+v", batch)
	}
	ray := sample(t, "ray")
	if ray.Phase != "FAILED" || ray.DeploymentPhase != "Failed" || ray.Reason != "AppFailed" || ray.Message != "exit 1" || !ray.Completion.Equal(*at("11:00:05")) ||
		ray.Replicas["workers"] != (ReplicaStatus{Active: 5, Ready: 4}) {
		t.Errorf("RayJob: %+v", ray)
	}
	rc := sample(t, "rc")
	if !rc.Suspended || rc.Phase != "ready" || rc.Replicas["workers"] != (ReplicaStatus{Active: 2, Ready: 1}) {
		t.Errorf("RayCluster: %+v", rc)
	}
	js := sample(t, "js")
	if js.Phase != "Completed" || js.Restarts != 1 || js.Replicas["workers"] != (ReplicaStatus{Active: 8, Ready: 8}) || js.Replicas["leader"] != (ReplicaStatus{Active: 1, Ready: 1}) {
		t.Errorf("JobSet: %+v", js)
	}
}

// A TrainJob has no condition that it runs: the counts of its jobs say it, and it began
// when it was resumed.
func TestDecodeTrainJob(t *testing.T) {
	j := sample(t, "tj")
	if j.Suspended || j.Replicas["node"] != (ReplicaStatus{Active: 4, Ready: 4}) || j.Start == nil || !j.Start.Equal(*at("10:05:00")) ||
		*j.Progress != 40 || *j.Remaining != 10*time.Minute || j.Roles[0].Requests["nvidia.com/gpu"] != 8 {
		t.Errorf("TrainJob: %+v", j)
	}
}

// The paths of a job's roles are a fact of internal/kinds; the structs here only
// read them faster. Both must find the same roles in every kind.
func TestRolesAgreeWithKinds(t *testing.T) {
	seen := map[string]bool{}
	for name, raw := range samples(t) {
		k := sampleKind(t, raw)
		seen[k.Kind] = true
		var object map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &object); err != nil {
			t.Fatal(err)
		}
		if got, want := sample(t, name).PodSelector, k.PodSelector(object); got != want {
			t.Errorf("%s: pod selector %q, want %q", name, got, want)
		}
		var want, got []RoleCount
		for _, p := range k.Parts(object) {
			want = append(want, RoleCount{Name: p.Name, Replicas: p.Replicas})
		}
		for _, r := range sample(t, name).Roles {
			got = append(got, RoleCount{Name: r.Name, Replicas: r.Replicas})
		}
		if len(got) == 0 && !k.PodsElsewhere(object) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for _, k := range kinds.Jobs() {
		if !seen[k.Kind] {
			t.Errorf("there is no sample of %s", k.Kind)
		}
	}
}

// A kind whose fields wireJob does not know is decoded by its description alone, with
// the same result.
func TestDescribedJob(t *testing.T) {
	for name, raw := range samples(t) {
		k := sampleKind(t, raw)
		w := describedJob{raw: raw}
		got, want := w.job(k), sample(t, name)
		got.Kind, want.Kind = kinds.Job{}, kinds.Job{} // functions are never equal
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, want)
		}
	}
	odd := kinds.PyTorchJob
	odd.Roles = []kinds.Role{{Path: []string{"spec", "oddReplicaSpecs", "*"}, Replicas: []string{"replicas"}, Template: []string{"template"}}}
	j, err := DecodeJob(odd, []byte(`{"metadata":{"name":"a"},"spec":{"oddReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":4}}}]}}}}}}`))
	want := []RoleCount{{Name: "Worker", Replicas: 2, Requests: map[string]int64{"nvidia.com/gpu": 4}}}
	if err != nil || !reflect.DeepEqual(j.Roles, want) {
		t.Errorf("%+v, %v", j.Roles, err)
	}
}

// One odd field must not hide an object.
func TestDecodeOddJobs(t *testing.T) {
	for name, text := range map[string]string{
		"no status":    `{"metadata":{"name":"a"}}`,
		"null status":  `{"metadata":{"name":"a"},"status":null,"spec":null}`,
		"odd times":    `{"metadata":{"name":"a","creationTimestamp":null},"status":{"startTime":"yesterday","conditions":[{"type":"Running","status":"True","lastTransitionTime":7}]}}`,
		"odd counts":   `{"metadata":{"name":"a"},"status":{"active":"two","restarts":1.5,"replicaStatuses":{"Worker":{"active":null}}}}`,
		"odd spec":     `{"metadata":{"name":"a"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":"many","template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"lots"}}}]}}}}}}`,
		"odd priority": `{"metadata":{"name":"a"},"status":{"conditions":{"type":"Running"}}}`,
	} {
		j, err := DecodeJob(kinds.PyTorchJob, json.RawMessage(text))
		if err != nil || j.Name != "a" {
			t.Errorf("%s: got %+v, %v", name, j, err)
		}
	}
}

func TestPriorityOrder(t *testing.T) {
	j := Job{PodPriorityClass: "pods"}
	if j.Priority() != "pods" {
		t.Errorf("got %q", j.Priority())
	}
	j.TemplatePriority = "template"
	if j.Priority() != "template" {
		t.Errorf("got %q", j.Priority())
	}
	j.Labels = map[string]string{kinds.PriorityLabel: "job"}
	if j.Priority() != "job" {
		t.Errorf("got %q", j.Priority())
	}
}

func TestAmount(t *testing.T) {
	for _, tt := range []struct {
		resource, text string
		want           int64
		ok             bool
	}{
		{"cpu", "4", 4000, true}, {"cpu", "250m", 250, true}, {"cpu", "1.5", 1500, true},
		{"memory", "1Gi", 1 << 30, true}, {"memory", "1500m", 2, true}, {"nvidia.com/gpu", "8", 8, true}, {"nvidia.com/gpu", "8k", 8000, true},
		{"cpu", "", 0, false}, {"cpu", "x", 0, false},
	} {
		if got, ok := Amount(tt.resource, tt.text); got != tt.want || ok != tt.ok {
			t.Errorf("%s %q: got %d, %v", tt.resource, tt.text, got, ok)
		}
	}
}

// A pod ends with its last container.
func TestEndOfPod(t *testing.T) {
	const two = `"containerStatuses":[{"state":{"terminated":{"finishedAt":"2026-11-20T10:05:00Z"}}},{"state":{"terminated":{"finishedAt":"2026-11-20T10:03:00Z"}}}]`
	for text, want := range map[string]*time.Time{
		`{"phase":"Succeeded",` + two + `}`: at("10:05:00"),
		`{"phase":"Failed",` + two + `}`:    at("10:05:00"),
		`{"phase":"Running",` + two + `}`:   nil,
		`{"phase":"Failed"}`:                nil,
	} {
		j, err := DecodeJob(kinds.PodKind, json.RawMessage(`{"metadata":{"name":"a"},"status":`+text+`}`))
		if err != nil || !reflect.DeepEqual(j.Completion, want) {
			t.Errorf("%s: ended at %v, want %v; %v", text, j.Completion, want, err)
		}
	}
}
