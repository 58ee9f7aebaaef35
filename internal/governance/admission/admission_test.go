package admission

import (
	"context"
	"testing"

	"sigs.k8s.io/kueue/pkg/workload"
)

// The example of the user guide: A has 6 and uses 2, B has 5 and uses 4; a task of
// 4 for B starts with exactly 3 borrowed.
func TestLendThree(t *testing.T) {
	f := newFixture().team("a", "all", "6").team("b", "all", "5")
	f.add(f.job("a", "used", 2, running), f.job("b", "used", 4, running))
	e := f.engine(t, Config{})
	task := f.job("b", "new", 4)

	d := probe(t, e, task)
	if d.Outcome != Admitted || amounts(d.Borrowed) != "a100/nvidia.com/gpu=3" {
		t.Fatalf("probe: %+v", d)
	}
	if e.Workload("b", "new") != nil {
		t.Fatal("Probe must not keep the workload")
	}
	if err := e.Load(context.Background(), task); err != nil {
		t.Fatal(err)
	}
	tl := run(t, e)
	if got, want := short(tl), "1 Admitted b/new"; got != want || !tl.Settled {
		t.Fatalf("run: %s, settled %v; want %s", got, tl.Settled, want)
	}
	if got := amounts(tl.Events[0].Borrowed); got != "a100/nvidia.com/gpu=3" {
		t.Errorf("borrowed %s", got)
	}
	w := e.Workload("b", "new")
	if !workload.IsAdmitted(w) || w.Status.Admission.PodSetAssignments[0].Flavors[gpu] != "a100" {
		t.Errorf("status: %+v", w.Status)
	}
}
