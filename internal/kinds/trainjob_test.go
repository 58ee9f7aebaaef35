package kinds

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// An outline that nobody changes folds into the same job.
func TestFoldKeepsTheJob(t *testing.T) {
	for _, text := range []string{
		`{"spec":{"runtimeRef":{"name":"r"}}}`,
		`{"spec":{"runtimeRef":{"name":"r"},"trainer":{"image":"i","numNodes":2,"numProcPerNode":4,"env":[{"name":"A","value":"1"}],"resourcesPerNode":{"limits":{"nvidia.com/gpu":8}}}}}`,
		`{"spec":{"runtimeRef":{"name":"r"},"trainer":{"command":["a"],"args":["b"]},"runtimePatches":[{"manager":"kueue.x-k8s.io/manager"}]}}`,
		`{"spec":{"runtimeRef":{"name":"r"},"trainer":{"image":"i"},"runtimePatches":[{"manager":"cli.hyperpod/pods","trainingRuntimeSpec":{"template":{"spec":{"replicatedJobs":[
			{"name":"node","template":{"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"x":"y"},"containers":[{"name":"node","volumeMounts":[{"name":"v","mountPath":"/v"}]}]}}}}}]}}}}]}}`,
	} {
		job := object(t, text)
		TrainJob.Unfold(job)
		if err := TrainJob.Fold(job); err != nil {
			t.Fatal(err)
		}
		if have, want := marshalled(t, job), marshalled(t, object(t, text)); have != want {
			t.Errorf("got  %s\nwant %s", have, want)
		}
	}
}

// What a TrainJob has a field for goes there, the rest of the pods into a patch of the
// runtime, and what neither has is refused.
func TestFoldPutsChangesWhereTheTrainerReadsThem(t *testing.T) {
	job := object(t, `{"spec":{"runtimeRef":{"name":"r"}}}`)
	TrainJob.Unfold(job)
	p := TrainJob.Parts(job)[0]
	spec := p.Template["spec"].(map[string]any)
	c := spec["containers"].([]any)[0].(map[string]any)
	c["image"], c["resources"] = "new", map[string]any{"limits": map[string]any{"nvidia.com/gpu": int64(2)}}
	spec["nodeSelector"] = map[string]any{"x": "y"}
	if err := TrainJob.Fold(job); err != nil {
		t.Fatal(err)
	}
	want := object(t, `{"image":"new","resourcesPerNode":{"limits":{"nvidia.com/gpu":2}}}`)
	have := object(t, marshalled(t, lookup(job, path("spec.trainer"))))
	if !reflect.DeepEqual(have, want) || !strings.Contains(marshalled(t, job), `"nodeSelector":{"x":"y"}`) || ChildOf(job) != nil {
		t.Errorf("%v", job)
	}
	TrainJob.Unfold(job)
	TrainJob.Parts(job)[0].Template["spec"].(map[string]any)["hostNetwork"] = true
	if err := TrainJob.Fold(job); err == nil || !strings.Contains(err.Error(), "hostNetwork") {
		t.Errorf("error %v", err)
	}
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRuntimeOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"r"}`:                          "ClusterTrainingRuntime  r",
		`{"name":"r","kind":"TrainingRuntime"}`: "TrainingRuntime ns r",
		`{"name":"r","kind":"Other"}`:           "",
		`{}`:                                    "",
		`{"name":"r","kind":"ClusterTrainingRuntime"}`: "ClusterTrainingRuntime  r",
	} {
		ref, ok := TrainJob.RuntimeOf(object(t, `{"metadata":{"namespace":"ns"},"spec":{"runtimeRef":`+text+`}}`))
		got := ref.Kind + " " + ref.Namespace + " " + ref.Name
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
