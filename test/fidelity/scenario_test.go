package fidelity

import (
	"fmt"
	"math/rand/v2"
)

// scenario is one small cluster within the bed: names begin with its own prefix,
// and its cohort and flavors are its own, so scenarios do not touch one another.
type scenario struct {
	name    string
	flavors []flavor
	nodes   int // of the topology, four GPUs each, two to a rack
	cohorts []cohort
	teams   []team
	running []job // submitted first, one after another; they may wait, too
	target  job
	// silent: Kueue writes no condition under UnadmittedWorkloadsObservability. It has
	// no reason for a resource that no flavor covers, and the API server refuses a
	// condition without one.
	silent bool
	// byUse: the past use of its LocalQueues decides the order in each ClusterQueue. queues are LocalQueues of the first team
	// beside the team's, with their weights.
	byUse  bool
	queues map[string]string
	// covers are resources with quota for everything, beside the GPUs.
	covers []string
}

type flavor struct {
	name     string
	topology bool
}

type cohort struct {
	name, parent string
}

type team struct {
	name, cohort                    string
	quota                           map[string][3]string // by flavor: nominal, borrowing limit, lending limit ("" none)
	within, reclaim, borrow         string
	weight                          string
	strict                          bool
	stop                            string
	whenCanBorrow, whenCanPreempt   string
	missingFlavor, missingNamespace bool
	check                           bool // jobs wait for nodes to be provisioned
}

type job struct {
	team     string
	name     string
	priority int
	pods     int // 0: 1
	least    int // partial admission
	gpus     int // each
	cpu      string
	required string // topology level
	claims   string // a template of resource claims: see templates
	claim    string // a resource claim
	queue    string // another LocalQueue than the team's
}

const (
	never = "Never"
	lower = "LowerPriority"
	every = "Any"
)

func nominal(n int) map[string][3]string { return map[string][3]string{"f": {fmt.Sprint(n), "", ""}} }

func limited(n int, borrow, lend string) map[string][3]string {
	return map[string][3]string{"f": {fmt.Sprint(n), borrow, lend}}
}

var one = []flavor{{name: "f"}}

func handMade(fair bool) []scenario {
	johnSmith := []team{
		{name: "john", cohort: "pool", quota: limited(12, "6", ""), within: lower, reclaim: every, weight: "0"},
		{name: "smith", cohort: "pool", quota: limited(4, "4", ""), within: lower, reclaim: every, weight: "100"},
	}
	lend := []team{
		{name: "a", cohort: "pool", quota: nominal(6), within: lower, reclaim: every},
		{name: "b", cohort: "pool", quota: nominal(5), within: lower, reclaim: every},
	}
	used := []job{{team: "a", name: "two", gpus: 2}, {team: "b", name: "four", gpus: 4}}
	out := []scenario{
		{name: "john-smith-8", flavors: one, teams: johnSmith, target: job{team: "smith", gpus: 4, pods: 2}},
		{name: "john-smith-12", flavors: one, teams: johnSmith, target: job{team: "smith", gpus: 4, pods: 3}},
		{name: "john-smith-busy", flavors: one, teams: johnSmith, running: []job{{team: "john", name: "j", gpus: 4, pods: 3}}, target: job{team: "smith", gpus: 4, pods: 2}},
		{name: "john-takes-back", flavors: one, teams: johnSmith, running: []job{{team: "smith", name: "s", gpus: 4, pods: 2}}, target: job{team: "john", gpus: 4, pods: 3}},
		{name: "john-borrows", flavors: one, teams: johnSmith, target: job{team: "john", gpus: 4, pods: 4}},
		{name: "lend-three", flavors: one, teams: lend, running: used, target: job{team: "b", gpus: 4}},
		{name: "lend-too-much", flavors: one, teams: lend, running: used, target: job{team: "b", gpus: 6}},
		{name: "lend-never", flavors: one, teams: lend, target: job{team: "b", gpus: 12}},
		{name: "reclaim", flavors: one, teams: lend, running: []job{{team: "a", name: "two", gpus: 2}, {team: "b", name: "four", gpus: 4}, {team: "b", name: "more", gpus: 4}}, target: job{team: "a", gpus: 4}},
		{name: "reclaim-priority", flavors: one, teams: []team{{name: "a", cohort: "pool", quota: nominal(6), within: never, reclaim: lower}, {name: "b", cohort: "pool", quota: nominal(0)}},
			running: []job{{team: "b", name: "hi", priority: 5, gpus: 4}}, target: job{team: "a", gpus: 4}},
		{name: "reclaim-never", flavors: one, teams: []team{{name: "a", cohort: "pool", quota: nominal(6), within: never, reclaim: never}, {name: "b", cohort: "pool", quota: nominal(0)}},
			running: []job{{team: "b", name: "hi", gpus: 4}}, target: job{team: "a", gpus: 4}},
		{name: "preempt", flavors: one, teams: []team{{name: "a", quota: nominal(8), within: lower, reclaim: never}}, running: []job{{team: "a", name: "low", gpus: 4}, {team: "a", name: "mid", priority: 3, gpus: 4}}, target: job{team: "a", priority: 5, gpus: 4}},
		{name: "preempt-equal", flavors: one, teams: []team{{name: "a", quota: nominal(4), within: lower, reclaim: never}}, running: []job{{team: "a", name: "low", gpus: 4}}, target: job{team: "a", gpus: 4}},
		{name: "preempt-never", flavors: one, teams: []team{{name: "a", quota: nominal(4), within: never, reclaim: never}}, running: []job{{team: "a", name: "low", gpus: 4}}, target: job{team: "a", priority: 9, gpus: 4}},
		{name: "preempt-two", flavors: one, teams: []team{{name: "a", quota: nominal(8), within: lower, reclaim: never}}, running: []job{{team: "a", name: "l1", gpus: 4}, {team: "a", name: "l2", priority: 1, gpus: 4}}, target: job{team: "a", priority: 5, gpus: 8}},
		{name: "no-borrowing", flavors: one, teams: []team{{name: "a", cohort: "pool", quota: limited(2, "0", "")}, {name: "b", cohort: "pool", quota: nominal(8)}}, target: job{team: "a", gpus: 4}},
		{name: "no-lending", flavors: one, teams: []team{{name: "a", cohort: "pool", quota: nominal(2)}, {name: "b", cohort: "pool", quota: limited(8, "", "0")}}, target: job{team: "a", gpus: 4}},
		{name: "lend-some", flavors: one, teams: []team{{name: "a", cohort: "pool", quota: nominal(2)}, {name: "b", cohort: "pool", quota: limited(8, "", "2")}}, target: job{team: "a", gpus: 4}},
		{name: "cohort-tree", flavors: one, cohorts: []cohort{{name: "root"}, {name: "pool", parent: "root"}, {name: "far", parent: "root"}},
			teams: []team{{name: "a", cohort: "pool", quota: nominal(0)}, {name: "b", cohort: "far", quota: nominal(8)}}, target: job{team: "a", gpus: 4}},
		{name: "partial", flavors: one, teams: []team{{name: "a", quota: nominal(6)}}, target: job{team: "a", gpus: 2, pods: 5, least: 2}},
		{name: "partial-too-few", flavors: one, teams: []team{{name: "a", quota: nominal(6)}}, running: []job{{team: "a", name: "r", gpus: 5}}, target: job{team: "a", gpus: 2, pods: 5, least: 2}},
		{name: "second-flavor", flavors: []flavor{{name: "f"}, {name: "g"}}, teams: []team{{name: "a", quota: map[string][3]string{"f": {"4", "", ""}, "g": {"4", "", ""}}}},
			running: []job{{team: "a", name: "r", gpus: 4}}, target: job{team: "a", gpus: 4}},
		{name: "not-covered", flavors: one, teams: []team{{name: "a", quota: nominal(4)}}, target: job{team: "a", gpus: 1, cpu: "1"}, silent: true},
		{name: "no-queue", flavors: one, teams: []team{{name: "a", quota: nominal(4)}}, target: job{team: "a", gpus: 1, queue: "elsewhere"}},
		{name: "stopped", flavors: one, teams: []team{{name: "a", quota: nominal(4), stop: "Hold"}}, target: job{team: "a", gpus: 1}},
		{name: "no-flavor", flavors: one, teams: []team{{name: "a", quota: nominal(4), missingFlavor: true}}, target: job{team: "a", gpus: 1}},
		{name: "wrong-namespace", flavors: one, teams: []team{{name: "a", quota: nominal(4), missingNamespace: true}}, target: job{team: "a", gpus: 1}},
		{name: "tas-fits", flavors: []flavor{{name: "f", topology: true}}, nodes: 4, teams: []team{{name: "a", quota: nominal(16)}}, target: job{team: "a", gpus: 4, pods: 2, required: "rack"}},
		{name: "tas-too-large", flavors: []flavor{{name: "f", topology: true}}, nodes: 4, teams: []team{{name: "a", quota: nominal(16)}}, target: job{team: "a", gpus: 4, pods: 3, required: "rack"}},
		{name: "tas-fragmented", flavors: []flavor{{name: "f", topology: true}}, nodes: 4, teams: []team{{name: "a", quota: nominal(16)}},
			running: []job{{team: "a", name: "r1", gpus: 4, required: "rack"}, {team: "a", name: "r2", gpus: 4, pods: 2, required: "rack"}}, target: job{team: "a", gpus: 4, pods: 2, required: "rack"}},
		{name: "tas-preempts", flavors: []flavor{{name: "f", topology: true}}, nodes: 2, teams: []team{{name: "a", quota: nominal(8), within: lower, reclaim: never}},
			running: []job{{team: "a", name: "r", gpus: 4, pods: 2, required: "rack"}}, target: job{team: "a", priority: 4, gpus: 4, pods: 2, required: "rack"}},
		{name: "strict-behind", flavors: one, teams: []team{{name: "a", quota: nominal(8), strict: true}},
			running: []job{{team: "a", name: "r", gpus: 6}, {team: "a", name: "waits", priority: 1, gpus: 4}}, target: job{team: "a", gpus: 1}},
	}
	two, six := []team{{name: "a", quota: nominal(8), within: lower, reclaim: never}}, []team{{name: "a", quota: nominal(6)}}
	out = append(out,
		scenario{name: "claims-fit", flavors: one, teams: two, target: job{team: "a", pods: 4, claims: "two"}},
		scenario{name: "claims-too-many", flavors: one, teams: six, target: job{team: "a", pods: 4, claims: "two"}},
		scenario{name: "claims-and-gpus", flavors: one, teams: six, target: job{team: "a", gpus: 1, pods: 2, claims: "two"}},
		scenario{name: "claims-wait", flavors: one, teams: six, running: []job{{team: "a", name: "r", pods: 2, claims: "two"}}, target: job{team: "a", pods: 2, claims: "two"}},
		scenario{name: "claims-preempt", flavors: one, teams: two, running: []job{{team: "a", name: "r", pods: 3, claims: "two"}}, target: job{team: "a", priority: 5, pods: 2, claims: "two"}},
		scenario{name: "claims-unmapped", flavors: one, teams: six, target: job{team: "a", claims: "unmapped"}},
		scenario{name: "claims-without-template", flavors: one, teams: six, target: job{team: "a", claims: "nowhere"}},
		scenario{name: "claims-of-no-device", flavors: one, teams: six, target: job{team: "a", claims: "selecting"}},
		scenario{name: "claims-all-devices", flavors: one, teams: six, target: job{team: "a", claims: "all"}},
		scenario{name: "claim-by-name", flavors: one, teams: six, target: job{team: "a", claim: "mine"}})
	if fair {
		share := func(w1, w2 string) []team {
			return []team{{name: "a", cohort: "pool", quota: nominal(0), reclaim: every, weight: w1}, {name: "b", cohort: "pool", quota: nominal(0), reclaim: every, weight: w2}, {name: "lender", cohort: "pool", quota: nominal(12)}}
		}
		out = append(out,
			scenario{name: "fair-equal", flavors: one, teams: share("1", "1"), running: []job{{team: "a", name: "r1", gpus: 4}, {team: "a", name: "r2", gpus: 4}, {team: "a", name: "r3", gpus: 4}}, target: job{team: "b", gpus: 4}},
			scenario{name: "fair-weights", flavors: one, teams: share("3", "1"), running: []job{{team: "a", name: "r1", gpus: 4}, {team: "a", name: "r2", gpus: 4}, {team: "b", name: "r3", gpus: 4}}, target: job{team: "b", gpus: 4}},
			scenario{name: "fair-weight-zero", flavors: one, teams: share("1", "0"), running: []job{{team: "a", name: "r1", gpus: 4}, {team: "a", name: "r2", gpus: 4}, {team: "a", name: "r3", gpus: 4}}, target: job{team: "b", gpus: 4}},
			scenario{name: "fair-against-zero", flavors: one, teams: share("0", "1"), running: []job{{team: "a", name: "r1", gpus: 4}, {team: "a", name: "r2", gpus: 4}, {team: "a", name: "r3", gpus: 4}}, target: job{team: "b", gpus: 4}})
	}
	return out
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// generated makes a scenario of a seed. The target has the highest priority, so
// that Kueue looks at it before what waits already.
func generated(seed int) scenario {
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	s := scenario{name: fmt.Sprintf("gen-%03d", seed), flavors: one}
	if r.IntN(3) == 0 {
		s.flavors = []flavor{{name: "f"}, {name: "g"}}
	}
	if r.IntN(3) == 0 {
		s.cohorts = []cohort{{name: "root"}, {name: "pool", parent: "root"}, {name: "far", parent: "root"}}
	}
	limit := func() string {
		if r.IntN(3) == 0 {
			return fmt.Sprint(r.IntN(5))
		}
		return ""
	}
	teams := 1 + r.IntN(4)
	for i := range teams {
		t := team{name: string(rune('a' + i)), cohort: "pool", quota: map[string][3]string{}, strict: r.IntN(4) == 0,
			within: pick(r, never, lower, lower, "LowerOrNewerEqualPriority"), reclaim: pick(r, never, lower, every, every), weight: pick(r, "", "1", "2", "0")}
		if len(s.cohorts) > 0 && r.IntN(2) == 0 {
			t.cohort = "far"
		}
		if t.reclaim != never && r.IntN(4) == 0 {
			t.borrow = lower
		}
		if r.IntN(3) == 0 {
			t.whenCanBorrow, t.whenCanPreempt = pick(r, "MayStopSearch", "TryNextFlavor"), pick(r, "MayStopSearch", "TryNextFlavor")
		}
		for _, f := range s.flavors {
			n := 1 + r.IntN(8)
			lend := limit()
			if len(lend) > 0 && lend > fmt.Sprint(n) {
				lend = fmt.Sprint(n)
			}
			t.quota[f.name] = [3]string{fmt.Sprint(n), limit(), lend}
		}
		s.teams = append(s.teams, t)
	}
	for i := range 2 + r.IntN(5) {
		s.running = append(s.running, job{team: string(rune('a' + r.IntN(teams))), name: fmt.Sprint("r", i), priority: r.IntN(4), gpus: 1 + r.IntN(3), pods: 1 + r.IntN(3)})
	}
	s.target = job{team: string(rune('a' + r.IntN(teams))), priority: 3 + r.IntN(3), gpus: 1 + r.IntN(4), pods: 1 + r.IntN(3)}
	if s.target.pods > 1 && r.IntN(4) == 0 {
		s.target.least = 1
	}
	return s
}
