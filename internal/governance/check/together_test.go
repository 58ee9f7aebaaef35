package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

func requests(t testing.TB, team string, jobs ...any) (out []check.Request) {
	t.Helper()
	for _, j := range jobs {
		out = append(out, check.Request{Object: object(t, j), Namespace: team, Remedies: true})
	}
	return out
}

// An interrupt ends a long check between two jobs.
func TestTogetherInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if v, err := checker(t, fixture.JohnSmith()).Together(ctx, requests(t, "smith", fixture.Job("x", 1, 1, "")), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%d verdicts, %v", len(v), err)
	}
}

// A caller that has no more time gets the verdicts so far, at least the first.
func TestTogetherInPart(t *testing.T) {
	jobs := []any{fixture.Job("a", 1, 1, ""), fixture.Job("b", 1, 1, ""), fixture.Job("c", 1, 1, "")}
	for left := range 4 {
		n := left
		v, err := checker(t, fixture.JohnSmith()).Together(t.Context(), requests(t, "smith", jobs...), func() bool { n--; return n >= 0 })
		if want := min(left+1, 3); err != nil || len(v) != want {
			t.Errorf("%d more: %d verdicts, %v", left, len(v), err)
		}
	}
}

// TestTogether: jobs that are submitted together are decided one after another. smith can
// hold 8 GPUs, 4 of them borrowed; the nodes have 4 each.
func TestTogether(t *testing.T) {
	var jobs []any
	for i := range 4 {
		jobs = append(jobs, fixture.Job(fmt.Sprint("run-", i), 1, 3, ""))
	}
	jobs = append(jobs, fixture.Job("small", 1, 2, ""), fixture.Job("large", 3, 4, ""))
	s := fixture.JohnSmith()
	v, err := checker(t, s).Together(context.Background(), requests(t, "smith", jobs...), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		verdict check.Outcome
		ahead   int
	}{{check.Admitted, 0}, {check.Admitted, 0}, {check.Waits, 0}, {check.Waits, 1}, {check.Admitted, 2}, {check.Never, 0}}
	for i, w := range want {
		if v[i].Verdict != w.verdict || w.verdict == check.Waits && v[i].Quota.Ahead != w.ahead {
			t.Errorf("job %d: %s, %d ahead, want %s, %d", i, v[i].Verdict, v[i].Quota.Ahead, w.verdict, w.ahead)
		}
	}
	if used := v[2].Quota.Resources[0].Used; used != 6 {
		t.Errorf("the third job finds %v GPUs in use, want 6", used)
	}
	if v[2].ETA == nil || v[3].ETA == nil {
		t.Error("the first and the last job that wait have no estimate")
	}
}

// TestTogetherOnNodes: quota for three jobs, nodes for two.
func TestTogetherOnNodes(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"), fixture.Node("n0", "a100", 4, ""), fixture.Node("n1", "a100", 4, ""))
	s.Add(fixture.Team("a", "pool", 16, "", "")...)
	v, err := checker(t, s).Together(context.Background(), requests(t, "a", fixture.Job("x", 1, 4, ""), fixture.Job("y", 1, 4, ""), fixture.Job("z", 1, 4, "")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v[0].Verdict != check.Admitted || v[1].Verdict != check.Admitted || v[2].Verdict != check.Waits || v[2].Reason != check.NodesFull {
		t.Errorf("%s, %s, %s %s", v[0].Verdict, v[1].Verdict, v[2].Verdict, v[2].Reason)
	}
}

// TestTogetherPreempts: only the first jobs preempt; those that follow find the quota that
// the evicted jobs left.
func TestTogetherPreempts(t *testing.T) {
	s := busy()
	var jobs []any
	for i := range 3 {
		jobs = append(jobs, fixture.Job(fmt.Sprint("run-", i), 1, 4, "", "kueue.x-k8s.io/priority-class", "high"))
	}
	v, err := checker(t, s).Together(context.Background(), requests(t, "john", jobs...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v[0].Verdict != check.Admitted || len(v[0].Quota.Preempts) != 1 || v[0].Quota.Preempts[0].Name != "sweep" {
		t.Errorf("the first: %s, preempts %v", v[0].Verdict, v[0].Quota.Preempts)
	}
	if v[1].Verdict != check.Admitted || len(v[1].Quota.Preempts) != 0 {
		t.Errorf("the second: %s, preempts %v", v[1].Verdict, v[1].Quota.Preempts)
	}
	if v[2].Verdict != check.Waits || v[2].Quota.Resources[0].Used != 16 {
		t.Errorf("the third: %s, used %v", v[2].Verdict, v[2].Quota.Resources[0].Used)
	}
}

// TestTogetherLikeKueue: which of several jobs start is what Kueue's own loop decides when
// all of them are in the queue.
func TestTogetherLikeKueue(t *testing.T) {
	worlds := 200
	if testing.Short() {
		worlds = 30
	}
	started := 0
	for seed := range worlds {
		r := rand.New(rand.NewPCG(uint64(seed), 16))
		s := fixture.JohnSmith()
		s.Add(fixture.Class("low", 10), fixture.Class("high", 90))
		for i := range r.IntN(3) {
			s.Add(fixture.Work([]string{"john", "smith"}[r.IntN(2)], fmt.Sprint("old-", i), 1+r.IntN(5), 50, time.Hour, true))
		}
		team := []string{"john", "smith"}[r.IntN(2)]
		class := []string{"low", "high"}[r.IntN(2)]
		var jobs []any
		for i := range 2 + r.IntN(6) {
			jobs = append(jobs, fixture.Job(fmt.Sprint("run-", i), 1, 1+r.IntN(5), "", "kueue.x-k8s.io/priority-class", class))
		}
		in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
		if err != nil {
			t.Fatal(err)
		}
		c, err := check.New(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := c.Together(context.Background(), requests(t, team, jobs...), nil)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := in.Engine(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i, j := range jobs {
			w, err := integration.WorkloadFor(context.Background(), []byte(j.(json.RawMessage)), integration.NewLookup(in.Objects()...))
			if err != nil {
				t.Fatal(err)
			}
			w.Namespace = team
			w.CreationTimestamp.Time = in.Taken.Add(time.Duration(i) * time.Millisecond)
			if err := e.Load(context.Background(), w); err != nil {
				t.Fatal(err)
			}
			names = append(names, w.Name)
		}
		if _, err := e.Run(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		for i, v := range verdicts {
			runs := v.Quota.Outcome == string(admission.Admitted) || v.Quota.Outcome == string(admission.AdmittedByPreempting)
			kueues := e.Workload(team, names[i]).Status.Admission != nil
			if runs != kueues {
				t.Errorf("world %d, %s: job %d starts: %v, by Kueue's loop %v", seed, team, i, runs, kueues)
			}
			if runs {
				started++
			}
		}
	}
	if started < worlds {
		t.Errorf("only %d jobs started in %d worlds", started, worlds)
	}
}
