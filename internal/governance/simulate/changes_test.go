package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	"github.com/hyperpod-cli/hyperpod/internal/present/simulation"
)

// TestRefusedChanges: what Kueue's API refuses is an error, and not a team that is
// left out.
func TestRefusedChanges(t *testing.T) {
	for text, want := range map[string]string{
		"a.lend-limit=500":    "more than nominalQuota",
		"a.borrow-limit=NaN%": "invalid percentage",
		"a.borrow-limit=-1%":  "invalid percentage",
		"b.reclaim=Never b.borrow-preemption=LowerPriority": "requires reclaim",
		"b.cohort=none b.borrow-limit=1":                    "without a cohort",
	} {
		var changes []simulate.Change
		for _, c := range strings.Fields(text) {
			changes = append(changes, change(t, simulate.Set, c))
		}
		_, err := simulate.Run(context.Background(), world(t, "lend-three.yaml"), changes, simulate.Options{})
		if exitOf(err) != errs.Usage || !strings.Contains(textOf(err), want) {
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
	if r.Teams[1].After == nil || r.Teams[1].After.Admitted != 1 || !strings.Contains(fmt.Sprint(r.Notes), "LimitsCleared") {
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

// TestJobTwice: a job that waits already is not added once more, whatever its
// workload is called; one of another kind or namespace is another job.
func TestJobTwice(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if wl, ok := o.(*kueue.Workload); ok && wl.Name == "four" {
			wl.Name = "job-four-1a2b3" // as Kueue calls it, after the job's UID
			wl.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "four", UID: "j", Controller: ptr.To(true)}}
		}
	}
	_, err := simulate.Run(context.Background(), w, []simulate.Change{addJob("b", "four", 1)}, simulate.Options{})
	if text := textOf(err); exitOf(err) != errs.Usage || !strings.Contains(text, "Job four already exists in b") || !strings.Contains(text, "--remove-job b/four") {
		t.Errorf("%v", text)
	}
	for _, c := range [][]simulate.Change{
		{change(t, simulate.RemoveJob, "b/four"), addJob("b", "four", 1)},
		{addJob("a", "four", 1)},
		{simulate.NewJob("set.yaml", []byte(`{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"four","namespace":"b"},"spec":{"replicatedJobs":[{"name":"r","template":{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}}}]}}`), "")},
	} {
		if _, _, err := simulate.Apply(context.Background(), w, c); err != nil {
			t.Errorf("%s: %v", c[0].Text, err)
		}
	}
}

// TestFaultyTeam: an invalid queue is left out, with its figures and with the
// reason; a correct setting brings it back.
func TestFaultyTeam(t *testing.T) {
	spoil := func(w simulate.World) simulate.World {
		for _, o := range w.Objects {
			if q, ok := o.(*kueue.ClusterQueue); ok && q.Name == "b" {
				q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("-5")
			}
		}
		return w
	}
	r := run(t, spoil(world(t, "lend-three.yaml")), 0)
	if len(r.Teams) != 1 || r.Teams[0].Team != "a" || len(r.After.Borrowed) != 0 {
		t.Errorf("%+v %+v", r.Teams, r.After)
	}
	simulation.Fill(r)
	notes := fmt.Sprint(r.Notes)
	if !strings.Contains(notes, "ClusterQueue b: flavor a100, nvidia.com/gpu: nominalQuota -5 is negative") ||
		!strings.Contains(notes, "in ClusterQueue b, which is left out") {
		t.Errorf("%s", notes)
	}
	r = run(t, spoil(world(t, "lend-three.yaml")), 0, change(t, simulate.Set, "b.quota=5"))
	if len(r.Teams) != 2 || r.Teams[1].Before != nil || r.Teams[1].After == nil || r.Teams[1].After.Used[0].Amount != 4 {
		t.Errorf("%+v", r.Teams)
	}
}

// TestEndlessQuota: a quota beyond 64 bits has no end, as Kueue takes it.
func TestEndlessQuota(t *testing.T) {
	w := world(t, "lend-three.yaml")
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Name == "b" {
			q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("9e99")
		}
	}
	r := run(t, w, 0, addJob("b", "large", 1000))
	b := r.Teams[1].After
	if b.Used[0].Amount != 1004 || len(b.Borrowed) != 0 || len(b.Nominal) != 1 || !math.IsInf(float64(b.Nominal[0].Amount), 1) {
		t.Errorf("%+v", b)
	}
	data, err := json.Marshal(b.Nominal)
	if err != nil || string(data) != `[{"Flavor":"a100","Resource":"nvidia.com/gpu","Amount":null}]` {
		t.Errorf("%s %v", data, err)
	}
	manifest := strings.ReplaceAll(string(addJob("b", "huge", 7).Manifest), `"7"`, `"9e99"`)
	_, err = simulate.Run(context.Background(), w, []simulate.Change{simulate.NewJob("huge.yaml", []byte(manifest), "")}, simulate.Options{})
	if exitOf(err) != errs.Usage || !strings.Contains(textOf(err), "more nvidia.com/gpu than can be counted") {
		t.Errorf("%v", err)
	}
	_, err = simulate.Run(context.Background(), w, []simulate.Change{change(t, simulate.Set, "b.borrow-limit=50%")}, simulate.Options{})
	if exitOf(err) != errs.Usage || !strings.Contains(textOf(err), "too large") {
		t.Errorf("%v", err)
	}
}

// A pod group is one job. Pods that exist count.
func TestAddGroup(t *testing.T) {
	pod := func(name, group string, size int) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"b","labels":{"kueue.x-k8s.io/pod-group-name":%q},
			"annotations":{"kueue.x-k8s.io/pod-group-total-count":"%d"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}`, name, group, size)
	}
	group := func(pods ...[]byte) simulate.Change { return simulate.NewGroup("g.yaml", pods, "") }
	w := world(t, "lend-three.yaml")
	after, _, err := simulate.Apply(context.Background(), w, []simulate.Change{group(pod("x", "g", 2), pod("y", "g", 2), pod("z", "g", 2))})
	if err != nil {
		t.Fatal(textOf(err))
	}
	var added []string
	for _, o := range after.Objects[len(w.Objects):] {
		wl := o.(*kueue.Workload)
		added = append(added, fmt.Sprint(simulate.JobName(wl), " ", wl.Spec.QueueName, " ", len(wl.Spec.PodSets), " ", wl.Spec.PodSets[0].Count))
	}
	if len(added) != 1 || added[0] != "g queue 1 2" { // the third pod has no place in the group
		t.Errorf("the workloads are %v", added)
	}
	for _, c := range []struct {
		changes []simulate.Change
		want    string
	}{
		{[]simulate.Change{group(pod("x", "g", 2))}, "cannot add g.yaml: pod group g has 1 of its 2 pods"},
		{[]simulate.Change{group(pod("x", "g", 2), pod("y", "g", 3))}, "Kueue does not admit pod group g: pods x and y have different sizes of the group (kueue.x-k8s.io/pod-group-total-count): 2 and 3"},
		{[]simulate.Change{group(pod("x", "g", 1)), group(pod("y", "g", 1))}, "pod group g already exists in b"},
	} {
		_, err := simulate.Run(context.Background(), w, c.changes, simulate.Options{})
		if exitOf(err) != errs.Usage || !strings.Contains(textOf(err), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	there := &corev1.Pod{}
	if err := json.Unmarshal(pod("x", "g", 2), there); err != nil {
		t.Fatal(err)
	}
	there.Labels[kinds.QueueLabel] = "queue"
	w.Objects = append(w.Objects, there)
	if _, err := simulate.Run(context.Background(), w, []simulate.Change{group(pod("y", "g", 2))}, simulate.Options{}); err != nil {
		t.Error(textOf(err))
	}
}
