package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/metrics"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

const none = -1 // no limit

// TestCohortLimit: the limit of a cohort is the most that its members can hold together,
// and never less than what they own.
func TestCohortLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		queues  []state.ClusterQueue
		cohorts []state.Cohort
		want    map[string]int64
	}{
		{"members that lend nothing", []state.ClusterQueue{queue("a", "pool", 6, none, 0), queue("b", "pool", 5, none, 0)}, nil, map[string]int64{"pool": 11}},
		{"members that lend some", []state.ClusterQueue{queue("a", "pool", 6, none, 2), queue("b", "pool", 5, none, none)}, nil, map[string]int64{"pool": 11}},
		{"quota of its own", []state.ClusterQueue{queue("a", "pool", 6, none, none)}, []state.Cohort{cohort("pool", "", 4, none, none)}, map[string]int64{"pool": 10}},
		{"quota of its own that nobody may borrow", []state.ClusterQueue{queue("a", "pool", 6, 0, none)}, []state.Cohort{cohort("pool", "", 4, none, none)}, map[string]int64{"pool": 6}},
		{"from above", []state.ClusterQueue{queue("a", "low", 6, none, 0), queue("b", "top", 5, none, none)}, []state.Cohort{cohort("low", "top", 0, none, none)},
			map[string]int64{"low": 11, "top": 11}},
		{"a limit to what comes from above", []state.ClusterQueue{queue("a", "low", 6, none, 0), queue("b", "top", 5, none, none)}, []state.Cohort{cohort("low", "top", 0, 2, none)},
			map[string]int64{"low": 8, "top": 11}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := FromUse(&state.State{ClusterQueues: c.queues, Cohorts: c.cohorts}, Use{})
			for _, b := range r.Branches(gpu) {
				if b.Cohort == "" {
					continue
				}
				if want := c.want[b.Cohort]; b.Row.Limit == nil || *b.Row.Limit != want {
					t.Errorf("%s: %v, want %d", b.Cohort, *b.Row.Limit, want)
				}
			}
		})
	}
}

// TestLimitProblems: use above a limit, and idle quota that overcommit elsewhere takes,
// are problems; metrics have them.
func TestLimitProblems(t *testing.T) {
	two := []state.ClusterQueue{queue("a", "low", 3, none, none), queue("b", "low", 3, none, none), queue("c", "top", 5, none, none)}
	for _, c := range []struct {
		name    string
		queues  []state.ClusterQueue
		use     map[string]int64
		want    string
		cohorts []state.Cohort
	}{
		{"all is well", []state.ClusterQueue{queue("a", "pool", 6, 2, none), queue("b", "pool", 5, none, none)}, map[string]int64{"a": 8}, "", nil},
		{"a cohort within its limit", two, map[string]int64{"a": 4, "b": 4}, "", []state.Cohort{cohort("low", "top", 0, 2, none)}},
		{"a cohort above its limit, its members not", two, map[string]int64{"a": 5, "b": 5}, "AboveLimit:low", []state.Cohort{cohort("low", "top", 0, 2, none)}},
		{"a cohort above its limit by a member above its own", two, map[string]int64{"a": 9}, "AboveLimit:a", []state.Cohort{cohort("low", "top", 0, 2, none)}},
		{"a cohort above its limit, more than by a member above its own", two, map[string]int64{"a": 9, "b": 2}, "AboveLimit:a AboveLimit:low", []state.Cohort{cohort("low", "top", 0, 2, none)}},
		{"above the limit", []state.ClusterQueue{queue("a", "pool", 6, 2, none), queue("b", "pool", 5, none, none)}, map[string]int64{"a": 9}, "AboveLimit:a", nil},
		{"above everything", []state.ClusterQueue{queue("a", "pool", 6, none, none), queue("b", "pool", 5, none, none)}, map[string]int64{"a": 12}, "Overcommitted:a", nil},
		{"without a cohort", []state.ClusterQueue{queue("a", "", 6, none, none)}, map[string]int64{"a": 8}, "Overcommitted:a", nil},
		{"idle quota that is taken", []state.ClusterQueue{queue("a", "pool", 1, none, none), queue("b", "pool", 4, none, 2)},
			map[string]int64{"a": 8}, "IdleTaken:b Overcommitted:a", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := usagesOf(c.use)
			r := FromUse(&state.State{ClusterQueues: c.queues, Cohorts: c.cohorts, Flavors: []state.ResourceFlavor{flavor("f")}}, Use{Reserved: u, Used: u})
			if got := codes(r); got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, r.Problems)
			}
			text := string(metrics.Text(r.Document([]string{gpu}, r.Teams).Metrics()))
			for _, p := range r.Problems {
				if sample := fmt.Sprintf("hyperpod_quota_problem{code=%q,subject=%q", p.Code, p.Subject); !strings.Contains(text, sample) {
					t.Errorf("no sample %s in\n%s", sample, text)
				}
			}
		})
	}
}

// TestStoppedInMetrics: a queue that admits nothing has a sample of 0.
func TestStoppedInMetrics(t *testing.T) {
	stopped := queue("a", "pool", 6, none, none)
	stopped.StopPolicy = "Hold"
	r := FromUse(&state.State{ClusterQueues: []state.ClusterQueue{stopped, queue("b", "pool", 5, none, none)}, Flavors: []state.ResourceFlavor{flavor("f")}}, Use{})
	if got := codes(r); got != "QueueStopped:a" {
		t.Error(got)
	}
	text := string(metrics.Text(r.Document([]string{gpu}, r.Teams).Metrics()))
	for _, sample := range []string{`hyperpod_cluster_queue_active{cluster_queue="a",team="a"} 0`, `hyperpod_cluster_queue_active{cluster_queue="b",team="b"} 1`} {
		if !strings.Contains(text, sample) {
			t.Errorf("no %s", sample)
		}
	}
}

// TestIdle: idle quota that nobody may borrow, or that its own team cannot use, with why.
func TestIdle(t *testing.T) {
	stopped, inactive := queue("c", "pool", 3, none, none), queue("f", "", 9, none, none)
	stopped.StopPolicy = "Hold"
	inactive.Conditions = []state.Condition{{Type: "Active", Status: "False", Reason: "AdmissionCheckInactive"}}
	r := FromUse(&state.State{ClusterQueues: []state.ClusterQueue{queue("a", "pool", 6, none, 2), queue("b", "pool", 5, none, none), stopped,
		queue("d", "", 4, none, none), queue("e", "own", 7, none, none), inactive}}, Use{Reserved: usagesOf(map[string]int64{"a": 1, "b": 6, "e": 7})})
	// a lends 2 of its 5 idle, and c lends what b borrows; e uses all it has.
	var got []string
	for _, i := range r.Idle(gpu) {
		got = append(got, fmt.Sprintf("%s %d %s", i.Team, i.Amount, i.Why))
	}
	if want := "a 3 LendingLimit; c 2 Stopped; d 4 Alone; f 9 Inactive"; strings.Join(got, "; ") != want {
		t.Errorf("%s, want %s", strings.Join(got, "; "), want)
	}
}
