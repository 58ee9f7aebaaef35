package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// jobLife takes jobs through their life with our commands, with the API server,
// Kueue and the operators as judges and kubectl as witness.
func jobLife(t *testing.T, bed *cluster.Bed) {
	kubeconfig, err := bed.MemberKubeconfig(t.Context(), recordTeam)
	if err != nil {
		t.Fatal(err)
	}
	l := life{bed: bed, admin: newUser(t, bed.Kubeconfig), member: newUser(t, kubeconfig)}
	t.Run("several documents", func(t *testing.T) { l.in(t).several() })
	t.Run("preempted and back", func(t *testing.T) { l.in(t).preempted() })
	t.Run("suspend", func(t *testing.T) { l.in(t).suspend() })
	t.Run("priority", func(t *testing.T) { l.in(t).priority() })
	t.Run("pods as kubectl shows them", func(t *testing.T) { l.in(t).pods() })
	t.Run("manifests", func(t *testing.T) { l.in(t).manifests() })
	t.Run("wait as kubectl waits", func(t *testing.T) { l.in(t).waits() })
	t.Run("wait through a restart", func(t *testing.T) { l.in(t).restart() })
}

type life struct {
	t             *testing.T
	bed           *cluster.Bed
	admin, member user
}

func (l life) in(t *testing.T) life {
	l.t, l.admin, l.member = t, l.admin.in(t), l.member.in(t)
	return l
}

const smith = "hyperpod-ns-smith"

func (l life) kubectl(args ...string) string {
	l.t.Helper()
	out, err := l.bed.Kubectl(l.t.Context(), args...)
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// file writes a manifest to a file.
func (l life) file(text string) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

const severalDocuments = `
apiVersion: v1
kind: Service
metadata: {name: etcd}
spec: {selector: {app: etcd}, ports: [{port: 2379}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {lr: "0.1"}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: several}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers: [{name: pytorch, image: "example.com/i:1", command: [train], resources: {limits: {nvidia.com/gpu: 1}}}]
`

// several: our lines are kubectl's, and what was made with a job goes with it,
// by our command and by kubectl's.
func (l life) several() {
	path := l.file(severalDocuments)
	theirs := l.kubectl("create", "-n", "default", "-f", path)
	l.kubectl("delete", "-n", "default", "-f", path)
	ours := l.admin.ok("start-job", "-f", path, "-n", smith, "--priority", "training", "--wait", "--timeout", "60s")
	if ours != theirs {
		l.t.Errorf("start-job prints\n%skubectl create prints\n%s", ours, theirs)
	}
	again := l.admin.ok("start-job", "-f", path, "-n", smith, "--name", "second")
	if want := "service/etcd unchanged\nconfigmap/settings unchanged\npytorchjob.kubeflow.org/second created\n"; again != want {
		l.t.Errorf("with another job:\n%s", again)
	}
	l.kubectl("patch", "configmap", "settings", "-n", smith, "--type=merge", "-p", `{"data":{"lr":"0.2"}}`)
	if r := l.admin.run("start-job", "-f", path, "-n", smith, "--name", "third"); r.code != 3 || !strings.Contains(r.stderr, "data.lr:  0.2 -> 0.1") {
		l.t.Errorf("something else under the name: exit code %d: %s", r.code, r.stderr)
	}
	l.admin.ok("cancel-job", "second", "-n", smith, "--wait", "--timeout", "30s")
	l.kubectl("get", "service", "etcd", "-n", smith)
	// kubectl knows nothing of us: the cluster's garbage collector does it.
	l.kubectl("delete", "pytorchjob", "several", "-n", smith)
	for _, gone := range []string{"services/etcd", "configmaps/settings"} {
		if err := l.bed.WaitForGone(l.t.Context(), "/api/v1/namespaces/"+smith+"/"+gone); err != nil {
			l.t.Error(err)
		}
	}
	l.admin.ok("start-job", "-f", path, "-n", smith)
	if r := l.admin.run("cancel-job", "several", "-n", smith, "--wait"); r.code != 0 || !strings.Contains(r.stderr, "also deleted: service/etcd, configmap/settings") {
		l.t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// preempted follows a job through both its lives, with list-jobs --watch.
func (l life) preempted() {
	low := l.file(l.pytorch("low", 2, 4, ""))
	l.admin.ok("start-job", "-f", low, "-n", smith, "--priority", "training", "--wait", "--timeout", "60s")
	ctx, cancel := context.WithTimeout(l.t.Context(), 90*time.Second)
	defer cancel()
	watch := l.admin.start(ctx, "list-jobs", "-n", smith, "--watch", "-o", "json")
	watch.until(regexp.MustCompile(`"Name":"low",[^\n]*"State":"Running"`).MatchString)
	high := l.file(l.pytorch("high", 2, 4, ""))
	l.admin.ok("start-job", "-f", high, "-n", smith, "--priority", "inference", "--wait", "--timeout", "60s")
	l.admin.ok("cancel-job", "high", "-n", smith)
	l.admin.ok("wait-job", "low", "-n", smith, "--for", "running", "--timeout", "60s")
	page := l.admin.ok("get-job", "low", "-n", smith, "-o", "table")
	for _, want := range []string{`(?m)^low has been running for`, `PREEMPTED for (hyperpod-ns-smith/high|a job of hyperpod-ns-smith-clusterqueue): lower priority in the same queue`,
		`devices +8 nvidia.com/gpu, 4 borrowed`, `evicted +1 x Preempted`} {
		if !regexp.MustCompile(want).MatchString(page) {
			l.t.Errorf("%s is not in\n%s", want, page)
		}
	}
	// The watch joins changes that follow each other closely: a job that is deleted at once may not be shown running.
	back := regexp.MustCompile(`(?s)"Name":"low",[^\n]*"State":"Preempted".*"Name":"low",[^\n]*"State":"Running"`)
	watch.until(back.MatchString)
	l.admin.ok("cancel-job", "low", "-n", smith, "--wait")
	states := watch.until(func(out string) bool { return strings.Contains(out, `"Type":"DELETED","Name":"low"`) })
	var seen []string
	for _, m := range regexp.MustCompile(`"Name":"low",.*"State":"(\w+)"`).FindAllStringSubmatch(states, -1) {
		seen = append(seen, m[1])
	}
	if got := strings.Join(slices.Compact(seen), " "); !regexp.MustCompile(`^(Starting )?Running Preempted (Starting )?Running$`).MatchString(got) {
		l.t.Errorf("the states were %s", got)
	}
}

// suspend, as a member without permission to patch jobs, with and without Kueue.
func (l life) suspend() {
	l.member.ok("start-job", "-f", l.file(l.pytorch("held", 1, 1, "")), "--priority", "training", "--wait", "--timeout", "60s")
	l.member.ok("patch-job", "suspend", "held")
	if err := l.bed.WaitForPods(l.t.Context(), smith, "training.kubeflow.org/job-name=held", "Running", 0); err != nil {
		l.t.Error(err)
	}
	if out := l.kubectl("get", "pytorchjob", "held", "-n", smith, "-o", "jsonpath={.spec.runPolicy.suspend}"); out != "true" {
		l.t.Errorf("suspend is %q", out)
	}
	if s := l.member.list("--state", "suspended"); len(s.Jobs) != 1 || s.Jobs[0].Name != "held" {
		l.t.Errorf("list-jobs shows %+v", s)
	}
	if page := l.member.ok("get-job", "held", "-o", "table"); !strings.Contains(page, "held has been suspended for") || !strings.Contains(page, "hidden: ") || !strings.Contains(page, `cannot list events`) {
		l.t.Errorf("a member's page, who may see no events:\n%s", page)
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), 60*time.Second)
	defer cancel()
	watch := l.member.start(ctx, "list-jobs", "-A", "--watch", "-o", "json")
	watch.until(func(out string) bool { return strings.Contains(out, `"Type":"ADDED","Name":"held"`) })
	cancel()
	l.member.ok("patch-job", "unsuspend", "held")
	l.member.ok("wait-job", "held", "--for", "running", "--timeout", "60s")
	l.member.ok("cancel-job", "held", "--wait")

	l.member.ok("start-job", "-f", l.file(l.pytorch("free", 1, 1, "")), "--scheduler-type", "None", "--wait", "--timeout", "60s")
	l.member.ok("patch-job", "suspend", "free") // the role may update and not patch
	if err := l.bed.WaitForPods(l.t.Context(), smith, "training.kubeflow.org/job-name=free", "Running", 0); err != nil {
		l.t.Error(err)
	}
	l.member.ok("patch-job", "unsuspend", "free")
	l.member.ok("wait-job", "free", "--for", "running", "--timeout", "60s")
	l.member.ok("cancel-job", "free", "--wait")
}

// kueueConfig is the bed's configuration of Kueue as far as it decides, where the
// add-on keeps it: the bed gives it to Kueue as a file.
const kueueConfig = `
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    fairSharing:
      preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]
`

// priority re-ranks a waiting job, and does what was predicted.
func (l life) priority() {
	if err := l.bed.Apply(l.t.Context(), []byte(kueueConfig)); err != nil {
		l.t.Fatal(err)
	}
	l.admin.ok("start-job", "-f", l.file(l.pytorch("first", 2, 4, "")), "-n", smith, "--priority", "experiment", "--wait", "--timeout", "60s")
	l.admin.ok("start-job", "-f", l.file(l.pytorch("waits", 2, 4, "")), "-n", smith, "--priority", "training")
	r := l.admin.run("patch-job", "priority", "waits", "-n", smith, "--priority", "inference", "--dry-run=server")
	if r.code != 0 || !strings.Contains(r.stderr, "it would start now and preempt hyperpod-ns-smith/first") {
		l.t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if r := l.admin.run("patch-job", "priority", "waits", "-n", smith, "--priority", "experiment", "--dry-run"); !strings.Contains(r.stderr, "it would stay pending") {
		l.t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	l.member.ok("patch-job", "priority", "waits", "--priority", "inference")
	l.admin.ok("wait-job", "waits", "-n", smith, "--for", "running", "--timeout", "60s")
	if out := l.admin.ok("get-job", "first", "-n", smith, "-o", "table"); !strings.Contains(out, "first has been preempted for") {
		l.t.Errorf("the other job:\n%s", out)
	}
	// Of a job that runs the class may be changed, and not taken away or added.
	l.admin.ok("patch-job", "priority", "waits", "-n", smith, "--priority", "fine-tuning")
	l.admin.ok("cancel-job", "--all", "--yes", "--wait", "-n", smith)
	l.admin.ok("start-job", "-f", l.file(l.pytorch("none", 1, 1, "")), "-n", smith, "--wait", "--timeout", "60s")
	if r := l.admin.run("patch-job", "priority", "none", "-n", smith, "--priority", "training"); r.code != 3 {
		l.t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if _, err := l.bed.Kubectl(l.t.Context(), "label", "pytorchjob", "none", "-n", smith, kinds.PriorityLabel+"=training-priority"); err == nil {
		l.t.Error("Kueue gives a class to a job that runs without one after all")
	}
	l.admin.ok("cancel-job", "none", "-n", smith, "--wait")
}

// pods: STATUS is kubectl's.
func (l life) pods() {
	for name, manifest := range map[string]string{
		"ok": l.pytorch("ok", 2, 1, ""), "done": l.pytorch("done", 1, 0, "testbed/complete-after: 1s"),
		"bad": l.pytorch("bad", 1, 0, "testbed/fail-after: 1s"), "stuck": strings.ReplaceAll(l.pytorch("stuck", 1, 0, ""), "containers:", "nodeSelector: {no: such}\n          containers:"),
	} {
		l.admin.ok("start-job", "-f", l.file(manifest), "-n", smith, "--scheduler-type", "None")
		goal := map[string]string{"ok": "running", "done": "finished", "bad": "finished"}[name]
		if goal != "" {
			l.admin.run("wait-job", name, "-n", smith, "--for", goal, "--timeout", "60s")
		}
	}
	err := l.bed.WaitFor(l.t.Context(), "the same STATUS", func(ctx context.Context) error {
		for _, name := range []string{"ok", "done", "bad", "stuck"} {
			theirs, err := l.bed.Kubectl(ctx, "get", "pods", "-n", smith, "-l", "training.kubeflow.org/job-name="+name, "--no-headers")
			if err != nil {
				return err
			}
			ours := l.admin.ok("list-pods", name, "-n", smith, "-o", "table")
			for _, line := range strings.Split(strings.TrimSpace(theirs), "\n") {
				f := strings.Fields(line)
				want := regexp.MustCompile(`(?m)^` + f[0] + ` +Worker +\d +` + regexp.QuoteMeta(f[2]) + ` `)
				if !want.MatchString(ours) {
					return fmt.Errorf("kubectl: %s\nours:\n%s", line, ours)
				}
			}
		}
		return nil
	})
	if err != nil {
		l.t.Error(err)
	}
	if out := l.admin.ok("list-pods", "stuck", "-n", smith, "-o", "table"); !strings.Contains(out, "didn't match Pod's node affinity/selector") {
		l.t.Errorf("why it waits:\n%s", out)
	}
	l.admin.ok("cancel-job", "ok", "done", "bad", "stuck", "-n", smith, "--wait")
}

// manifests of every kind that runs can be submitted again by kubectl, and are
// then the same.
func (l life) manifests() {
	empty := regexp.MustCompile(`(?m)^ *resources: \{\}\n`) // Kueue's types write them out
	for _, k := range []kinds.Job{kinds.PyTorchJob, kinds.MPIJob, kinds.TFJob, kinds.XGBoostJob, kinds.JAXJob, kinds.PaddleJob, kinds.BatchJob, kinds.JobSet, kinds.RayCluster, kinds.RayJob} {
		r := &recorder{t: l.t, bed: l.bed, kind: k}
		r.apply(r.job("again", 1, 1, recordLow))
		l.admin.ok("wait-job", "again", "-n", smith, "--for", "admitted", "--timeout", "60s")
		manifest := l.admin.ok("get-job", "again", "-n", smith, "--manifest")
		l.admin.ok("cancel-job", "again", "-n", smith, "--wait", "--timeout", "30s")
		if strings.Contains(manifest, "nodeSelector") {
			l.t.Errorf("%s: what Kueue put in is still there:\n%s", k.Kind, manifest)
		}
		l.kubectl("create", "-f", l.file(manifest))
		l.admin.ok("wait-job", "again", "-n", smith, "--for", "admitted", "--timeout", "60s")
		if second := l.admin.ok("get-job", "again", "-n", smith, "--manifest"); empty.ReplaceAllString(second, "") != empty.ReplaceAllString(manifest, "") {
			l.t.Errorf("%s: first\n%sthen\n%s", k.Kind, manifest, second)
		}
		l.admin.ok("cancel-job", "again", "-n", smith, "--wait", "--timeout", "30s")
	}
}

// waits: the same waits end with kubectl and with us; ours asks for nothing while
// nothing changes.
func (l life) waits() {
	l.admin.ok("start-job", "-f", l.file(l.pytorch("x", 1, 1, "")), "-n", smith)
	l.kubectl("wait", "pytorchjob/x", "-n", smith, "--for=condition=Running", "--timeout=60s")
	l.admin.ok("wait-job", "x", "-n", smith, "--for", "condition=Running", "--timeout", "60s")

	ctx, cancel := context.WithTimeout(l.t.Context(), 60*time.Second)
	defer cancel()
	deleted := l.admin.start(ctx, "wait-job", "x", "-n", smith, "--for", "deleted", "--debug")
	deleted.until(func(string) bool { return strings.Count(deleted.errors(), "watch=true") >= 2 })
	before := strings.Count(deleted.errors(), "debug: ")
	// kubectl's wait is the clock of a quiet time, in which nothing is asked for.
	if out, err := l.bed.Kubectl(ctx, "wait", "pytorchjob/x", "-n", smith, "--for=delete", "--timeout=15s"); err == nil {
		l.t.Errorf("kubectl wait ended: %s", out)
	}
	if after := strings.Count(deleted.errors(), "debug: "); after != before {
		l.t.Errorf("%d requests while nothing changed:\n%s", after-before, deleted.errors())
	}
	theirs := exec.CommandContext(ctx, l.bed.KubectlPath, "wait", "pytorchjob/x", "-n", smith, "--for=delete", "--timeout=50s", "--kubeconfig", l.bed.Kubeconfig)
	if err := theirs.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.kubectl("delete", "pytorchjob", "x", "-n", smith)
	if code := deleted.wait(); code != 0 {
		l.t.Errorf("exit code %d: %s", code, deleted.errors())
	}
	if err := theirs.Wait(); err != nil {
		l.t.Errorf("kubectl wait --for=delete: %v", err)
	}

	l.admin.ok("start-job", "-f", l.file(l.pytorch("y", 1, 1, "")), "-n", smith, "--wait", "--timeout", "60s")
	gone := l.admin.start(ctx, "wait-job", "y", "-n", smith, "--for", "succeeded", "--debug")
	gone.until(func(string) bool { return strings.Count(gone.errors(), "watch=true") >= 2 })
	l.kubectl("delete", "pytorchjob", "y", "-n", smith)
	if code := gone.wait(); code != 5 || !strings.Contains(gone.errors(), "job y was deleted during the wait") {
		l.t.Errorf("exit code %d: %s", code, gone.errors())
	}
	if r := l.admin.run("wait-job", "y", "-n", smith, "--for", "deleted"); r.code != 0 {
		l.t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// restart: a wait outlives a restart of the API server, as administrator and as
// member.
func (l life) restart() {
	l.admin.ok("start-job", "-f", l.file(l.pytorch("z", 1, 1, "testbed/complete-after: 25s")), "-n", smith, "--priority", "training", "--wait", "--timeout", "60s")
	ctx, cancel := context.WithTimeout(l.t.Context(), 3*time.Minute)
	defer cancel()
	var waits []*running
	for _, u := range []user{l.admin, l.member} {
		w := u.start(ctx, "wait-job", "z", "-n", smith, "--for", "succeeded", "--debug")
		w.until(func(string) bool { return strings.Count(w.errors(), "watch=true") >= 2 })
		waits = append(waits, w)
	}
	l.bed.StopAPIServer()
	if err := l.bed.Get(ctx, "/readyz", nil); err == nil {
		l.t.Error("the API server answers although it is stopped")
	}
	if err := l.bed.StartAPIServer(ctx); err != nil {
		l.t.Fatal(err)
	}
	for _, w := range waits {
		if code := w.wait(); code != 0 {
			l.t.Errorf("exit code %d: %s%s", code, w.output(), w.errors())
		}
	}
	l.admin.ok("cancel-job", "z", "-n", smith)
}

// pytorch is a PyTorchJob with a pod annotation, or "".
func (l life) pytorch(name string, pods, gpus int, annotation string) string {
	return fmt.Sprintf(`
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: %s}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: %d
      restartPolicy: Never
      template:
        metadata: {annotations: {%s}}
        spec:
          containers: [{name: pytorch, image: "example.com/i:1", command: [train], resources: {limits: {nvidia.com/gpu: %d}}}]
`, name, pods, annotation, gpus)
}
