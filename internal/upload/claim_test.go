package upload

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func TestSum(t *testing.T) {
	folderOf := func(files map[string]string) string {
		root := folder(t, files)
		l, err := List(root, MaxClaimBytes, MaxClaimFiles)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Sum(root, l)
		if err != nil || len(d.Sums) != len(l.Entries) {
			t.Fatalf("%v, %v", d, err)
		}
		return d.Folder
	}
	one := folderOf(map[string]string{"a": "1", "b": "2"})
	if again := folderOf(map[string]string{"a": "1", "b": "2"}); again != one {
		t.Errorf("%s, %s", one, again)
	}
	for name, other := range map[string]map[string]string{"content": {"a": "1", "b": "3"}, "names": {"a": "1", "c": "2"}, "swapped": {"a": "2", "b": "1"}, "fewer": {"a": "1"}} {
		if folderOf(other) == one {
			t.Errorf("%s: %s", name, one)
		}
	}
	if _, err := List(folder(t, map[string]string{"a": "12"}), 1, 9); !errors.As(err, new(*TooLargeError)) {
		t.Errorf("%v", err)
	}
}

func userJob(security map[string]any) map[string]any {
	return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "j", "namespace": "ns", "labels": map[string]any{kinds.QueueLabel: "q", kinds.PriorityLabel: "high"}},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"securityContext": security, "tolerations": []any{map[string]any{"operator": "Exists"}},
			"containers": []any{map[string]any{"name": "a", "image": "i:1", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "8"}}}}}}}}
}

// A loader of pods that meet the restricted level meets it too; it asks for no accelerator and preempts nobody.
func TestLoader(t *testing.T) {
	loader, err := Loader("j-upload", userJob(map[string]any{"runAsNonRoot": true, "runAsUser": int64(1000), "fsGroup": int64(1000)}), "data")
	if err != nil {
		t.Fatal(err)
	}
	labels, _ := kinds.At(loader, "metadata", "labels").(map[string]any)
	if labels[kinds.QueueLabel] != "q" || len(labels) != 1 {
		t.Errorf("%v", labels)
	}
	var pod corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kinds.At(loader, "spec", "template").(map[string]any), &pod); err != nil {
		t.Fatal(err)
	}
	if c := pod.Spec.Containers[0]; c.Image != "i:1" || len(c.Resources.Requests) != 2 || c.Resources.Requests.Cpu().String() != "100m" || len(pod.Spec.Tolerations) != 1 {
		t.Errorf("%+v", pod.Spec)
	}
	judge, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for _, r := range judge.EvaluatePod(level, &metav1.ObjectMeta{}, &pod.Spec) {
		if !r.Allowed {
			t.Errorf("%s: %s", r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
	if _, err := Loader("x", map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}, "data"); err == nil {
		t.Error("a loader without pods")
	}
}

// TestLoaderScript runs the loader's program in a shell: old parts go, and the rest stays.
func TestLoaderScript(t *testing.T) {
	if _, err := exec.LookPath("find"); err != nil || filepath.Separator != '/' {
		t.Skip("no shell")
	}
	dir := t.TempDir()
	old := time.Now().Add(-(LoaderHours*time.Hour + 10*time.Minute))
	for _, name := range []string{"whole", "whole.part", "other.fresh"} {
		p := filepath.Join(dir, claimFolder, name)
		if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "other.fresh" {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	script, found := strings.CutSuffix(loaderScript(dir), "sleep 14400 & wait")
	if !found {
		t.Fatal(script)
	}
	if out, err := exec.Command("sh", "-c", script+"sleep 0 & wait").CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s, %v", out, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, claimFolder))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Equal(names, []string{"other.fresh", "whole"}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestAttachClaim(t *testing.T) {
	job := userJob(nil)
	made, err := AttachClaim(job, "data", claimFolder+"/abc", "/code")
	if err != nil || made.Started != 1 || made.ConfigMap != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	pod := kinds.At(job, "spec", "template", "spec").(map[string]any)
	volume := pod["volumes"].([]any)[0].(map[string]any)
	mount := pod["containers"].([]any)[0].(map[string]any)["volumeMounts"].([]any)[0].(map[string]any)
	if kinds.Text(volume, "persistentVolumeClaim", "claimName") != "data" || mount["subPath"] != claimFolder+"/abc" || mount["readOnly"] != true || mount["mountPath"] != "/code" {
		t.Errorf("%v, %v", volume, mount)
	}
}
