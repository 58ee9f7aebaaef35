package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// verdict is what the tests look at of start-job --dry-run.
type verdict struct {
	Verdict, Reason, Detail, Summary string
	Complete                         bool
	Quota                            struct {
		Outcome  string
		Borrowed []struct {
			Resource string
			Amount   float64
			Lenders  []struct {
				ClusterQueue string
				Amount       float64
			}
		}
	}
	Rules struct {
		FairSharing, ConfigurationKnown bool
	}
	Holders []struct{ Namespace, Name, Owner string }
}

func dryRun(u user, code int, args ...string) verdict {
	u.t.Helper()
	r := u.run(append([]string{"start-job", "--dry-run", "-o", "json"}, args...)...)
	var v verdict
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		u.t.Fatalf("exit code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	if r.code != code {
		u.t.Errorf("exit code %d, want %d: %s %s: %s", r.code, code, v.Verdict, v.Reason, v.Summary)
	}
	return v
}

// lendThree is the worked example, where A lends exactly three of its four
// idle GPUs to a task of four for B: the verdict, and then the same in Kueue's own
// deeds; explain-job on a job that waits names who holds what it needs.
func lendThree(t *testing.T, bed *cluster.Bed) {
	applyScenario(t, bed, "lend-three", true)
	admin := newUser(t, bed.Kubeconfig)
	usage(t, bed, "hyperpod-ns-team-a-clusterqueue", "2", "0")
	usage(t, bed, "hyperpod-ns-team-b-clusterqueue", "4", "0")
	job := func(name, gpus string) []string {
		return []string{"--name", name, "--template", "pytorch", "--image", "example.com/train:1", "--entry-script", "train.py",
			"--node-count", "1", "--accelerators", gpus, "--instance-type", "ml.g5.12xlarge", "-n", "hyperpod-ns-team-b"}
	}
	v := dryRun(admin, 0, job("task", "4")...)
	if v.Verdict != "Admitted" || !v.Complete || !v.Rules.FairSharing || !v.Rules.ConfigurationKnown {
		t.Errorf("%+v", v)
	}
	b := v.Quota.Borrowed
	if len(b) == 0 || b[0].Resource != "nvidia.com/gpu" || b[0].Amount != 3 || len(b[0].Lenders) != 1 || b[0].Lenders[0].ClusterQueue != "hyperpod-ns-team-a-clusterqueue" {
		t.Errorf("borrowed %+v", b)
	}
	if l := admin.list("-n", "hyperpod-ns-team-b"); len(l.Jobs) != 1 {
		t.Errorf("a dry run left something: %+v", l)
	}
	admin.ok(append([]string{"start-job", "--wait=admitted", "--timeout", "60s"}, job("task", "4")...)...)
	usage(t, bed, "hyperpod-ns-team-b-clusterqueue", "8", "3")

	// Another one of four has to wait: its verdict says so, and Kueue agrees.
	if v := dryRun(admin, 8, job("next", "4")...); v.Verdict != "Waits" || v.Reason != "WaitingForQuota" {
		t.Errorf("%+v", v)
	}
	if v := dryRun(admin, 3, append(job("never", "4"), "--node-count", "3")...); v.Verdict != "Never" || v.Reason != "ExceedsMaxQuota" {
		t.Errorf("%+v", v)
	}
	admin.ok(append([]string{"start-job"}, job("next", "4")...)...)
	var e struct {
		State, Reason, Summary string
		Place                  struct{ Position int }
		Kueue                  struct{ Message string }
		Verdict                verdict
		Timeline               []struct{ Step string }
	}
	for try := 0; ; try++ {
		if err := json.Unmarshal([]byte(admin.ok("explain-job", "next", "-n", "hyperpod-ns-team-b", "-o", "json")), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kueue.Message != "" || try == 100 {
			break
		}
	}
	if e.State != "Pending" || e.Reason != "WaitingForQuota" || e.Place.Position != 1 || !strings.Contains(e.Kueue.Message, "nvidia.com/gpu") {
		t.Errorf("%+v", e)
	}
	var holders []string
	for _, h := range e.Verdict.Holders {
		holders = append(holders, h.Namespace+"/"+h.Name)
	}
	slices.Sort(holders)
	if want := "hyperpod-ns-team-a/base-a hyperpod-ns-team-b/base-b hyperpod-ns-team-b/task"; strings.Join(holders, " ") != want {
		t.Errorf("held by %v, want %s", holders, want)
	}
	page := admin.ok("explain-job", "next", "-n", "hyperpod-ns-team-b", "-o", "table")
	for _, want := range []string{"next has been pending for", "1st in team-b, WaitingForQuota", "held by", "hyperpod-ns-team-b/task"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	t.Run("member", func(t *testing.T) { checkAsMember(t, bed) })
}

// checkAsMember: with a team's permissions the answer covers what is visible, and reports that.
func checkAsMember(t *testing.T, bed *cluster.Bed) {
	kubeconfig, err := bed.MemberKubeconfig(t.Context(), "team-b")
	if err != nil {
		t.Fatal(err)
	}
	m := newUser(t, kubeconfig)
	r := m.run("explain-job", "next", "-n", "hyperpod-ns-team-b", "-o", "table")
	if r.code != 0 || !strings.Contains(r.stdout, "hidden") || !strings.Contains(r.stdout, "next has been pending for") {
		t.Errorf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
}
