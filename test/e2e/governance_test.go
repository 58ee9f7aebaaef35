package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// TestGovernance makes teams from a file on a cluster without any, and then changes them
// again and again: what plan foretells is what a real Kueue does.
func TestGovernance(t *testing.T) {
	t.Parallel()
	bed := cluster.ForTest(t, cluster.Options{})
	if err := bed.ApplyNodes(t.Context(), cluster.Nodes("ml.g5.12xlarge", 8)); err != nil {
		t.Fatal(err)
	}
	foretold(t, bed, "v1beta2", "Enabled", plans(10), func(job int) int { return 1 + job%7/6 })
	t.Run("rights", func(t *testing.T) { rights(t, bed) })
}

// plans is how many plans are compared with what happens: $HYPERPOD_PLANS, or n.
func plans(n int) int {
	if more, err := strconv.Atoi(os.Getenv("HYPERPOD_PLANS")); err == nil {
		return more
	}
	return n
}

// allocation is a team of the test.
type allocation struct {
	team                  string
	count, borrow, weight int
	strategy              string
	preempt               string
}

// governanceFile writes the file of teams on a cluster with fair sharing as it says.
func governanceFile(t *testing.T, dir, fairShare string, teams []allocation) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "version: hyperpod.policy/v1\npolicy:\n  fairShare: %s\n  priorityClasses:\n  - {name: high, weight: 80}\n  - {name: low, weight: 20}\nteams:\n", fairShare)
	for _, a := range teams {
		fmt.Fprintf(&b, "- team: %s\n  quota: [{instanceType: ml.g5.12xlarge, count: %d}]\n  strategy: %s\n  fairShareWeight: %d\n  preemptTeamTasks: %s\n", a.team, a.count, a.strategy, a.weight, a.preempt)
		if a.strategy == "LendAndBorrow" {
			fmt.Fprintf(&b, "  borrowLimit: %d\n", a.borrow)
		}
	}
	path := filepath.Join(dir, "teams.yaml")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// planned is the part of a plan that is compared.
type planned struct {
	Changes      bool
	Consequences *struct {
		Settled, Tie       bool
		Before, After      struct{ Admitted, WaitsForNodes int }
		Between            *struct{ Runs, Waits []string }
		Preempted, Evicted []moved
		Started, NoNodes   []moved
	}
}

// moved is a job that a plan moves.
type moved struct {
	Namespace, Name string
	RunsAgain       bool
}

// jobsThere is how many jobs there are, one more than the teams can run at most.
const jobsThere = 16

// foretold compares plans with what happens after apply. nodes is how many nodes a job has.
func foretold(t *testing.T, bed *cluster.Bed, version, fairShare string, plans int, nodes func(job int) int) {
	admin := newUser(t, bed.Kubeconfig)
	r := rand.New(rand.NewPCG(3, 14))
	teams := []allocation{
		{"vision", 3, 100, 50, "LendAndBorrow", "LowerPriority"},
		{"speech", 2, 100, 30, "LendAndBorrow", "LowerPriority"},
		{"robots", 2, 50, 20, "LendAndBorrow", "Never"},
	}
	dir := t.TempDir()
	file := governanceFile(t, dir, fairShare, teams)
	if p := admin.run("governance", "plan", "-f", file, "-o", "json"); p.code != 3 {
		t.Fatalf("plan on a cluster without teams: exit code %d: %s", p.code, p.stderr)
	}
	admin.ok("governance", "apply", "-f", file, "--yes", "--backup", "none")
	if p := admin.run("governance", "plan", "-f", file, "-o", "table"); p.code != 0 {
		t.Fatalf("after apply, plan still sees changes: %s%s", p.stdout, p.stderr)
	}
	for i := range jobsThere {
		team := teams[i%len(teams)].team
		if err := bed.WaitFor(t.Context(), "the service account of "+team, func(ctx context.Context) error {
			return bed.Get(ctx, "/api/v1/namespaces/hyperpod-ns-"+team+"/serviceaccounts/default", nil)
		}); err != nil {
			t.Fatal(err)
		}
		admin.ok("start-job", "--name", fmt.Sprintf("job-%d", i), "--template", "pytorch", "--image", "example.com/train:1", "--entry-script", "train.py", "--yes",
			"--instance-type", "ml.g5.12xlarge", "--node-count", strconv.Itoa(nodes(i)), "-n", "hyperpod-ns-"+team, "--priority", []string{"high", "low"}[i/3%2])
	}
	var last map[string]bool
	told, quiet, ties, unsettled, timed := 0, 0, 0, 0, 0
	for round := range plans {
		var stays []map[string]bool
		if last != nil {
			stays = append(stays, last)
		}
		now := holding(t, bed, version, stays...)
		if last != nil && !maps.Equal(now, last) {
			t.Fatalf("plan %d: after it was as foretold, it changed: %v, foretold %v", round, keys(now), keys(last))
		}
		a := &teams[r.IntN(len(teams))]
		a.count, a.weight = 1+r.IntN(5), 10*r.IntN(6)
		a.borrow = []int{0, 50, 100}[r.IntN(3)]
		a.strategy = []string{"LendAndBorrow", "LendAndBorrow", "Lend", "DontLend"}[r.IntN(4)]
		file := governanceFile(t, dir, fairShare, teams)
		out := admin.run("governance", "plan", "-f", file, "-o", "json")
		var p planned
		if err := json.Unmarshal([]byte(out.stdout), &p); err != nil {
			t.Fatalf("plan %d: exit code %d: %s: %v", round, out.code, out.stderr, err)
		}
		if !p.Changes {
			continue
		}
		want := maps.Clone(now)
		if c := p.Consequences; c != nil {
			for _, j := range slices.Concat(c.Preempted, c.Evicted) {
				if !j.RunsAgain {
					delete(want, j.Namespace+"/"+j.Name)
				}
			}
			for _, j := range slices.Concat(c.Started, c.NoNodes) {
				want[j.Namespace+"/"+j.Name] = true
			}
		}
		admin.ok("governance", "apply", "-f", file, "--yes", "--backup", "none")
		if c := p.Consequences; c != nil && (c.Tie || !c.Settled) {
			ties++
			last = nil
			continue
		}
		if c := p.Consequences; c != nil && c.Before.Admitted+c.Before.WaitsForNodes != len(now) {
			// Kueue has parked a job that it would admit if it looked again, and a change makes it look: the plan counts
			// the job on both sides.
			unsettled++
			last = nil
			if got := holding(t, bed, version); len(got) != c.After.Admitted+c.After.WaitsForNodes {
				t.Fatalf("plan %d: quota is held by %v, foretold %d jobs\n%s", round, keys(got), c.After.Admitted+c.After.WaitsForNodes, out.stdout)
			}
			continue
		}
		if maps.Equal(now, want) {
			quiet++
		} else {
			told++
		}
		wants := []map[string]bool{want}
		if c := p.Consequences; c != nil && c.Between != nil {
			between := maps.Clone(want)
			for _, j := range c.Between.Runs {
				between[j] = true
			}
			for _, j := range c.Between.Waits {
				delete(between, j)
			}
			wants = append(wants, between)
			timed++
		}
		got := holding(t, bed, version, wants...)
		if !among(got, wants) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Fatalf("plan %d: quota is held by %v, foretold %v (before: %v)\n%s\n%s", round, keys(got), wants, keys(now), data, out.stdout)
		}
		last = got
	}
	t.Logf("quota is held by %v at the end", keys(holding(t, bed, version)))
	t.Logf("%d plans: %d with jobs that start or are preempted, as foretold; %d without, after which nothing changed; %d undecided in Kueue; %d on a cluster that had not settled; %d with two outcomes", plans, told, quiet, ties, unsettled, timed)
	if plans > 5 && told == 0 {
		t.Error("no plan moved a job")
		t.Log(admin.ok("get-queue", "-o", "wide"))
		t.Log(admin.ok("get-quota", "-o", "wide"))
	}
	if p := admin.run("governance", "plan", "-f", file, "-o", "table"); p.code != 0 {
		t.Errorf("at the end plan sees changes: %s", p.stdout)
	}
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

func among(got map[string]bool, wants []map[string]bool) bool {
	return slices.ContainsFunc(wants, func(want map[string]bool) bool { return maps.Equal(got, want) })
}

// holding are the jobs whose workloads hold quota. With wants, it waits until they are
// some of those, as long as the bed allows, else until they stay the same. The last answer is
// returned.
func holding(t *testing.T, bed *cluster.Bed, version string, wants ...map[string]bool) map[string]bool {
	t.Helper()
	var got, before map[string]bool
	same := 0
	err := bed.WaitFor(t.Context(), "the workloads that hold quota", func(ctx context.Context) error {
		var list struct {
			Items []struct {
				Metadata struct {
					Namespace       string
					OwnerReferences []struct{ Name string }
				}
				Status struct {
					Conditions []struct{ Type, Status string }
				}
			}
		}
		if err := bed.Get(ctx, "/apis/kueue.x-k8s.io/"+version+"/workloads", &list); err != nil {
			return err
		}
		got = map[string]bool{}
		for _, w := range list.Items {
			for _, c := range w.Status.Conditions {
				if c.Type == "QuotaReserved" && c.Status == "True" {
					got[w.Metadata.Namespace+"/"+w.Metadata.OwnerReferences[0].Name] = true
				}
			}
		}
		if len(wants) == 0 {
			if same++; len(list.Items) < jobsThere || !maps.Equal(got, before) {
				same, before = 0, got
			}
			if same < 20 {
				return fmt.Errorf("%d workloads, the same %d times", len(list.Items), same)
			}
			return nil
		}
		if !among(got, wants) {
			return fmt.Errorf("held by %v", keys(got))
		}
		return nil
	})
	if err != nil {
		t.Log(err)
	}
	return got
}

// rights: with the Roles that governance rbac prints, and nothing else, every command for
// data scientists works.
func rights(t *testing.T, bed *cluster.Bed) {
	admin := newUser(t, bed.Kubeconfig)
	if err := bed.Apply(t.Context(), []byte(admin.ok("governance", "rbac", "vision"))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(bed.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	as := config["users"].([]any)[0].(map[string]any)["user"].(map[string]any)
	as["as"], as["as-groups"] = "ada", []string{"hyperpod-ns-vision-namespace-level-group", "system:authenticated"}
	if data, err = yaml.Marshal(config); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ada := newUser(t, path)
	const ns = "hyperpod-ns-vision"
	if err := bed.WaitFor(t.Context(), "the rights", func(context.Context) error {
		if r := ada.run("governance", "rbac", "vision", "--verify", "-o", "table"); r.code != 0 {
			return fmt.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if r := ada.run("list-jobs", "-n", "hyperpod-ns-speech"); r.code != 4 {
		t.Errorf("another team's jobs: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	start := []string{"start-job", "--name", "mine", "--template", "pytorch", "--image", "example.com/train:1", "--entry-script", "train.py",
		"--instance-type", "ml.g5.12xlarge", "--node-count", "1", "-n", ns, "--priority", "high"}
	if r := ada.run(append(start, "--dry-run")...); r.code != 0 && r.code != 8 {
		t.Errorf("dry run: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	ada.ok(append(start, "--yes")...)
	for _, args := range [][]string{
		{"list-jobs"}, {"list-jobs", "--verbose"}, {"get-job", "mine"}, {"explain-job", "mine"}, {"list-pods", "mine"},
		{"get-quota"}, {"get-queue"}, {"patch-job", "suspend", "mine"}, {"patch-job", "unsuspend", "mine"}, {"patch-job", "priority", "mine", "--priority", "low"},
		{"cancel-job", "mine"}, {"wait-job", "mine", "--for", "deleted", "--timeout", "30s"},
	} {
		if r := ada.run(append(args, "-n", ns)...); r.code != 0 {
			t.Errorf("hyperpod %v: exit code %d: %s%s", args, r.code, r.stdout, r.stderr)
		}
	}
}
