package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
)

func objects(t testing.TB, yaml string) []client.Object {
	t.Helper()
	out, err := decode.Objects([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const clusterQueue = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %s}
spec:
  cohortName: pool
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: %s}]}]
`

func figure(list []simulate.Amount) string {
	out := "0"
	for _, a := range list {
		out = fmt.Sprint(a.Amount)
	}
	return out
}

// TestObjects: changed objects have the effect that the same settings have, and that
// Kueue and the API server give them.
func TestObjects(t *testing.T) {
	ctx := context.Background()
	with := func(put, remove []client.Object, more ...simulate.Change) *simulate.Report {
		t.Helper()
		w := world(t, "lend-three.yaml")
		before := fmt.Sprint(w.Objects)
		r := run(t, w, 0, append(more, simulate.NewObjects("plan", put, remove))...)
		if fmt.Sprint(w.Objects) != before {
			t.Error("the given objects were changed")
		}
		return r
	}
	t.Run("a changed ClusterQueue", func(t *testing.T) {
		r := with(objects(t, fmt.Sprintf(clusterQueue, "b", "8")), nil, addJob("b", "new", 4))
		if got := short(r); got != "new: - > Admitted 4/0" {
			t.Error(got)
		}
		if b := r.Teams[1]; figure(b.Before.Nominal) != "5" || figure(b.After.Nominal) != "8" || figure(b.After.Limit) != "14" || figure(b.After.Reserved) != "8" || b.After.State != "Active" {
			t.Errorf("%+v", b.After)
		}
		if len(r.Started()) != 1 || len(r.Never()) != 0 {
			t.Errorf("started %v, never %v", r.Started(), r.Never())
		}
	})
	t.Run("a new team", func(t *testing.T) {
		r := with(objects(t, fmt.Sprintf(clusterQueue, "c", "2")+`---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: queue, namespace: c}
spec: {clusterQueue: c}
`), nil, addJob("c", "first", 2))
		if got := short(r); got != "first: - > Admitted 2/0" {
			t.Error(got)
		}
		if len(r.Teams) != 3 || r.Teams[2].Before != nil || figure(r.Teams[2].After.Limit) != "13" {
			t.Errorf("%+v", r.Teams)
		}
		if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, "NamespaceAssumed") {
			t.Error(notes)
		}
	})
	t.Run("a Cohort with quota of its own", func(t *testing.T) {
		r := with(objects(t, `
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: pool}
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
`), nil, addJob("b", "new", 4))
		if got := short(r); got != "new: - > Admitted 4/3" {
			t.Error(got)
		}
	})
	t.Run("a priority class with another value", func(t *testing.T) {
		w := world(t, "lend-three.yaml")
		for _, o := range w.Objects {
			if wl, ok := o.(*kueue.Workload); ok && wl.Name == "low" {
				wl.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef("training")
			}
		}
		class := &kueue.WorkloadPriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "training"}, Value: 50}
		got, _, err := simulate.Apply(ctx, w, []simulate.Change{simulate.NewObjects("plan", []client.Object{class}, nil)})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range got.Objects {
			if wl, ok := o.(*kueue.Workload); ok && wl.Name == "low" && *wl.Spec.Priority != 50 {
				t.Errorf("priority %d", *wl.Spec.Priority)
			}
		}
	})
	t.Run("a queue in use stays until its jobs end", func(t *testing.T) {
		r := with(nil, []client.Object{&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}, addJob("b", "new", 1))
		if b := r.Teams[1].After; b == nil || b.State != "Stopped" || figure(b.Reserved) != "4" {
			t.Errorf("%+v", b)
		}
		if got := short(r); got != "new: - > Waiting Suspended" || !strings.Contains(fmt.Sprint(r.Notes), "DeletionWaits") {
			t.Error(got, r.Notes)
		}
	})
	t.Run("a namespace takes its jobs along", func(t *testing.T) {
		r := with(nil, []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "b"}}})
		if got := short(r); got != "four: Admitted 4/0 > -" || r.Teams[1].After != nil {
			t.Error(got)
		}
	})
	t.Run("what Kueue refuses is an error", func(t *testing.T) {
		for _, yaml := range []string{fmt.Sprintf(clusterQueue, "b", "-3"), fmt.Sprintf(clusterQueue, "new", "-3")} {
			_, err := simulate.Run(ctx, world(t, "lend-three.yaml"), []simulate.Change{simulate.NewObjects("plan", objects(t, yaml), nil)}, simulate.Options{})
			if exitOf(err) != errs.Usage || !strings.Contains(textOf(err), "nominalQuota -3 is negative") {
				t.Errorf("%v", err)
			}
		}
		_, err := simulate.Run(ctx, world(t, "lend-three.yaml"), []simulate.Change{simulate.NewObjects("plan", []client.Object{&corev1.Pod{}}, nil)}, simulate.Options{})
		if exitOf(err) != errs.Usage {
			t.Errorf("a pod: %v", err)
		}
	})
}

// TestOvercommit: what a team uses beyond its quota is borrowed only as far as others
// lend it, as in get-quota.
func TestOvercommit(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, c := range []struct {
		change       string
		borrow, over string
	}{
		{"b.quota=1", "3", "0"},
		{"b.quota=1 a.lend-limit=2", "2", "1"},
		{"b.quota=1 a.lend-limit=0", "0", "3"},
	} {
		var changes []simulate.Change
		for _, s := range strings.Fields(c.change) {
			changes = append(changes, change(t, simulate.Set, s))
		}
		r := run(t, w, 0, append(changes, change(t, simulate.RemoveJob, "low"))...)
		b := r.Teams[1].After
		if figure(b.Borrowed) != c.borrow || figure(b.Overcommit) != c.over || figure(b.Reserved) != "4" {
			t.Errorf("%s: %+v", c.change, b)
		}
		four := r.Jobs[2].After
		if figure(four.Borrowed) != c.borrow || figure(four.Overcommit) != c.over {
			t.Errorf("%s: job %+v", c.change, four)
		}
		if overcommitted := strings.Contains(fmt.Sprint(r.Problems), "Overcommitted"); overcommitted != (c.over != "0") {
			t.Errorf("%s: %v", c.change, r.Problems)
		}
	}
}

// TestNoNulls: the document has lists where there are none of something.
func TestNoNulls(t *testing.T) {
	r := run(t, world(t, "lend-three.yaml"), 0)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(path+"."+k, x)
			}
		case []any:
			for _, x := range v {
				walk(path+"[]", x)
			}
		case nil:
			t.Errorf("%s is null", path)
		}
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	walk("", doc)
}
