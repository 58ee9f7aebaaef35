package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// TestRefusedChanges: what Kueue's API refuses is an error, and not a team that is
// left out.
func TestRefusedChanges(t *testing.T) {
	for text, want := range map[string]string{
		"a.lend-limit=500":    "more than nominalQuota",
		"a.borrow-limit=NaN%": "no percentage",
		"a.borrow-limit=-1%":  "no percentage",
		"b.reclaim=Never b.borrow-preemption=LowerPriority": "needs reclaim",
		"b.cohort=none b.borrow-limit=1":                    "without a cohort",
	} {
		var changes []simulate.Change
		for _, c := range strings.Fields(text) {
			changes = append(changes, change(t, simulate.Set, c))
		}
		_, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), changes, 0)
		if errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Out of the cohort, the limits go too, and a note says so.
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok {
			q.Spec.ResourceGroups[0].Flavors[0].Resources[0].BorrowingLimit = ptr.To(resource.MustParse("2"))
		}
	}
	r := run(t, w, 0, change(t, simulate.Set, "b.cohort=none"))
	if r.Teams[1].After == nil || r.Teams[1].After.Admitted != 1 || !strings.Contains(fmt.Sprint(r.Notes), "limits of borrowing") {
		t.Errorf("%+v %v", r.Teams[1].After, r.Notes)
	}
}

// TestPreemptionThresholdStays: another policy of preempting while borrowing keeps
// the threshold.
func TestPreemptionThresholdStays(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok {
			q.Spec.Preemption.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever, MaxPriorityThreshold: ptr.To[int32](7)}
		}
	}
	got, _, err := simulate.Apply(context.Background(), w, []simulate.Change{change(t, simulate.Set, "b.borrow-preemption=LowerPriority")})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range got.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Name == "b" {
			if b := q.Spec.Preemption.BorrowWithinCohort; b.Policy != "LowerPriority" || b.MaxPriorityThreshold == nil || *b.MaxPriorityThreshold != 7 {
				t.Errorf("%+v", b)
			}
		}
	}
}

// TestCyclesBefore: with single cycles, before is the state as it is: low waits.
func TestCyclesBefore(t *testing.T) {
	r := run(t, world(t, "lend-three.yaml"), 1)
	if r.Before.Admitted != 2 || r.Before.Waiting != 1 || r.After.Admitted != 3 || short(r) != "low: Waiting PendingEvaluation > Admitted 4/0; unsettled" {
		t.Errorf("%+v %+v %s", r.Before, r.After, short(r))
	}
}

func node(name, health string, ready bool, taints ...corev1.Taint) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{kinds.InstanceTypeLabel: "T", kinds.NodeHealthLabel: health, "from": name}}}
	n.Spec.Taints = taints
	if ready {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}
	return n
}

// TestAddedNodes: two additions are two nodes, and like a node that takes jobs.
func TestAddedNodes(t *testing.T) {
	w := world(t, "lend-three.yaml")
	w.Objects = append(w.Objects, node("a-good", "Schedulable", true), node("b-sick", "UnschedulablePendingReboot", true), node("c-away", "Schedulable", false))
	add := change(t, simulate.AddNodes, "T=1")
	got, _, err := simulate.Apply(context.Background(), w, []simulate.Change{add, add})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, o := range got.Objects {
		if n, ok := o.(*corev1.Node); ok {
			names[n.Name] = true
			if strings.HasPrefix(n.Name, "new-") && n.Labels["from"] != "a-good" {
				t.Errorf("%s is like %s", n.Name, n.Labels["from"])
			}
		}
	}
	if len(names) != 5 {
		t.Errorf("%v", names)
	}
	// With none that takes jobs, the new ones do all the same.
	w = world(t, "lend-three.yaml")
	w.Objects = append(w.Objects, node("b-sick", "UnschedulablePendingReboot", true, corev1.Taint{Key: "node.kubernetes.io/unschedulable"}, corev1.Taint{Key: "mine"}))
	if got, _, err = simulate.Apply(context.Background(), w, []simulate.Change{add}); err != nil {
		t.Fatal(err)
	}
	n := got.Objects[len(got.Objects)-1].(*corev1.Node)
	if n.Labels[kinds.NodeHealthLabel] != "Schedulable" || len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "mine" {
		t.Errorf("%+v", n)
	}
}

// TestPodsGoWithTheirJob: a job that goes leaves no pods on the nodes.
func TestPodsGoWithTheirJob(t *testing.T) {
	for _, c := range []simulate.Change{change(t, simulate.RemoveJob, "four"), change(t, simulate.RemoveTeam, "b")} {
		w := world(t, "lend-three.yaml")
		for _, ns := range []string{"a", "b"} {
			w.Objects = append(w.Objects, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "four", Namespace: ns}, Spec: corev1.PodSpec{NodeName: "n"}})
		}
		got, _, err := simulate.Apply(context.Background(), w, []simulate.Change{c})
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, o := range got.Objects {
			if p, ok := o.(*corev1.Pod); ok {
				left = append(left, p.Namespace)
			}
		}
		if fmt.Sprint(left) != "[a]" {
			t.Errorf("%s: left %v", c.Kind, left)
		}
	}
}
