package templates

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fixed"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Whatever job a template makes, a template made of that job makes it again.
func TestFromObjectsRepeats(t *testing.T) {
	files, _ := filepath.Glob("testdata/manifests/*.yaml")
	tried := 0
	try := func(tm *parse.Template) {
		r, err := render.Objects(tm, values.Values{Name: "first", Image: "example.com/i:1", EntryScript: "t.py", InstanceType: "p5.48xlarge", NodeCount: values.Int(2), Queue: "q", Namespace: "n",
			Environment: map[string]string{"HF_TOKEN": "abc", "LINE": "a\nb", "DOLLAR": "$IMAGE ${NODE_COUNT} $$JOB_NAME $OTHER"}})
		if err != nil || r.Job < 0 {
			return
		}
		tried++
		for _, repeat := range []bool{true, false} {
			again, _, err := convert.FromObjects(r.Objects, convert.Conversion{Name: "x", Source: "job first", Help: "again: \"it\"", Repeat: repeat})
			if err != nil {
				t.Errorf("%s (repeat %v): %v", tm.Source, repeat, err)
				continue
			}
			got, err := render.Objects(again, values.Values{Name: "first", Queue: "q", Namespace: "n", Params: secretsOf(again)})
			same := reflect.DeepEqual(cleaned(got.Objects), cleaned(r.Objects))
			if !repeat {
				same = containsAll(cleaned(r.Objects), cleaned(got.Objects))
			}
			if err != nil || !same {
				t.Errorf("%s (repeat %v): %v\n%s\n%s", tm.Source, repeat, err, cmp.Diff(cleaned(r.Objects), cleaned(got.Objects)), again.Text)
			}
		}
	}
	for _, name := range embeddedNames(t) {
		try(mustFind(t, name))
	}
	for _, f := range files {
		data, _ := os.ReadFile(f)
		if tm, err := parse.Text("f", f, data); err == nil {
			try(tm)
		}
	}
	if tried < 4 {
		t.Errorf("only %d templates tried", tried)
	}
}

// cleaned is objects without what says where they are from.
func cleaned(objects []map[string]any) (out []map[string]any) {
	for _, o := range objects {
		out = append(out, jobobject.Clean(o))
	}
	return out
}

func secretsOf(tm *parse.Template) map[string]any {
	if _, ok := tm.Param("HF_TOKEN"); ok {
		return map[string]any{"HF_TOKEN": "abc"}
	}
	return nil
}

func TestFromObjects(t *testing.T) {
	text := `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: train
  namespace: team-a
  labels: {kueue.x-k8s.io/queue-name: q, app: train}
spec:
  runPolicy: {suspend: false}
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      template:
        metadata: {labels: {app: train, kueue.x-k8s.io/podset: worker}}
        spec:
          nodeSelector: {node.kubernetes.io/instance-type: ml.p5.48xlarge}
          containers:
          - name: pytorch
            image: example.com/i:1
            command: [torchrun, train.py, --rdzv-endpoint=train-worker-0:29500, train]
            env: [{name: WANDB_API_KEY, value: hunter2}, {name: MODE, value: train}]
            resources: {limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}, requests: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32, cpu: 8, memory: 64Gi}}
`
	docs, err := manifest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object, _ := docs[0].Plain().(map[string]any)
	tm, notes, err := convert.FromObjects([]map[string]any{jobobject.Clean(object)}, convert.Conversion{Name: "t", Source: "job train"})
	if err != nil {
		t.Fatal(err)
	}
	made := string(tm.Text)
	for _, want := range []string{"name: ${JOB_NAME}", "image: ${IMAGE}", "replicas: ${NODE_COUNT}", "node.kubernetes.io/instance-type: ${INSTANCE_TYPE}",
		"nvidia.com/gpu: ${ACCELERATORS_PER_NODE}", "vpc.amazonaws.com/efa: ${EFA_PER_NODE}", "app: ${JOB_NAME}", "--rdzv-endpoint=${JOB_NAME}-worker-0:29500",
		"- train.py", "value: train\n", "example.com/i:1", "value: ${WANDB_API_KEY}"} {
		if !strings.Contains(made, want) {
			t.Errorf("it does not have %q:\n%s", want, made)
		}
	}
	for _, gone := range []string{"hunter2", "team-a", "queue-name", "podset", "suspend"} {
		if strings.Contains(made, gone) {
			t.Errorf("it still has %q:\n%s", gone, made)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "WANDB_API_KEY") {
		t.Errorf("notes %q", notes)
	}
	r, err := render.Objects(tm, values.Values{Name: "other", InstanceType: "ml.g5.12xlarge", Accelerators: values.Int(4), EFA: values.Int(1), NodeCount: values.Int(1), Params: map[string]any{"WANDB_API_KEY": "k"}})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := manifest.Marshal(r.Objects)
	for _, want := range []string{"other-worker-0:29500", "ml.g5.12xlarge", "replicas: 1"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("rendered without %q:\n%s", want, out)
		}
	}
	if _, _, err := convert.FromObjects([]map[string]any{{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s"}}}, convert.Conversion{Source: "f"}); err == nil {
		t.Error("a Service became a job's template")
	}
}

// containsAll reports whether the objects still have everything that they had.
func containsAll(was, is []map[string]any) bool {
	if len(was) != len(is) {
		return false
	}
	for i := range was {
		if _, _, _, same := fixed.Contains("", was[i], is[i]); !same {
			return false
		}
	}
	return true
}
