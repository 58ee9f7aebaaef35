package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// TestKinds takes a job of every kind through its life with our commands, and compares what they show with kubectl.
func TestKinds(t *testing.T) {
	t.Parallel()
	bed := cluster.ForTest(t, cluster.Options{AllKinds: true, More: []cluster.Component{cluster.LWS}})
	if err := bed.ApplyNodes(t.Context(), cluster.Nodes("ml.g5.12xlarge", 4)); err != nil {
		t.Fatal(err)
	}
	if err := bed.ApplyTeams(t.Context(), cluster.JohnAndSmith()); err != nil {
		t.Fatal(err)
	}
	admin := newUser(t, bed.Kubeconfig)
	for _, name := range []string{"Job", "PyTorchJob", "TFJob", "XGBoostJob", "JAXJob", "PaddleJob", "MPIJob", "LeaderWorkerSet", "StatefulSet", "Deployment", "Pod"} {
		t.Run(name, func(t *testing.T) { kindOf(t, bed, admin, name).life() })
	}
	// Nothing here creates the pods of these.
	for _, name := range []string{"SparkApplication", "RayService", "RayCluster", "JobSet", "Notebook"} {
		t.Run(name, func(t *testing.T) { kindOf(t, bed, admin, name).unattended() })
	}
}

// ofKind is a job of one kind, as our commands and kubectl show it.
type ofKind struct {
	recorder
	user
	t    *testing.T
	name string
}

func kindOf(t *testing.T, bed *cluster.Bed, u user, name string) ofKind {
	t.Helper()
	k, ok := kinds.JobNamed(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	return ofKind{recorder: recorder{t: t, bed: bed, kind: k}, user: u.in(t), t: t, name: strings.ToLower(name)}
}

// life: it starts, waits, is suspended where it can be, and is cancelled.
func (k ofKind) life() {
	pods, gpus := int64(2), int64(1)
	if k.kind.Kind == kinds.Pod.Kind {
		pods = 1
	}
	file := k.file(k.job(k.name, pods, gpus, recordLow))
	var verdict struct{ Verdict string }
	decode(k.t, k.ok("start-job", "-f", file, "-n", smith, "--dry-run", "-o", "json"), &verdict)
	if verdict.Verdict != "Admitted" {
		k.t.Errorf("the dry run says %s", verdict.Verdict)
	}
	k.ok("start-job", "-f", file, "-n", smith, "--wait", "--timeout", "90s")
	k.ok("wait-job", k.name, "-n", smith, "--for", "running", "--timeout", "60s")
	k.settle("Running", true)

	large := k.file(k.job(k.name+"-large", pods, 9, recordLow)) // larger than any node
	k.run("start-job", "-f", large, "-n", smith)
	waiting := k
	waiting.name += "-large"
	waiting.settle("Pending", false)
	k.ok("cancel-job", waiting.name, "-n", smith, "--wait", "--timeout", "60s")

	// Of what has no suspend field, only a StatefulSet has one Workload that can be deactivated.
	if r := k.run("patch-job", "suspend", k.name, "-n", smith); len(k.kind.SuspendPath) == 0 && k.kind.Kind != "StatefulSet" {
		if r.code != 1 || !strings.Contains(r.stderr, "no suspend field") {
			k.t.Errorf("suspend: exit code %d: %s", r.code, r.stderr)
		}
	} else {
		k.settle("Suspended", false)
		k.ok("patch-job", "unsuspend", k.name, "-n", smith)
		k.settle("Running", true)
	}
	k.ok("cancel-job", k.name, "-n", smith, "--wait", "--timeout", "60s")
	if err := k.bed.Get(k.t.Context(), k.kind.Path(smith, k.name), nil); !cluster.NotFound(err) {
		k.t.Errorf("it is still there: %v", err)
	}
}

// unattended: a kind that nothing reconciles is Starting without pods.
func (k ofKind) unattended() {
	k.ok("start-job", "-f", k.file(k.job(k.name, 1, 1, recordLow)), "-n", smith)
	k.settle("Starting", false)
	if page := k.ok("get-job", k.name, "-n", smith, "-o", "table"); !regexp.MustCompile(`no pods yet`).MatchString(page) {
		k.t.Errorf("get-job prints\n%s", page)
	}
	k.ok("cancel-job", k.name, "-n", smith, "--wait", "--timeout", "60s")
}

func (k ofKind) file(o map[string]any) string {
	k.t.Helper()
	text, err := json.Marshal(o)
	path := filepath.Join(k.t.TempDir(), "job.json")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return path
}

// settle waits until list-jobs, get-job and explain-job have the state, and all that kubectl shows beside it.
func (k ofKind) settle(state string, runs bool) {
	k.t.Helper()
	err := k.bed.WaitFor(k.t.Context(), k.name+" to be "+state+" everywhere", func(ctx context.Context) error {
		before, err := k.look(ctx, k.name)
		if err != nil {
			return err
		}
		if err := k.same(state, runs, before); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		k.t.Error(err)
	}
}

// same compares our commands with a scene read just before. What changes in between is tried again.
func (k ofKind) same(state string, runs bool, s scene) error {
	var list struct {
		Jobs []struct {
			Name, State, Reason, Message string
			Pods, PodsReady              int
		}
	}
	decode(k.t, k.ok("list-jobs", "-n", smith, "--verbose", "-o", "json"), &list)
	at := slices.IndexFunc(list.Jobs, func(j struct {
		Name, State, Reason, Message string
		Pods, PodsReady              int
	}) bool {
		return j.Name == k.name
	})
	if at < 0 {
		return fmt.Errorf("list-jobs does not show it")
	}
	row := list.Jobs[at]
	if row.State != state {
		return fmt.Errorf("list-jobs says %s %s", row.State, row.Reason)
	}
	var status struct{ Status any }
	decode(k.t, k.ok("get-job", k.name, "-n", smith, "-o", "json"), &status)
	if !reflect.DeepEqual(status.Status, s.Job["status"]) {
		return fmt.Errorf("get-job has the status %v, kubectl %v", status.Status, s.Job["status"])
	}
	var why struct {
		State, Reason string
		Kueue         struct{ Reason string }
	}
	decode(k.t, k.ok("explain-job", k.name, "-n", smith, "-o", "json"), &why)
	if why.State != state {
		return fmt.Errorf("explain-job says %s", why.State)
	}
	if state == "Pending" {
		return k.sameReason(row.Reason, why.Kueue.Reason, s)
	}
	ready := 0
	for _, p := range s.Pods {
		if holds(p, "Ready") {
			ready++
		}
	}
	page := k.ok("get-job", k.name, "-n", smith, "-o", "table")
	if text := fmt.Sprintf("%d of %d ready", ready, row.Pods); !strings.Contains(page, text) {
		return fmt.Errorf("get-job does not say %s:\n%s", text, page)
	}
	if runs && (ready == 0 || ready != row.Pods || row.PodsReady != ready) {
		return fmt.Errorf("%d pods are ready, list-jobs says %d of %d", ready, row.PodsReady, row.Pods)
	}
	if !runs && ready != 0 {
		return fmt.Errorf("%d pods are ready", ready)
	}
	return nil
}

// sameReason compares why a job waits with the condition of one of its Workloads.
func (k ofKind) sameReason(listed, explained string, s scene) error {
	var reasons []string
	for _, w := range s.Workloads {
		list, _ := kinds.At(w, "status", "conditions").([]any)
		for _, c := range list {
			if kinds.Text(c, "type") == "QuotaReserved" {
				reasons = append(reasons, kinds.Text(c, "reason"))
			}
		}
	}
	if !slices.Contains(reasons, listed) || !slices.Contains(reasons, explained) {
		return fmt.Errorf("list-jobs gives the reason %q, explain-job %q, kubectl %q", listed, explained, reasons)
	}
	return nil
}
