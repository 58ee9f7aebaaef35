package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// batchUser is a member with the role that Kueue ships for people who run jobs, in one
// namespace, and nothing else. smith uses 8 GPUs, and two jobs wait.
func batchUser(t *testing.T, bed *cluster.Bed) {
	const namespace = "hyperpod-ns-smith"
	rules, err := bed.BatchUserRules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	as := func(name string, rules []cluster.Rule) user {
		kubeconfig, err := bed.UserKubeconfig(t.Context(), name, namespace, rules)
		if err != nil {
			t.Fatal(err)
		}
		return newUser(t, kubeconfig)
	}
	m := as("batch-user", rules)

	var quota struct {
		Quota []struct {
			Team                    string
			Nominal, Reserved, Used *float64
			Flavors                 []struct{ Flavor string }
		}
	}
	// Kueue writes the status of a LocalQueue a second or more after the workloads.
	err = bed.WaitFor(t.Context(), "the use of smith", func(context.Context) error {
		decode(t, m.ok("get-quota", "-n", namespace, "-o", "json"), &quota)
		if len(quota.Quota) != 1 {
			return fmt.Errorf("get-quota: %+v", quota)
		}
		if q := quota.Quota[0]; q.Team != "smith" || q.Nominal != nil || *q.Reserved != 8 || *q.Used != 8 || len(q.Flavors) != 1 || q.Flavors[0].Flavor != "ml.g5.12xlarge" {
			return fmt.Errorf("get-quota: %s: reserved %v, used %v of %v", q.Team, *q.Reserved, *q.Used, q.Flavors)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var queue queueDocument
	decode(t, m.ok("get-queue", "-n", namespace, "-o", "json"), &queue)
	if queue.Order != "Visibility" || len(queue.Pending) != 2 || queue.Pending[0].Name != "smith-urgent" || queue.Pending[0].Position != 1 ||
		queue.Pending[1].Name != "smith-late" || queue.Pending[1].Position != 2 || !strings.HasPrefix(queue.Pending[0].Summary, "4 more gpu needed") {
		t.Errorf("get-queue: %+v", queue)
	}
	dryRun := []string{"start-job", "--name", "tried", "--template", "pytorch", "--image", "example.com/train:1", "--entry-script", "train.py",
		"--instance-type", "ml.g5.12xlarge", "--node-count", "1", "-n", namespace, "--dry-run", "-o", "table"}
	r := m.run(dryRun...)
	if r.code != 1 || !strings.Contains(r.stdout, "the team holds 8 of nvidia.com/gpu now; its limit cannot be read") || strings.Count(r.stdout, "\n  hidden ") != 1 {
		t.Errorf("dry run: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, args := range [][]string{{"get-quota", "-o", "table"}, {"get-queue", "-o", "table"}} {
		if r := m.run(args...); r.code != 0 || !strings.Contains(r.stdout, "smith") || strings.Count(r.stderr, "note:") != 1 {
			t.Errorf("%v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	// Without -n, the namespace is the last one that worked.
	if r := m.run("list-jobs", "-o", "name"); r.code != 0 || !strings.Contains(r.stdout, "smith-urgent") || !strings.Contains(r.stderr, "the last one that worked") {
		t.Errorf("list-jobs: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := as("batch-user-new", rules).run("list-jobs"); r.code != 4 {
		t.Errorf("list-jobs of a user without a namespace: exit code %d\n%s", r.code, r.stderr)
	}

	// The role has no permission for pods: what needs them names it. The rest works.
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"get-usage", "-o", "table"}, 0, "smith-"},
		{[]string{"list-jobs", "--mine", "-o", "table"}, 0, ""},
		{[]string{"report", "-o", "table"}, 0, ""},
		{[]string{"doctor", "-o", "table"}, 0, "not examined"},
		{[]string{"dashboard"}, 0, "smith-urgent"},
		{[]string{"copy-file", "smith-urgent:/tmp/x", t.TempDir()}, 4, "permission to list pods"},
		{[]string{"port-forward", "smith-urgent", ":6006"}, 4, "permission to list pods"},
		{[]string{"exec", "smith-urgent", "--", "true"}, 4, "permission to list pods"},
		{append(dryRun[:len(dryRun)-5:len(dryRun)-5], "--sweep", "seed=1..2", "--dry-run", "-o", "table"), 1, "UNKNOWN  sweep tried"},
	} {
		if r := m.run(append(c.args[:1:1], append([]string{"-n", namespace}, c.args[1:]...)...)...); r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.says) || strings.Count(r.stderr, "are hidden") > 2 {
			t.Errorf("%v: exit code %d\n%s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}

	// Without one more permission a command shows what is left. It fails only where it
	// needs that permission, which the error then names.
	needs := map[string]string{"get-queue": "workloads", "explain-job": "pytorchjobs"}
	commands := [][]string{{"get-quota", "-n", namespace, "-o", "table"}, {"get-queue", "-n", namespace, "-o", "table"}, {"list-jobs", "-n", namespace, "-o", "name"},
		{"explain-job", "smith-urgent", "-n", namespace, "-o", "table"}, dryRun}
	for _, resource := range []string{"workloads", "localqueues", "localqueues/pendingworkloads", "pytorchjobs", "mpijobs", "jobs"} {
		for _, verb := range []string{"", "get", "list", "watch", "create"} {
			name := strings.ReplaceAll("batch-user-without-"+resource+"-"+verb, "/", "-")
			left := cluster.Without(rules, resource, verb)
			if fmt.Sprint(left) == fmt.Sprint(cluster.Without(rules, "", "")) {
				continue // the role does not have it
			}
			m := as(name, left)
			for _, args := range commands {
				r := m.run(args...)
				short, _, _ := strings.Cut(resource, "/")
				switch {
				case r.code == 0, args[0] == "start-job" && r.code == 1 && strings.HasPrefix(r.stdout, "UNKNOWN"):
				case args[0] == "start-job" && r.code == 3 && strings.HasPrefix(r.stdout, "NEVER") && resource == "pytorchjobs" && strings.Contains(r.stdout, "no permission to create pytorchjob "):
				case r.code == 4 && needs[args[0]] == short && strings.Contains(r.stderr, short):
				default:
					t.Errorf("without %s %s, %v: exit code %d\n%s%s", verb, resource, args, r.code, r.stdout, r.stderr)
				}
			}
		}
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
