package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

var loaderName = regexp.MustCompile(`uploading through job (\S+)`)

// uploadToClaim: Kueue admits the job that receives an upload, Kubernetes runs its pod with the claim, and nothing of it is
// left afterwards. KWOK reports no exit codes of commands and never ends their stdin, so the copy fails here; it is judged
// on the sandbox. The job that mounts the folder comes from a client dry run.
func uploadToClaim(t *testing.T, bed *cluster.Bed) {
	giveKubelets(t, bed)
	claim := func(name, mode string) []cluster.Object {
		amount := cluster.Object{"storage": "1Gi"}
		return []cluster.Object{
			{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": cluster.Object{"name": "upload-" + name}, "spec": cluster.Object{"capacity": amount, "accessModes": []any{mode}, "storageClassName": "",
				"hostPath": cluster.Object{"path": "/nowhere"}, "claimRef": cluster.Object{"namespace": engineers, "name": name}}},
			{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": cluster.Object{"name": name, "namespace": engineers},
				"spec": cluster.Object{"accessModes": []any{mode}, "storageClassName": "", "volumeName": "upload-" + name, "resources": cluster.Object{"requests": amount}}},
		}
	}
	if err := bed.ApplyObjects(t.Context(), append(claim("shared", "ReadWriteMany"), claim("once", "ReadWriteOnce")...)...); err != nil {
		t.Fatal(err)
	}
	rules, err := bed.BatchUserRules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules = append(rules, cluster.Rule{Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
		cluster.Rule{Groups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create", "get"}})
	kubeconfig, err := bed.UserKubeconfig(t.Context(), "uploader", engineers, rules)
	if err != nil {
		t.Fatal(err)
	}
	member, admin := newUser(t, kubeconfig), newUser(t, bed.Kubeconfig)
	code := filepath.Join(t.TempDir(), "code")
	if err := os.Mkdir(code, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(code, "train.py"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(name, claim string, more ...string) []string {
		return append([]string{"start-job", "--name", name, "--image", "example.com/train:1", "--instance-type", "ml.p5.48xlarge", "--accelerators", "1", "--node-count", "1", "--entry-script", "train.py",
			"--upload", code, "--upload-pvc", claim, "-n", engineers}, more...)
	}
	kubectl := func(args ...string) string {
		t.Helper()
		out, err := bed.Kubectl(t.Context(), append(args, "-n", engineers)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	loaderOf := func(r result) string {
		t.Helper()
		found := loaderName.FindStringSubmatch(r.stderr)
		if found == nil {
			t.Fatalf("no loader: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		if err := bed.WaitForGone(t.Context(), "/apis/batch/v1/namespaces/"+engineers+"/jobs/"+found[1]); err != nil {
			t.Error(err)
		}
		return found[1]
	}

	r := admin.run(start("uploaded", "shared", "--timeout", "120s")...)
	if r.code != 1 || !strings.Contains(r.stderr, "cannot run a command in pod") || !strings.Contains(r.stderr, "the job was not created") {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	loader := loaderOf(r)
	events := kubectl("get", "events", "-o", `jsonpath={range .items[*]}{.involvedObject.kind} {.involvedObject.name} {.reason}{"\n"}{end}`)
	for _, want := range []string{`(?m)^Job ` + loader + ` CreatedWorkload$`, `(?m)^Workload job-` + loader + `-\S+ Admitted$`, `(?m)^Pod ` + loader + `-\S+ Scheduled$`} {
		if !regexp.MustCompile(want).MatchString(events) {
			t.Errorf("no event %s in\n%s", want, events)
		}
	}
	manifest := admin.ok(start("uploaded", "shared", "--dry-run=client", "-o", "yaml")...)
	if _, err := bed.KubectlAs(t.Context(), bed.Kubeconfig, []byte(manifest), "create", "-n", engineers, "-f", "-"); err != nil {
		t.Fatal(err)
	}
	admin.ok("wait-job", "uploaded", "-n", engineers, "--for", "running", "--timeout", "60s")
	mounts := kubectl("get", "pod", "uploaded-worker-0", "-o", `jsonpath={.status.phase} {.spec.volumes[?(@.persistentVolumeClaim.claimName=="shared")].name} {.spec.containers[0].volumeMounts[?(@.mountPath=="/code")].subPath} {.spec.containers[0].volumeMounts[?(@.mountPath=="/code")].readOnly}`)
	if !regexp.MustCompile(`^Running \S+ hyperpod-code/[0-9a-f]{20} true$`).MatchString(mounts) {
		t.Errorf("the job's pod has %q", mounts)
	}

	// A member who may not read claims: the real scheduler's words name the claim.
	r = member.run(start("lost", "nowhere")...)
	if r.code != 5 || !strings.Contains(r.stderr, `persistentvolumeclaim "nowhere" not found in namespace `+engineers) || !strings.Contains(r.stderr, "the job was not created") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	loaderOf(r)

	// A loader that waits for quota.
	kubectl("patch", "localqueue", engineers+"-localqueue", "--type=merge", "-p", `{"spec":{"stopPolicy":"Hold"}}`)
	r = member.run(start("late", "shared", "--timeout", "3s")...)
	kubectl("patch", "localqueue", engineers+"-localqueue", "--type=merge", "-p", `{"spec":{"stopPolicy":"None"}}`)
	if r.code != 124 || !strings.Contains(r.stderr, "the job was not created") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	loaderOf(r)

	r = admin.run(start("spread", "once", "--node-count", "2", "--dry-run", "-o", "table")...)
	if !strings.Contains(r.stderr, "claim once is ReadWriteOnce: of the 2 pods, those on one node can mount it") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if out := kubectl("get", "jobs,workloads,pods", "-o", "name"); strings.Contains(out, "-upload-") || strings.Contains(out, "lost") || strings.Contains(out, "late") {
		t.Errorf("left: %s", out)
	}
	admin.ok("cancel-job", "uploaded", "-n", engineers, "--wait", "--timeout", "60s")
}
