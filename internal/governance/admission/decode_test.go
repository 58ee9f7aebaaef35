package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
)

const oldManifest = `
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: a100}
---
# nothing here
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team}
spec:
  cohort: all
  namespaceSelector: {}
  flavorFungibility: {whenCanBorrow: Borrow}
  resourceGroups:
  - coveredResources: ["nvidia.com/gpu"]
    flavors:
    - name: a100
      resources: [{name: nvidia.com/gpu, nominalQuota: 4}]
---
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: LocalQueue
  metadata: {name: queue, namespace: team}
  spec: {clusterQueue: team}
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: Workload
  metadata: {name: new, namespace: team, uid: u1}
  spec:
    queueName: queue
    priority: 7
    priorityClassName: high
    priorityClassSource: kueue.x-k8s.io/workloadpriorityclass
    podSets:
    - name: main
      count: 2
      template:
        spec:
          containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]
---
apiVersion: example.com/v1
kind: Unrelated
metadata: {name: x}
`

func TestDecodeOldVersion(t *testing.T) {
	objs, err := decode.Objects([]byte(oldManifest))
	if err != nil {
		t.Fatal(err)
	}
	if len(objs) != 5 {
		t.Fatalf("%d objects: %T", len(objs), objs)
	}
	cq := objs[2].(*kueue.ClusterQueue)
	if cq.Spec.CohortName != "all" || cq.Spec.FlavorFungibility.WhenCanBorrow != kueue.MayStopSearch {
		t.Errorf("ClusterQueue was not converted: %+v", cq.Spec)
	}
	e := (&fixture{objs: objs}).engine(t, Config{})
	tl := run(t, e)
	if short(tl) != "1 Admitted team/new" {
		t.Error(short(tl))
	}
	w := e.Workload("team", "new")
	if w.Spec.PriorityClassRef == nil || w.Spec.PriorityClassRef.Name != "high" {
		t.Errorf("priority class: %+v", w.Spec.PriorityClassRef)
	}
	// Limits are requests, in the admission and not in the spec.
	usage := w.Status.Admission.PodSetAssignments[0].ResourceUsage[gpu]
	if usage.Value() != 4 || w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests != nil {
		t.Errorf("usage %s, requests %v", usage.String(), w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests)
	}
}

func TestLoadReportsWhatCannotBe(t *testing.T) {
	const head = "apiVersion: kueue.x-k8s.io/v1beta2\n"
	tests := []struct{ name, in, want string }{
		{"cohort cycle", head + "kind: Cohort\nmetadata: {name: x}\nspec: {parentName: z}\n---\n" + head +
			"kind: Cohort\nmetadata: {name: z}\nspec: {parentName: x}\n---\n" + head +
			"kind: Cohort\nmetadata: {name: below}\nspec: {parentName: x}", "cohorts form a cycle: below, x, z"},
		{"cohort is its own parent", head + "kind: Cohort\nmetadata: {name: x}\nspec: {parentName: x}", "cohorts form a cycle: x"},
		{"negative quota", head + "kind: ClusterQueue\nmetadata: {name: q}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a100, resources: [{name: cpu, nominalQuota: -1}]}]}]}",
			"ClusterQueue q is invalid [Negative nominalQuota -1]"},
		{"limits without cohort", head + "kind: ClusterQueue\nmetadata: {name: q}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a100, resources: [{name: cpu, nominalQuota: 1, borrowingLimit: 1, lendingLimit: 2}]}]}]}",
			"[NoCohort borrowingLimit  NoCohort lendingLimit  AboveNominal lendingLimit 2]"},
		{"negative cohort quota", head + "kind: Cohort\nmetadata: {name: x}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a100, resources: [{name: cpu, nominalQuota: -1}]}]}]}", "Cohort x"},
		{"bad selector", head + "kind: ClusterQueue\nmetadata: {name: q}\nspec: {namespaceSelector: {matchExpressions: [{key: a, operator: Sometimes}]}}", "namespaceSelector"},
		{"negative request", head + "kind: Workload\nmetadata: {name: w, namespace: ns}\nspec: {podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: -1}}}]}}}]}",
			"workload ns/w: pod set main, container c: cpu -1 is negative"},
		{"negative weight", head + "kind: ClusterQueue\nmetadata: {name: q}\nspec: {fairSharing: {weight: -1}}", "Negative fairSharing.weight -1"},
		{"nameless workload", head + "kind: Workload\nmetadata: {namespace: ns}", "a name and a namespace are needed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture().team("good", "x", "4")
			f.add(f.job("good", "new", 2))
			e := f.engine(t, Config{})
			objs, err := decode.Objects([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			err = e.Load(context.Background(), objs...)
			got := fmt.Sprint(err)
			if refused := (*InvalidError)(nil); errors.As(err, &refused) {
				var faults []string
				for _, f := range refused.Faults {
					faults = append(faults, fmt.Sprintf("%s %s %s", f.Code, f.Field, f.Value))
				}
				got += fmt.Sprintf(" %v", faults)
			}
			if err == nil || !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %q", got, tt.want)
			}
			run(t, e) // and nothing panics or hangs
		})
	}
}

// A cycle makes the queues below it inactive; taking it away brings them back.
func TestCohortCycleHeals(t *testing.T) {
	ctx := context.Background()
	f := newFixture().team("a", "x", "4")
	used, w := f.job("a", "used", 1, running), f.job("a", "new", 2)
	e := f.engine(t, Config{})
	cycle, err := decode.Objects([]byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: x}\nspec: {parentName: z}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: z}\nspec: {parentName: x}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(ctx, cycle...); err == nil {
		t.Error("a cycle must be reported")
	}
	if err := e.Load(ctx, used, w); err != nil {
		t.Error(err)
	}
	if d := probe(t, e, w); d.Outcome != Waits || !strings.Contains(d.Message, "cycle") {
		t.Errorf("%+v", d)
	}
	if tl := run(t, e); len(tl.Events) != 0 {
		t.Error(short(tl))
	}
	if err := e.Delete(ctx, cycle[1]); err != nil {
		t.Errorf("without %s there is no cycle: %v", cycle[1].GetName(), err)
	}
	if tl := run(t, e); short(tl) != "1 Admitted a/new" {
		t.Error(short(tl))
	}
}

// A tree may be turned upside down in one go: there is never a cycle on the way.
func TestCohortTreeTurnedRound(t *testing.T) {
	const upper = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: %a}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: %b}\nspec: {parentName: %a}\n"
	tree := func(a, b string) []byte {
		return []byte(strings.NewReplacer("%a", a, "%b", b).Replace(upper))
	}
	f := newFixture().team("one", "x", "2").team("two", "w", "2")
	e := f.engine(t, Config{})
	for _, names := range [][2]string{{"w", "x"}, {"x", "w"}, {"w", "x"}} {
		objs, err := decode.Objects(tree(names[0], names[1]))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Load(context.Background(), objs...); err != nil {
			t.Fatal(err)
		}
		if d := probe(t, e, f.job("one", "new", 4)); d.Outcome != Admitted || amounts(d.Borrowed) != "a100/nvidia.com/gpu=2" {
			t.Errorf("%v: %+v", names, d)
		}
	}
}
