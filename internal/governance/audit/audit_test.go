package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

const gpu = "nvidia.com/gpu"

// team is a ClusterQueue with a quota of GPUs; limits below 0 are none.
func team(name, cohort string, nominal, borrowing, lending int64, change ...func(*state.ClusterQueue)) state.ClusterQueue {
	r := state.ResourceQuota{Name: gpu, Nominal: *resource.NewQuantity(nominal, resource.DecimalSI)}
	if borrowing >= 0 {
		r.BorrowingLimit = resource.NewQuantity(borrowing, resource.DecimalSI)
	}
	if lending >= 0 {
		r.LendingLimit = resource.NewQuantity(lending, resource.DecimalSI)
	}
	q := state.ClusterQueue{Meta: state.Meta{Name: name}, Cohort: cohort, ResourceGroups: []state.ResourceGroup{
		{CoveredResources: []string{gpu}, Flavors: []state.FlavorQuotas{{Name: "f", Resources: []state.ResourceQuota{r}}}}}}
	for _, c := range change {
		c(&q)
	}
	return q
}

// TestIdle: what is idle while team b waits for a job of 5 GPUs beside one of 4 that runs,
// and the setting that keeps it from the job.
func TestIdle(t *testing.T) {
	stopped := func(q *state.ClusterQueue) { q.StopPolicy = "Hold" }
	inactive := func(q *state.ClusterQueue) {
		q.Conditions = []state.Condition{{Type: "Active", Status: "False", Reason: "AdmissionCheckInactive"}}
	}
	deleted := func(q *state.ClusterQueue) {
		at := time.Date(2026, 1, 2, 11, 0, 0, 0, time.UTC)
		q.DeletionTimestamp = &at
		q.Conditions = []state.Condition{{Type: "Active", Status: "False", Reason: "Terminating"}}
	}
	const none = -1
	waits := team("b", "pool", 4, none, none)
	for _, c := range []struct {
		name   string
		queues []state.ClusterQueue
		want   string
	}{
		{"too little", []state.ClusterQueue{waits, team("a", "pool", 3, none, none)}, "3 of a: jobSize of b"},
		{"another cohort", []state.ClusterQueue{waits, team("a", "", 6, none, none)}, "6 of a: cohortName of a"},
		{"a lender that lends little", []state.ClusterQueue{waits, team("a", "pool", 6, none, 2)}, "6 of a: lendingLimit of a"},
		{"a borrower at its limit", []state.ClusterQueue{team("b", "pool", 4, 2, none), team("a", "pool", 6, none, none)}, "6 of a: borrowingLimit of b"},
		{"enough quota", []state.ClusterQueue{waits, team("a", "pool", 6, none, none)}, "6 of a: notQuota of b"},
		{"teams of the cohort come first", []state.ClusterQueue{waits, team("x", "", 8, none, none), team("a", "pool", 3, none, none)}, "3 of a: jobSize of b; 8 of x: cohortName of x"},
		{"a team that waits is stopped", []state.ClusterQueue{team("b", "pool", 4, none, none, stopped), team("a", "pool", 6, none, none)}, "6 of a: stopPolicy of b"},
		{"a stopped team lends", []state.ClusterQueue{waits, team("a", "pool", 3, none, none, stopped)}, "3 of a: jobSize of b"},
		{"a stopped team in another cohort", []state.ClusterQueue{waits, team("a", "", 6, none, none, stopped)}, "6 of a: cohortName of a"},
		{"an inactive team at the borrower's limit", []state.ClusterQueue{team("b", "pool", 4, 2, none), team("a", "pool", 6, none, none, inactive)}, "6 of a: borrowingLimit of b"},
		{"a queue that is being deleted lends nothing for long", []state.ClusterQueue{waits, team("a", "pool", 6, none, none, deleted), team("c", "pool", 3, none, none)}, "3 of c: notQuota of b"},
		{"a team that waits is being deleted", []state.ClusterQueue{team("b", "pool", 4, none, none, deleted), team("a", "pool", 6, none, none)}, ""},
		{"nothing is idle", []state.ClusterQueue{waits, team("a", "pool", 0, none, none)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
			s := &state.State{Taken: now, ClusterQueues: c.queues, Flavors: []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}}}}
			held := map[string]quota.Usage{"b": {quota.Key{Flavor: "f", Resource: gpu}: 4}}
			r := quota.FromUse(s, quota.Use{Reserved: held, Used: held})
			items := []queue.Item{{Key: queue.Key{Namespace: "ns", Workload: "w"}, Job: "job", ClusterQueue: "b", Size: state.Amounts{gpu: 5}, Since: now.Add(-time.Hour)}}
			var got []string
			for _, f := range Find(s, r, items) {
				if f.Code == Idle {
					got = append(got, fmt.Sprintf("%v of %s: %s of %s", f.Amount, f.Team, f.Setting, f.SettingOf))
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, "; "), c.want)
			}
		})
	}
}

// TestSelectors: quota of a flavor that no job of the team selects is named last, and so is the reason.
func TestSelectors(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for selector, want := range map[string]string{"a": "4 of a: jobSize", "b": "4 of a: nodeSelector", "": "4 of a: jobSize"} {
		s := &state.State{Taken: now, ClusterQueues: []state.ClusterQueue{team("waits", "pool", 0, -1, -1), team("a", "pool", 4, -1, -1)},
			Flavors:   []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}, NodeLabels: map[string]string{"type": "a"}}},
			Workloads: []state.Workload{{Meta: state.Meta{Namespace: "ns", Name: "w"}, PodSets: []state.PodSet{{Name: "main"}}}}}
		if selector != "" {
			s.Workloads[0].PodSets[0].NodeSelector = map[string]string{"type": selector}
		}
		items := []queue.Item{{Key: queue.Key{Namespace: "ns", Workload: "w"}, Job: "job", ClusterQueue: "waits", Size: state.Amounts{gpu: 5}, Since: now.Add(-time.Hour)}}
		for _, f := range Find(s, quota.FromUse(s, quota.Use{}), items) {
			if got := fmt.Sprintf("%v of %s: %s", f.Amount, f.Team, f.Setting); f.Code == Idle && got != want {
				t.Errorf("selector %q: %s, want %s", selector, got, want)
			}
		}
	}
}

// TestHolders: a team that borrows is a holder only of flavors that a waiting job can use.
func TestHolders(t *testing.T) {
	of := func(flavors ...string) func(*state.ClusterQueue) {
		return func(q *state.ClusterQueue) {
			g := &q.ResourceGroups[0]
			resources := g.Flavors[0].Resources
			g.Flavors = nil
			for _, name := range flavors {
				g.Flavors = append(g.Flavors, state.FlavorQuotas{Name: name, Resources: resources})
			}
		}
	}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		has      []string // flavors of the team that waits
		selector string
		want     string
	}{
		{"both flavors", []string{"f", "g"}, "", "[{borrows 3}]"},
		{"the other flavor is not in the team's queue", []string{"f"}, "", "[{borrows 1}]"},
		{"the job selects one flavor", []string{"f", "g"}, "g", "[{borrows 2}]"},
		{"the job selects neither", []string{"f", "g"}, "h", "[]"},
	} {
		s := &state.State{Taken: now, ClusterQueues: []state.ClusterQueue{team("waits", "pool", 0, -1, -1, of(c.has...)), team("lends", "pool", 4, -1, -1, of("f", "g")), team("borrows", "pool", 0, -1, -1, of("f", "g"))},
			Workloads: []state.Workload{{Meta: state.Meta{Namespace: "ns", Name: "w"}, PodSets: []state.PodSet{{Name: "main"}}}}}
		for _, name := range []string{"f", "g"} {
			s.Flavors = append(s.Flavors, state.ResourceFlavor{Meta: state.Meta{Name: name}, NodeLabels: map[string]string{"type": name}})
		}
		if c.selector != "" {
			s.Workloads[0].PodSets[0].NodeSelector = map[string]string{"type": c.selector}
		}
		use := map[string]quota.Usage{"borrows": {quota.Key{Flavor: "f", Resource: gpu}: 1, quota.Key{Flavor: "g", Resource: gpu}: 2}}
		items := []queue.Item{{Key: queue.Key{Namespace: "ns", Workload: "w"}, Job: "job", ClusterQueue: "waits", Size: state.Amounts{gpu: 5}, Since: now.Add(-time.Hour)}}
		if f := Find(s, quota.FromUse(s, quota.Use{Reserved: use, Used: use}), items)[0]; f.Code != Starved || fmt.Sprint(f.Holders) != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, f.Code, f.Holders, c.want)
		}
	}
}

// TestAboveLimit: a cohort whose members use more together than it may hold is named, not
// its members; a team above its own limit is.
func TestAboveLimit(t *testing.T) {
	two := resource.NewQuantity(2, resource.DecimalSI)
	low := state.Cohort{Meta: state.Meta{Name: "low"}, Parent: "top", ResourceGroups: []state.ResourceGroup{{CoveredResources: []string{gpu}, Flavors: []state.FlavorQuotas{
		{Name: "f", Resources: []state.ResourceQuota{{Name: gpu, Nominal: *resource.NewQuantity(0, resource.DecimalSI), BorrowingLimit: two}}}}}}}
	for _, c := range []struct {
		name string
		use  map[string]int64
		want string
	}{
		{"within the limits", map[string]int64{"a": 4, "b": 4}, ""},
		{"the cohort", map[string]int64{"a": 5, "b": 5}, `team "" cohort "low": 10 of 8`},
		{"a team", map[string]int64{"d": 4}, `team "d" cohort "": 4 of 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &state.State{ClusterQueues: []state.ClusterQueue{team("a", "low", 3, -1, -1), team("b", "low", 3, -1, -1), team("c", "top", 5, -1, -1), team("d", "top", 2, 1, -1)},
				Cohorts: []state.Cohort{low}, Flavors: []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}}}}
			held := map[string]quota.Usage{}
			for q, n := range c.use {
				held[q] = quota.Usage{quota.Key{Flavor: "f", Resource: gpu}: n}
			}
			var got []string
			for _, f := range Find(s, quota.FromUse(s, quota.Use{Reserved: held, Used: held}), nil) {
				if f.Code == AboveLimit {
					got = append(got, fmt.Sprintf("team %q cohort %q: %v of %v", f.Team, f.Cohort, f.Amount, *f.Limit))
				}
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, "; "), c.want)
			}
		})
	}
}

// TestManyTeams: where each of 300 teams waits beside 300 that borrow and 300 with idle quota, findings grow with the
// number of teams, not with its square; the largest amounts come first.
func TestManyTeams(t *testing.T) {
	const n = 300
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := &state.State{Taken: now, Flavors: []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}}}}
	held := map[string]quota.Usage{}
	var items []queue.Item
	use := func(queue string, n int64) { held[queue] = quota.Usage{quota.Key{Flavor: "f", Resource: gpu}: n} }
	for i := range n {
		waits, lends, borrows := fmt.Sprintf("waits-%03d", i), fmt.Sprintf("lends-%03d", i), fmt.Sprintf("borrows-%03d", i)
		s.ClusterQueues = append(s.ClusterQueues, team(waits, "pool", 0, 0, -1), team(lends, "pool", 1000, -1, -1), team(borrows, "pool", 0, -1, -1))
		use(borrows, int64(i+1))
		items = append(items, queue.Item{Key: queue.Key{Namespace: waits, Workload: "w"}, Job: "job", ClusterQueue: waits, Size: state.Amounts{gpu: 5}, Since: now.Add(-time.Hour)})
	}
	found := Find(s, quota.FromUse(s, quota.Use{Reserved: held, Used: held}), items)
	var starved []Finding
	for _, f := range found {
		if f.Code == Starved {
			starved = append(starved, f)
		}
	}
	if len(starved) != n || len(found) > n*(3+mostIdle) {
		t.Fatalf("%d teams wait, %d findings", len(starved), len(found))
	}
	for _, f := range starved {
		if len(f.Holders) != mostHolders || f.HoldersTotal != n || f.Holders[0].Team != "borrows-299" || f.Holders[0].Amount != n {
			t.Fatalf("%+v", f)
		}
	}
}

// TestQueueMissing: jobs whose queue does not exist are one finding for each queue.
func TestQueueMissing(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := &state.State{Taken: now}
	item := func(name, queueName string, detail queue.Detail, age time.Duration) queue.Item {
		return queue.Item{Key: queue.Key{Namespace: "ns", Workload: name}, LocalQueue: queueName, Since: now.Add(-age), Reason: queue.Reason{Code: queue.Misconfigured, Detail: detail}}
	}
	found := Find(s, quota.FromUse(s, quota.Use{}), []queue.Item{item("a", "gone", queue.LocalQueueMissing, time.Minute), item("b", "gone", queue.LocalQueueMissing, time.Hour),
		item("c", "hidden", queue.LocalQueueUnread, time.Hour)})
	if len(found) != 1 || found[0].Code != QueueMissing || found[0].Name != "ns/gone" || found[0].Jobs != 2 || found[0].Job != "ns/b" || found[0].Seconds != 3600 {
		t.Errorf("%+v", found)
	}
}

// TestCannotReclaim: a team that lent quota and never takes it back is named. A queue that is being deleted takes nothing back.
func TestCannotReclaim(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, deleted := range []*time.Time{nil, &at} {
		lends := team("a", "pool", 6, -1, -1, func(q *state.ClusterQueue) { q.DeletionTimestamp = deleted })
		s := &state.State{Taken: at, ClusterQueues: []state.ClusterQueue{lends, team("b", "pool", 0, -1, -1)}, Flavors: []state.ResourceFlavor{{Meta: state.Meta{Name: "f"}}}}
		held := map[string]quota.Usage{"b": {quota.Key{Flavor: "f", Resource: gpu}: 4}}
		found := 0
		for _, f := range Find(s, quota.FromUse(s, quota.Use{Reserved: held, Used: held}), nil) {
			if f.Code == CannotReclaim {
				found++
			}
		}
		if (found == 1) != (deleted == nil) {
			t.Errorf("deleted %v: %d findings", deleted, found)
		}
	}
}
