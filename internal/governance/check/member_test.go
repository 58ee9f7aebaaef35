package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// member is a checker with the permissions of a member of one team: the own namespace,
// the own ClusterQueue by name, flavors, priority classes, and nothing else.
func member(t testing.TB, s *fixture.Server, team string, more ...string) *check.Checker {
	t.Helper()
	s.Forbid = func(_, plural, namespace, name string) bool {
		switch {
		case namespace == team && plural != "localqueues", plural == "resourceflavors", plural == "workloadpriorityclasses":
			return false
		case (plural == "clusterqueues" || plural == "namespaces") && name == team:
			return false
		}
		for _, p := range more {
			if p == plural {
				return false
			}
		}
		return true
	}
	defer func() { s.Forbid = nil }()
	in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{Namespaces: func(context.Context) ([]string, error) { return []string{team}, nil }}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	c, err := check.New(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMember: with the permissions of a team member, an answer that depends on what others
// have is Unknown and says on what. Other answers are given, and what was not read is named.
func TestMember(t *testing.T) {
	c := member(t, fixture.LendThree(), "b")
	small := ask(t, c, check.Request{Object: object(t, fixture.Job("small", 1, 1, "")), Namespace: "b", Remedies: true})
	// b takes back what others borrowed from any priority: it starts in any case.
	if small.Verdict != check.Admitted || small.Complete || len(small.Missing) == 0 || small.Nodes.Status != check.StatusUnknown || small.Rules.ConfigurationKnown ||
		!strings.Contains(verdict.Text(small, 200, hours), "if others have borrowed it, their jobs are preempted to reclaim it") {
		t.Errorf("%s %s, %+v\n%s", small.Verdict, small.Summary, small.Missing, verdict.Text(small, 200, hours))
	}
	large := ask(t, c, check.Request{Object: object(t, fixture.Job("large", 1, 4, "")), Namespace: "b", Remedies: true})
	if large.Verdict != check.Unknown || large.Reason != check.NotReadable || large.Quota.Outcome == "" {
		t.Errorf("%s %s %s", large.Verdict, large.Reason, large.Summary)
	}
	golden.Screen(t, "testdata/member.golden", verdict.Text(large, 80, hours))
}

// TestMemberPreemptsFewer: where the quota that others lend is unknown, a job may preempt fewer others than are named.
func TestMemberPreemptsFewer(t *testing.T) {
	for _, c := range []struct {
		name  string
		total int
		text  string
		more  []any
	}{
		{"several", 2, "; fewer if other teams lend quota", []any{fixture.Work("smith", "small", 1, 0, time.Hour, true)}},
		{"one", 1, "; none if other teams lend quota", nil},
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Class("mid", 15), fixture.Work("smith", "t1", 4, 10, 2*time.Hour, true))
		s.Add(fixture.Team("smith", "all", 4, `"borrowingLimit":"4"`, `"preemption":{"reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority"}`)...)
		s.Add(c.more...)
		v := ask(t, member(t, s, "smith"), check.Request{Object: object(t, fixture.Job("urgent", 1, 4, "", "kueue.x-k8s.io/priority-class", "mid")), Namespace: "smith"})
		if brief := verdict.Brief(v, hours); v.Verdict != check.Admitted || v.Quota.PreemptsTotal != c.total || !strings.HasSuffix(brief, c.text) {
			t.Errorf("%s: %s, preempts %d: %s", c.name, v.Verdict, v.Quota.PreemptsTotal, brief)
		}
		if text := verdict.Text(v, 200, hours); !strings.Contains(text, strings.TrimPrefix(c.text, "; ")) {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
}

// TestMemberRemedies: a remedy that reclaims quota names the jobs of others that cannot be read as what they are.
func TestMemberRemedies(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Class("mid", 15), fixture.Work("smith", "t1", 4, 10, 2*time.Hour, true))
	s.Add(fixture.Team("smith", "all", 8, `"borrowingLimit":"4"`, `"preemption":{"reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority"}`)...)
	v := ask(t, member(t, s, "smith"), check.Request{Object: object(t, fixture.Job("urgent", 1, 8, "")), Namespace: "smith", Remedies: true})
	text := strings.Join(strings.Fields(verdict.Text(v, 80, hours)), " ")
	if want := "preempts hidden jobs of other teams, smith/t1"; v.Verdict != check.Unknown || !strings.Contains(text, want) || strings.Contains(text, "not-readable") {
		t.Errorf("%s, want %q:\n%s", v.Verdict, want, verdict.Text(v, 80, hours))
	}
}

// TestMemberOwnQuota: idle quota of the own queue promises nothing where others may have
// borrowed it and it cannot be reclaimed.
func TestMemberOwnQuota(t *testing.T) {
	for _, c := range []struct {
		name, cohort, quota, spec string
		gpus                      int
		verdict                   check.Outcome
		condition                 string
	}{
		{"no cohort", "", "", "", 4, check.Admitted, ""},
		{"reclaims from any", "all", "", `"preemption":{"reclaimWithinCohort":"Any"}`, 4, check.Admitted, ""},
		{"cannot reclaim", "all", "", "", 4, check.Unknown, "other teams have not borrowed 4 nvidia.com/gpu of t's own"},
		{"reclaims from lower priority", "all", "", `"preemption":{"reclaimWithinCohort":"LowerPriority"}`, 4, check.Unknown, "other teams have not borrowed 4 nvidia.com/gpu of t's own"},
		{"lends nothing", "all", `"lendingLimit":"0"`, "", 4, check.Admitted, ""},
		{"lends half", "all", `"lendingLimit":"4"`, "", 4, check.Admitted, ""},
		{"lends half, all needed", "all", `"lendingLimit":"4"`, "", 8, check.Unknown, "other teams have not borrowed 8 nvidia.com/gpu of t's own"},
		{"must borrow", "all", `"lendingLimit":"0"`, "", 12, check.Unknown, "other teams lend 4 nvidia.com/gpu"},
		{"must borrow, and have its own", "all", "", "", 12, check.Unknown, "other teams lend 4 nvidia.com/gpu and have not borrowed t's own 8"},
		{"beyond its borrowing limit", "all", `"borrowingLimit":"2"`, "", 12, check.Never, ""},
		{"may not borrow", "all", `"borrowingLimit":"0"`, "", 9, check.Never, ""},
	} {
		s := fixture.New(fixture.Flavor("a100"))
		s.Add(fixture.Team("t", c.cohort, 8, c.quota, c.spec)...)
		s.Add(fixture.Work("t", "none", 0, 0, time.Hour, true)) // its admission tells the ClusterQueue
		v := ask(t, member(t, s, "t"), check.Request{Object: object(t, fixture.Job("j", 1, c.gpus, "")), Namespace: "t", Remedies: true})
		if v.Verdict != c.verdict {
			t.Errorf("%s: %s %s: %s", c.name, v.Verdict, v.Reason, v.Summary)
		}
		if c.condition == "" {
			continue
		}
		text := strings.Join(strings.Fields(verdict.Text(v, 80, hours)), " ")
		if v.Quota.Unseen == nil || v.Quota.Unseen.If != c.condition || !strings.Contains(v.Summary, c.condition) || !strings.Contains(text, "to decide you need permission to list clusterqueues and cohorts in the whole cluster") {
			t.Errorf("%s: %+v\n%s", c.name, v.Quota.Unseen, verdict.Text(v, 80, hours))
		}
		for _, claim := range []string{"at most; ", "can lend only", " free in "} {
			if strings.Contains(text, claim) && c.quota == "" {
				t.Errorf("%s: claims %q\n%s", c.name, claim, verdict.Text(v, 80, hours))
			}
		}
		for _, l := range v.Quota.Resources {
			if l.Available != nil || l.Limit != nil {
				t.Errorf("%s: %+v", c.name, l)
			}
		}
	}
}

// TestMemberNeverWrong: on random clusters a member is never told that a job starts
// that does not, or that it does not where it would: the answer to an administrator, who
// sees all, is among those that the member's answer allows.
func TestMemberNeverWrong(t *testing.T) {
	clusters := 120
	if testing.Short() {
		clusters = 30
	}
	counts := map[check.Outcome]int{}
	for seed := range uint64(clusters) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing))
		if r.IntN(2) == 0 {
			s = fixture.New(fixture.Flavor("a100"))
		}
		limit := func() string {
			var out []string
			if r.IntN(2) == 0 {
				out = append(out, fmt.Sprintf(`"borrowingLimit":"%d"`, r.IntN(6)))
			}
			if r.IntN(3) == 0 {
				out = append(out, `"lendingLimit":"2"`)
			}
			return strings.Join(out, ",")
		}
		policies := []string{"Never", "LowerPriority", "Any"}
		over := 0 // what is held beyond all quota
		for _, name := range []string{"t", "u", "v"} {
			n, held, nominal := r.IntN(4), 0, 2+r.IntN(6)
			for i := range n {
				gpus := 1 + r.IntN(3)
				held += gpus
				s.Add(fixture.Work(name, fmt.Sprint("run-", name, i), gpus, r.IntN(3)*10, time.Duration(i+1)*time.Hour, true))
			}
			over += held - nominal
			team := fixture.Team(name, "all", nominal, limit(), fmt.Sprintf(`"preemption":{"reclaimWithinCohort":%q,"withinClusterQueue":%q}`,
				policies[r.IntN(3)], policies[r.IntN(2)]))
			queue := string(team[2].(json.RawMessage))
			s.Add(team[0], team[1], json.RawMessage(strings.TrimSuffix(queue, "}")+fmt.Sprintf(`,"status":{"flavorsReservation":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","total":"%d"}]}]}}`, held)))
		}
		if r.IntN(3) == 0 {
			s.Add(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"all"},"spec":{"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"3"}]}]}]}}`))
		}
		s.Add(fixture.Work("t", "none", 0, 0, time.Hour, true), fixture.Class("mid", 15))
		var permissions []string
		if r.IntN(2) == 0 {
			permissions = append(permissions, "configmaps")
		}
		switch r.IntN(3) {
		case 0:
			permissions = append(permissions, "clusterqueues", "cohorts") // only others' workloads are unseen
		case 1:
			permissions = append(permissions, "cohorts")
		}
		low, admin := member(t, s, "t", permissions...), checker(t, s)
		if over > 0 {
			continue // quota was lowered below use: see End
		}
		if !low.In.Rules().Known && admin.In.Rules().Known {
			continue // another question: other rules
		}
		for gpus := 1; gpus <= 12; gpus += 1 + r.IntN(3) {
			job := object(t, fixture.Job("j", 1, gpus, "", "kueue.x-k8s.io/priority-class", "mid"))
			v := ask(t, low, check.Request{Object: job, Namespace: "t"})
			truth := ask(t, admin, check.Request{Object: job, Namespace: "t"})
			counts[v.Verdict]++
			starts := truth.Quota.Status == check.StatusOK
			switch {
			case v.Quota.Status == check.StatusOK && v.Verdict != check.Unknown && !starts,
				(v.Verdict == check.Waits || v.Verdict == check.Never) && starts,
				v.Verdict == check.Never && truth.Quota.Outcome != "Never":
				t.Errorf("seed %d, %d GPUs: a member gets %s (%s), an administrator %s (%s)\n%s\n%s", seed, gpus, v.Verdict, v.Summary, truth.Quota.Outcome, truth.Summary,
					verdict.Text(v, 100, hours), verdict.Text(truth, 100, hours))
				return
			}
		}
	}
	t.Log(counts)
	if enough := clusters / 6; counts[check.Unknown] < enough || counts[check.Admitted] < enough || counts[check.Never] < enough {
		t.Errorf("too alike to prove anything: %v", counts)
	}
}
