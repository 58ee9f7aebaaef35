package v2config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// deliberate are the differences from v2's manifest, by path, with the row of
// docs/compatibility.md that gives the reason. Items of lists are named by their
// name, mountPath or key.
var deliberate = map[string]string{
	".metadata.name":                                "D1", // no random suffix
	".metadata.labels.app":                          "D1",
	".metadata.annotations.cli.hyperpod/template":   "D2",
	".metadata.labels.sagemaker.user/created-by":    "Q9",
	"POD.metadata.labels.sagemaker.user/created-by": "Q9",
	"POD.metadata.labels.app":                       "D3",
	"CONTAINER.args":                                "Q3",
	"CONTAINER.env.CUDA_VISIBLE_DEVICES":            "D4",
	"CONTAINER.resources.requests.cpu":              "Q15",
	"CONTAINER.resources.requests.memory":           "Q15",
	"CONTAINER.volumeMounts./etc/config":            "Q12",
	"POD.spec.volumes.train-script":                 "Q12",
	"POD.spec.volumes.shm.hostPath":                 "D5",
	"POD.spec.volumes.shm.emptyDir":                 "D5",
	"POD.spec.volumes.scratch.hostPath.type":        "Q5",
	".spec.nprocPerNode":                            "D6",
}

const pod = ".spec.pytorchReplicaSpecs.Worker.template"

// flat lists the values of an object by path; lists of maps become maps by what
// tells their items apart, so that the order of volumes does not matter.
func flat(at string, v any, out map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for k, c := range v {
			flat(at+"."+k, c, out)
		}
	case []any:
		keyed := map[string]any{}
		for _, item := range v {
			m, _ := item.(map[string]any)
			for _, key := range []string{"mountPath", "name", "key"} {
				if s, ok := m[key].(string); ok {
					keyed[s] = m
					break
				}
			}
		}
		if len(keyed) == len(v) && len(v) > 0 {
			flat(at, keyed, out)
			return
		}
		if len(v) == 1 {
			if m, ok := v[0].(map[string]any); ok {
				flat(at, m, out)
				return
			}
		}
		out[at] = fmt.Sprint(v)
	default:
		out[at] = fmt.Sprint(v)
	}
}

func TestManifestOfV2(t *testing.T) {
	data, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read("example.yaml", data, values.Values{})
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	if len(f.Notices) > 0 || f.SchedulerType != "SageMaker" {
		t.Errorf("scheduler %s, notices %q", f.SchedulerType, f.Notices)
	}
	tm, err := catalogue.Find("pytorch", catalogue.Dirs{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := render.Objects(tm, f.Under(values.Values{}))
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	theirs, err := os.ReadFile("testdata/v2-manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := yaml.Unmarshal(theirs, &want); err != nil {
		t.Fatal(err)
	}
	got, expected := map[string]any{}, map[string]any{}
	flat("", r.Objects[0], got)
	flat("", want, expected)
	for k := range expected {
		if _, ok := got[k]; !ok {
			got[k] = nil
		}
	}
	page, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var paths []string
	for k := range got {
		paths = append(paths, k)
	}
	sort.Strings(paths)
	for _, k := range paths {
		if reflect.DeepEqual(got[k], expected[k]) {
			continue
		}
		short := strings.Replace(strings.Replace(k, pod+".spec.containers.pytorch", "CONTAINER", 1), pod, "POD", 1)
		reason := ""
		for prefix, row := range deliberate {
			if short == prefix || strings.HasPrefix(short, prefix+".") {
				reason, used[prefix] = row, true
			}
		}
		if reason == "" {
			t.Errorf("%s: %v, v2 has %v", short, got[k], expected[k])
		} else if !strings.Contains(string(page), "| "+reason+" |") {
			t.Errorf("docs/compatibility.md has no row %s (%s)", reason, short)
		}
	}
	for prefix := range deliberate {
		if !used[prefix] {
			t.Errorf("%s does not differ", prefix)
		}
	}
	args := r.Objects[0]["spec"].(map[string]any)["pytorchReplicaSpecs"].(map[string]any)["Worker"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["args"].([]any)
	words := []any{"--nnodes=2", "--nproc_per_node=8", "--rdzv_backend=c10d", "--rdzv_endpoint=demo-worker-0:29400", "--rdzv_id=demo", "/workspace/train.py",
		"--epochs", "3", "--lr", "1e-4", "--verbose", "--out", "demo", "--level", "$(NCCL_DEBUG)"}
	if !slices.Equal(args, words) {
		t.Errorf("arguments %q", args)
	}
}
