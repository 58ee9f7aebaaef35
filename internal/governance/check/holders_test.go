package check_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/linttext"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestManyHolders: a verdict lists the holders whose end frees most for the job, and
// sums up the others; all of them on request.
func TestManyHolders(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing))
	s.Add(fixture.Team("t", "all", 8, `"borrowingLimit":"4"`, "")...)
	s.Add(fixture.Team("u", "all", 600, `"lendingLimit":"0"`, "")...) // its jobs free nothing for t
	s.Add(fixture.Team("v", "all", 0, "", "")...)                     // its jobs use what t lends
	for i := range 500 {
		s.Add(fixture.Work("u", fmt.Sprint("far-", i), 1, 0, time.Hour, true))
	}
	s.Add(fixture.Work("t", "own", 5, 0, time.Hour, true))
	for i := range 3 {
		s.Add(fixture.Work("v", fmt.Sprint("near-", i), 1, 0, time.Hour, true))
	}
	ask1 := func(all bool) *check.Verdict {
		return ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t", Remedies: true, AllHolders: all})
	}
	v := ask1(false)
	if len(v.Holders) != remedy.Nearest || v.HoldersTotal != 504 {
		t.Fatalf("%d holders of %d", len(v.Holders), v.HoldersTotal)
	}
	var nearest []string
	for _, h := range v.Holders[:4] {
		nearest = append(nearest, fmt.Sprint(h.Name, " ", float64(h.Frees)))
	}
	if got := strings.Join(nearest, ", "); got != "own 4, near-0 1, near-1 1, near-2 1" {
		t.Errorf("nearest: %s", got)
	}
	if r := v.HoldersRest; len(r) != 1 || r[0] != (check.Amount{Flavor: "a100", Resource: "nvidia.com/gpu", Amount: 494}) {
		t.Errorf("rest %+v", r)
	}
	document, err := json.MarshalIndent(v, "", "  ")
	if lines := strings.Count(string(document), "\n"); err != nil || lines > 1000 {
		t.Errorf("%d lines, %v", lines, err)
	}
	if v := ask1(true); len(v.Holders) != 504 || v.HoldersTotal != 504 || v.HoldersRest != nil {
		t.Errorf("all: %d of %d, rest %v", len(v.Holders), v.HoldersTotal, v.HoldersRest)
	}
}

// TestManyPreempted: a verdict lists the first jobs that the job would preempt, and
// counts all.
func TestManyPreempted(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Class("high", 100))
	for i := range 5 {
		s.Add(fixture.Node(fmt.Sprint("n", i), "a100", 8, ""))
	}
	s.Add(fixture.Team("t", "", 40, "", `"preemption":{"withinClusterQueue":"LowerPriority"}`)...)
	for i := range 40 {
		s.Add(fixture.Work("t", fmt.Sprint("low-", i), 1, 0, time.Hour, true))
	}
	for _, all := range []bool{false, true} {
		v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 4, 8, "", "kueue.x-k8s.io/priority-class", "high")), Namespace: "t", AllHolders: all})
		listed := remedy.Nearest
		if all {
			listed = 32
		}
		if v.Verdict != check.Admitted || len(v.Quota.Preempts) != listed || v.Quota.PreemptsTotal != 32 {
			t.Errorf("all %t: %s, %d of %d", all, v.Verdict, len(v.Quota.Preempts), v.Quota.PreemptsTotal)
		}
		page := verdict.Text(v, 0, hours)
		if more := strings.Contains(page, "and 27 more jobs (see --all-holders)"); more == all || !strings.Contains(page, "preempting 32 jobs") {
			t.Errorf("all %t:\n%s", all, page)
		}
	}
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 4, 8, "")), Namespace: "t", Remedies: true})
	i := slices.IndexFunc(v.Remedies, func(r remedy.Remedy) bool { return r.Code == remedy.HigherPriority })
	if i < 0 {
		t.Fatalf("%+v", v.Remedies)
	}
	if r := v.Remedies[i]; len(r.Preempts) != remedy.Nearest || r.PreemptsTotal != 32 {
		t.Errorf("remedy: %d of %d", len(r.Preempts), r.PreemptsTotal)
	}
}

// TestAdviceHelps: advice that cannot help is not given. A higher borrowing limit helps
// where others can lend, and no limit helps a pod that no node can hold.
func TestAdviceHelps(t *testing.T) {
	const ask1, higher = "request at most 6 nvidia.com/gpu", "ask an administrator for a higher borrowing limit"
	for _, c := range []struct {
		name   string
		lender int // nominal quota of another team, 0 for no other team
		pods   int
		gpus   int
		want   string
	}{
		{"only member of the cohort", 0, 4, 2, "request at most 4 nvidia.com/gpu"},
		{"others have too little", 2, 4, 2, ask1},
		{"others can lend", 8, 4, 2, ask1 + "; " + higher},
		{"no node is large enough", 8, 1, 9, "request at most 8 nvidia.com/gpu per pod: no node has more"},
	} {
		s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""))
		s.Add(fixture.Team("t", "all", 4, `"borrowingLimit":"2"`, "")...)
		if c.lender > 0 {
			s.Add(fixture.Team("u", "all", c.lender, "", "")...)
		}
		v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", c.pods, c.gpus, "")), Namespace: "t"})
		if got := strings.Join(v.Advice, "; "); got != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.name, got, c.want, v.Summary)
		}
	}
}

// TestNoSmallerRequest: a smaller request does not help pods whose node selector no node matches.
func TestNoSmallerRequest(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, ""))
	s.Add(fixture.Team("t", "", 4, "", "")...)
	job := object(t, fixture.Job("j", 1, 6, ""))
	kinds.Set(job, "bar", "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "nodeSelector", "foo")
	v := ask(t, checker(t, s), check.Request{Object: job, Namespace: "t"})
	if v.Verdict != check.Never || len(v.Advice) > 0 {
		t.Errorf("%s: %q, %+v", v.Summary, v.Advice, v.Nodes)
	}
}

// TestFindingsOnce: a missing priority class is one row, not one for each of the rules
// that it breaks; the document has all.
func TestFindingsOnce(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing))
	s.Add(fixture.Team("t", "", 8, "", "")...)
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"})
	v.Lint = lint.Check(lint.Job{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t", Managed: true})
	linttext.Fill(v.Lint, nil, errs.Suggestion.String)
	if page := verdict.Text(v, 0, hours); len(v.Lint) != 2 || strings.Count(page, "priority class") != 1 || strings.Contains(page, lint.NotOnDashboard) {
		t.Errorf("%d findings\n%s", len(v.Lint), page)
	}
	// With classes to choose from, the note of the suggestion follows it.
	v.Lint = lint.Check(lint.Job{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t", Managed: true, PriorityClasses: []string{"high", "low"}})
	linttext.Fill(v.Lint, nil, errs.Suggestion.String)
	if page := verdict.Text(v, 0, hours); strings.Count(page, "--priority") != 1 || strings.Contains(page, "#") {
		t.Errorf("%s", page)
	}
}
