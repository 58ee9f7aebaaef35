package simulate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

// TestSuspendedJobsDoNotWait: a suspended job is in no count of jobs that wait, as in get-queue.
func TestSuspendedJobsDoNotWait(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Name == "low" {
			wl.Spec.Active = new(bool)
		}
	}
	r := run(t, w, 1)
	if r.Before.Admitted != 2 || r.Before.Waiting != 0 || r.After.Waiting != 0 || short(r) != "" {
		t.Errorf("%+v %+v %s", r.Before, r.After, short(r))
	}
	for _, team := range r.Teams {
		if team.Before.Waiting != 0 || team.After.Waiting != 0 {
			t.Errorf("%s: %+v %+v", team.Team, team.Before, team.After)
		}
	}
}

// TestWhatKueueHasPutAside: Kueue tries a job that it has put aside only after a change that concerns its tree of cohorts.
func TestWhatKueueHasPutAside(t *testing.T) {
	w := world(t, "lend-three.yaml", "apart.yaml")
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Name == "low" {
			wl.Status = kueue.WorkloadStatus{Conditions: []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: "Pending",
				Message: "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default, 1 more needed"}}}
		}
	}
	state := func(r *simulate.Report) (before, after string) {
		for _, j := range r.Jobs {
			if j.Name == "low" {
				return j.Before.State, j.After.State
			}
		}
		return "", ""
	}
	object := func(text string) simulate.Change {
		c, err := simulate.FromFile("objects.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name    string
		cycles  int
		changes []simulate.Change
		want    string
	}{
		{"no change", 0, nil, simulate.Waiting},
		{"no change, cycles", 3, nil, simulate.Waiting},
		{"a job of the cohort ends", 0, []simulate.Change{change(t, simulate.RemoveJob, "four")}, simulate.Admitted},
		{"a job of the cohort gets another priority", 0, []simulate.Change{change(t, simulate.Priority, "four=3")}, simulate.Admitted},
		{"a queue of the cohort changes", 0, []simulate.Change{change(t, simulate.Set, "b.weight=2")}, simulate.Admitted},
		{"a queue joins the cohort", 0, []simulate.Change{change(t, simulate.Set, "c.cohort=pool")}, simulate.Admitted},
		{"a queue leaves the cohort", 0, []simulate.Change{change(t, simulate.Set, "b.cohort=none")}, simulate.Waiting},
		{"the cohort gets a parent", 0, []simulate.Change{object("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: pool}, spec: {parentName: all}}")}, simulate.Admitted},
		{"its flavor changes", 0, []simulate.Change{object("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: a100}, spec: {nodeLabels: {a: b}}}")}, simulate.Admitted},
		{"fair sharing", 0, []simulate.Change{change(t, simulate.Set, "cluster.fair-sharing=on")}, simulate.Admitted},
		{"a job of another tree ends", 0, []simulate.Change{change(t, simulate.RemoveJob, "apart")}, simulate.Waiting},
		{"a queue of another tree changes", 0, []simulate.Change{change(t, simulate.Set, "c.quota=9")}, simulate.Waiting},
		{"cycles", 3, []simulate.Change{change(t, simulate.Set, "c.quota=9")}, simulate.Waiting},
		{"another flavor changes", 0, []simulate.Change{object("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100}, spec: {nodeLabels: {a: b}}}")}, simulate.Waiting},
		{"a new job of its queue", 0, []simulate.Change{addJob("a", "new", 3)}, simulate.Waiting},
		{"its own priority", 0, []simulate.Change{change(t, simulate.Priority, "low=-4")}, simulate.Admitted},
		{"a team is added", 0, []simulate.Change{change(t, simulate.AddTeam, "d=c")}, simulate.Waiting},
		{"a team joins the cohort", 0, []simulate.Change{change(t, simulate.AddTeam, "d=b")}, simulate.Admitted},
	} {
		r := run(t, w, c.cycles, c.changes...)
		if before, after := state(r); after != c.want || before != simulate.Waiting {
			t.Errorf("%s: %s, then %s; want %s", c.name, before, after, c.want)
		}
	}
}
