package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func world(t testing.TB, files ...string) simulate.World {
	t.Helper()
	w := simulate.World{Now: noon}
	for _, f := range files {
		data, err := os.ReadFile("testdata/" + f)
		if err != nil {
			t.Fatal(err)
		}
		objs, err := decode.Objects(data)
		if err != nil {
			t.Fatal(err)
		}
		w.Objects = append(w.Objects, objs...)
	}
	return w
}

const jobOf = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":%q,"namespace":%q},"spec":{"parallelism":1,"completions":1,"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x","resources":{"requests":{"nvidia.com/gpu":"%d"},"limits":{"nvidia.com/gpu":"%[3]d"}}}]}}}}`

func addJob(namespace, name string, gpus int) simulate.Change {
	return simulate.NewJob(name+".yaml", fmt.Appendf(nil, jobOf, name, namespace, gpus), "")
}

func change(t testing.TB, k simulate.Kind, text string) simulate.Change {
	t.Helper()
	c, err := simulate.New(k, text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func run(t testing.TB, w simulate.World, steps int, changes ...simulate.Change) *simulate.Report {
	t.Helper()
	r, err := simulate.Run(context.Background(), w, changes, simulate.Options{Cycles: steps})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// short is a report in a few words.
func short(r *simulate.Report) string {
	var parts []string
	gpus := func(list []simulate.Amount) string {
		for _, a := range list {
			if a.Resource == "nvidia.com/gpu" {
				return fmt.Sprint(a.Amount)
			}
		}
		return "0"
	}
	for _, j := range r.Jobs {
		if j.Before != nil && j.Before.Borrowed == nil || j.After != nil && j.After.Borrowed == nil {
			parts = append(parts, j.Name+": what it borrows is not a list: JSON shows null")
		}
		if !j.Changed() {
			continue
		}
		side := func(s *simulate.JobState) string {
			switch {
			case s == nil:
				return "-"
			case s.State == simulate.Admitted:
				return "Admitted " + gpus(s.Holds) + "/" + gpus(s.Borrowed)
			case s.State == simulate.Preempted:
				return "Preempted by " + s.By
			}
			return s.State + " " + s.Reason
		}
		parts = append(parts, fmt.Sprintf("%s: %s > %s", j.Name, side(j.Before), side(j.After)))
	}
	for _, p := range r.Preempted {
		parts = append(parts, fmt.Sprintf("%s!%s (%s)", p.By, p.Name, p.Reason))
	}
	if !r.Settled {
		parts = append(parts, "unsettled")
	}
	return strings.Join(parts, "; ")
}

func TestChanges(t *testing.T) {
	set, prio := simulate.Set, simulate.Priority
	cases := []struct {
		name    string
		changes []simulate.Change
		want    string
	}{
		{"nothing", nil, ""},
		{"the worked example", []simulate.Change{addJob("b", "new", 4), change(t, simulate.RemoveJob, "low")},
			"low: Admitted 4/0 > -; new: - > Admitted 4/3"},
		{"no borrowing", []simulate.Change{addJob("b", "new", 4), change(t, set, "b.borrow-limit=0"), change(t, simulate.RemoveJob, "low")},
			"low: Admitted 4/0 > -; new: - > Waiting WaitingForQuota"},
		{"half may be borrowed", []simulate.Change{addJob("b", "new", 4), change(t, set, "b.borrow-limit=50%"), change(t, simulate.RemoveJob, "a/low")},
			"low: Admitted 4/0 > -; new: - > Waiting WaitingForQuota"},
		{"nothing is lent", []simulate.Change{addJob("b", "new", 4), change(t, set, "a.lend-limit=0"), change(t, simulate.RemoveJob, "a/low")},
			"low: Admitted 4/0 > -; new: - > Waiting WaitingForQuota"},
		{"more quota", []simulate.Change{addJob("b", "new", 4), change(t, set, "b.quota=8")}, "new: - > Admitted 4/0"},
		{"more of a named resource", []simulate.Change{addJob("b", "new", 4), change(t, set, "b.quota/nvidia.com/gpu@a100=8")}, "new: - > Admitted 4/0"},
		{"preemption by priority", []simulate.Change{addJob("a", "new", 4)},
			"low: Admitted 4/0 > Preempted by a/new; new: - > Admitted 4/0; a/new!low (InClusterQueue)"},
		{"a higher priority", []simulate.Change{addJob("a", "new", 4), change(t, prio, "low=7")}, "new: - > Waiting WaitingForQuota"},
		{"no preemption", []simulate.Change{addJob("a", "new", 4), change(t, set, "a.preemption=never")}, "new: - > Waiting WaitingForQuota"},
		{"a team is lost", []simulate.Change{change(t, simulate.RemoveTeam, "b")}, "four: Admitted 4/0 > -"},
		{"never", []simulate.Change{addJob("b", "new", 12)}, "new: - > Never ExceedsMaxQuota"},
		{"a stopped queue", []simulate.Change{change(t, set, "b.stop=HoldAndDrain")}, "four: Admitted 4/0 > Waiting Suspended"},
		{"out of the cohort", []simulate.Change{addJob("b", "new", 4), change(t, set, "b.cohort=none")}, "new: - > Waiting WaitingForQuota"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := world(t, "lend-three.yaml")
			before := fmt.Sprint(w.Objects)
			got := run(t, w, 0, c.changes...)
			if short(got) != c.want {
				t.Errorf("%s\nwant %s", short(got), c.want)
			}
			if !got.Settled || got.Tie {
				t.Errorf("settled %v, tie %v", got.Settled, got.Tie)
			}
			if again := run(t, world(t, "lend-three.yaml"), 0, c.changes...); short(again) != short(got) {
				t.Errorf("again: %s", short(again))
			}
			if fmt.Sprint(w.Objects) != before {
				t.Error("the given objects were changed")
			}
		})
	}
}

func TestBeforeIsSettled(t *testing.T) {
	// low waits in the file, and is admitted before anything is changed.
	r := run(t, world(t, "lend-three.yaml"), 0)
	if r.Before.Admitted != 3 || r.After.Admitted != 3 || len(r.Teams) != 2 || r.Teams[0].Before.Used[0].Amount != 6 {
		t.Errorf("%+v %+v", r.Before, r.Teams[0].Before)
	}
}

func TestReclaim(t *testing.T) {
	// b borrows 3; then a wants its own back.
	w := world(t, "lend-three.yaml")
	r := run(t, w, 0, change(t, simulate.RemoveJob, "low"), addJob("b", "new", 4), addJob("a", "owner", 4))
	if got, want := short(r), "low: Admitted 4/0 > -; owner: - > Admitted 4/0; new: - > Waiting WaitingForQuota"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	settled, _, err := simulate.Apply(context.Background(), w, []simulate.Change{change(t, simulate.RemoveJob, "low"), addJob("b", "new", 4)})
	if err != nil {
		t.Fatal(err)
	}
	r = run(t, settled, 0, addJob("a", "owner", 4))
	if got, want := short(r), "owner: - > Admitted 4/0; new: Admitted 4/3 > Preempted by a/owner; a/owner!new (InCohortReclamation)"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestLoop(t *testing.T) {
	r := run(t, world(t, "loop.yaml"), 0)
	if r.Settled || r.Loop == nil || !r.Loop.Exact {
		t.Fatalf("%s, loop %+v", short(r), r.Loop)
	}
	var got []string
	for _, s := range r.Loop.Steps {
		got = append(got, strings.TrimSpace(s.Action+" "+s.Job+" "+s.Target+" "+s.Reason))
	}
	want := []string{
		"Preempts alpha/big alpha/small InClusterQueue", "Starts gamma/guest",
		"Preempts alpha/small gamma/guest InCohortReclamation", "Starts alpha/small",
	}
	turn := slices.Index(got, want[0])
	if turn < 0 || !slices.Equal(slices.Concat(got[turn:], got[:turn]), want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	// A queue that puts its job aside tries it a second after the quota became free, when the big job has it.
	w := world(t, "loop.yaml")
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok {
			q.Spec.QueueingStrategy = kueue.BestEffortFIFO
		}
	}
	r = run(t, w, 0)
	i := slices.IndexFunc(r.Jobs, func(j simulate.Job) bool { return j.Name == "big" })
	if !r.Settled || r.Loop != nil || i < 0 || r.Jobs[i].After.State != simulate.Admitted {
		t.Errorf("put aside: %+v", r.Jobs)
	}
	// One change of the policy, and it rests.
	if r := run(t, world(t, "loop.yaml"), 0, change(t, simulate.Set, "alpha.preemption=Never")); !r.Settled || r.Loop != nil {
		t.Errorf("without preemption: %s", short(r))
	}
}

// TestPutAsideWaitsForChange: without a loop, too, a job that was put aside is tried after the one that preempts.
func TestPutAsideWaitsForChange(t *testing.T) {
	for _, steps := range []int{0, 9} {
		w := world(t, "loop.yaml")
		for _, o := range w.Objects {
			if q, ok := o.(*kueue.ClusterQueue); ok {
				q.Spec.QueueingStrategy, q.Spec.Preemption.ReclaimWithinCohort = kueue.BestEffortFIFO, kueue.PreemptionPolicyNever
			}
		}
		r := run(t, w, steps)
		got := map[string]string{}
		for _, j := range r.Jobs {
			got[j.Name] = j.After.State
		}
		if got["big"] != simulate.Admitted || got["guest"] != simulate.Waiting || !r.Settled {
			t.Errorf("%d cycles: %v, settled %v", steps, got, r.Settled)
		}
	}
}

// TestLoopThatUseEnds: with admission fair sharing each start counts as use, so jobs that preempt each other again and again
// settle after a while.
func TestLoopThatUseEnds(t *testing.T) {
	w := world(t, "use-loop.yaml")
	w.Config.AdmissionFairSharing = &config.AdmissionFairSharing{UsageHalfLifeTime: metav1.Duration{Duration: time.Hour}, UsageSamplingInterval: metav1.Duration{Duration: time.Second}}
	r := run(t, w, 0, change(t, simulate.RemoveJob, "a/first"))
	if got, want := short(r), "first: Admitted 4/0 > -; second: Waiting WaitingForQuota > Admitted 4/0; third: Waiting WaitingForQuota > Preempted by a/second"; !strings.HasPrefix(got, want) || !r.Settled || r.Loop != nil {
		t.Errorf("%s, loop %+v", got, r.Loop)
	}
	if r := run(t, w, 6, change(t, simulate.RemoveJob, "a/first")); r.Loop != nil || r.Settled {
		t.Errorf("after 6 cycles: settled %v, loop %+v", r.Settled, r.Loop)
	}
}

func TestCycles(t *testing.T) {
	r := run(t, world(t, "loop.yaml"), 3)
	if len(r.Cycles) != 3 || r.Settled {
		t.Fatalf("%d cycles, settled %v", len(r.Cycles), r.Settled)
	}
	c := r.Cycles[0]
	if c.Cycle != 1 || len(c.Preempted) != 1 || c.Preempted[0].Name != "small" || c.Preempted[0].By != "alpha/big" || c.Preempted[0].Cycle != 1 {
		t.Errorf("cycle 1: %+v", c)
	}
	if len(c.Pending) != 2 || !c.Pending[0].Preempting {
		t.Errorf("pending: %+v", c.Pending)
	}
	c = r.Cycles[1]
	if len(c.Scheduled) != 1 || c.Scheduled[0].Name != "guest" || c.Scheduled[0].Borrowed[0].Amount != 4 || c.Scheduled[0].PodSets[0].Flavors["nvidia.com/gpu"] != "a100" || c.Scheduled[0].PodSets[0].Pods != 1 {
		t.Errorf("cycle 2: %+v", c)
	}
	// Ten cycles of a world at rest are one, and nothing in it.
	if r := run(t, world(t, "lend-three.yaml"), 10, addJob("b", "huge", 50)); !r.Settled || len(r.Cycles[0].Inadmissible) != 1 || r.Cycles[0].Inadmissible[0].Reason != "ExceedsMaxQuota" {
		t.Errorf("%+v", r.Cycles)
	}
	// The report is JSON with documented keys.
	b, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(b), `"Schema":"hyperpod.simulate/v3"`) {
		t.Errorf("%v %s", err, b)
	}
}

func TestWrongChanges(t *testing.T) {
	for _, c := range []struct {
		kind simulate.Kind
		text string
		want string
	}{
		{simulate.Set, "b", "must be TEAM.SETTING=VALUE"},
		{simulate.Set, "b.colour=red", "not found"},
		{simulate.Set, "b.borow-limit=1", "borrow-limit"},
		{simulate.Set, "b.quota=", "no value"},
		{simulate.Set, "", "empty"},
		{simulate.Priority, "x", "must be JOB=CLASS or JOB=NUMBER"},
		{simulate.AddNodes, "t=x", "must be between 1 and"},
		{simulate.AddNodes, "t=-1", "must be between 1 and"},
		{simulate.Set, "cluster.fair-sharing=maybe", "on or off"},
	} {
		if _, err := simulate.New(c.kind, c.text); exitOf(err) != errs.Usage || !strings.Contains(textOf(err), c.want) {
			t.Errorf("%s %q: %v", c.kind, c.text, err)
		}
	}
	for _, c := range []struct {
		kind simulate.Kind
		text string
		want string
		code errs.Exit
	}{
		{simulate.Set, "nobody.quota=1", "available:  a, b", errs.NotFound},
		{simulate.Set, "b.quota=many", "must be a quantity", errs.Usage},
		{simulate.Set, "b.quota=-1", "must be at least 0", errs.Usage},
		{simulate.Set, "b.quota=9e99", "too large", errs.Usage},
		{simulate.Set, "b.lend-limit=-1", "must be at least 0", errs.Usage},
		{simulate.Set, "b.borrow-limit=x%", "invalid percentage", errs.Usage},
		{simulate.Set, "b.quota/cpu=1", "no quota for cpu", errs.NotFound},
		{simulate.Set, "b.weight=-1", "invalid weight", errs.Usage},
		{simulate.Set, "b.reclaim=Sometimes", "Never, LowerPriority, Any", errs.Usage},
		{simulate.RemoveJob, "nothing", "job \"nothing\" not found", errs.NotFound},
		{simulate.Priority, "four=urgent", "priority class \"urgent\" not found", errs.NotFound},
		{simulate.RemoveNodes, "n1", "the cluster has no nodes", errs.Usage},
		{simulate.AddNodes, "ml.p5=2", "instance type \"ml.p5\" not found", errs.NotFound},
	} {
		_, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), []simulate.Change{change(t, c.kind, c.text)}, simulate.Options{})
		if exitOf(err) != c.code || !strings.Contains(textOf(err), c.want) {
			t.Errorf("%s %q: %v (exit %d)", c.kind, c.text, textOf(err), exitOf(err))
		}
	}
	_, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), []simulate.Change{addJob("b", "x", 1), addJob("b", "x", 1)}, simulate.Options{})
	if exitOf(err) != errs.Usage {
		t.Errorf("a job twice: %v", err)
	}
	for _, changes := range [][]simulate.Change{
		{change(t, simulate.RemoveJob, "four"), change(t, simulate.Priority, "four=3")},
		{change(t, simulate.RemoveJob, "four"), change(t, simulate.RemoveJob, "four")},
		{change(t, simulate.RemoveTeam, "b"), change(t, simulate.Set, "b.quota=3")},
	} {
		if _, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), changes, simulate.Options{}); exitOf(err) != errs.NotFound || !strings.Contains(textOf(err), "another change removes it") {
			t.Errorf("%v: %v", changes, textOf(err))
		}
	}
	deploy := simulate.NewJob("d.yaml", []byte(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d","namespace":"b"}}`), "")
	if _, err = simulate.Run(context.Background(), world(t, "lend-three.yaml"), []simulate.Change{deploy}, simulate.Options{}); !strings.Contains(textOf(err), "PyTorchJob") {
		t.Errorf("a DaemonSet: %v", err)
	}
}

func TestFile(t *testing.T) {
	got, err := simulate.File([]byte("changes:\n- set: b.quota=9\n- removeNodes: [n1, t=2]\n- addJob: j.yaml\n"), func(path string) ([]simulate.Change, error) {
		return []simulate.Change{simulate.NewJob(path, nil, "")}, nil
	})
	if err != nil || len(got) != 4 || got[2].Count != 2 || got[3].Text != "j.yaml" {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"set: b.quota=9", "changes:\n- set: 3", "changes:\n- colour: red", "changes: no", "- a"} {
		if _, err := simulate.File([]byte(bad), nil); exitOf(err) != errs.Usage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// exitOf and textOf are what a person gets of an error.
func exitOf(err error) errs.Exit { return errs.ExitOf(simulation.Error(err)) }

func textOf(err error) string { return errs.Text(simulation.Error(err), false) }
