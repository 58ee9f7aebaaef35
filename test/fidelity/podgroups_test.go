package fidelity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// podGroups are groups of pods: the size that each pod names, and the fault that the verdict must have.
var podGroups = []struct {
	name   string
	sizes  []string
	change func(last object)
	fault  string
}{
	{"whole", []string{"2", "2"}, nil, ""},
	{"two sizes", []string{"2", "3"}, nil, check.GroupMismatch},
	{"two queues", []string{"2", "2"}, func(o object) { kinds.Set(o, "other", "metadata", "labels", kinds.QueueLabel) }, check.GroupMismatch},
	{"incomplete", []string{"3", "3"}, nil, check.GroupIncomplete},
	{"too large", []string{"2", "2", "2"}, nil, check.GroupTooLarge},
	{"one and another", []string{"1", "1"}, nil, check.GroupTooLarge},
}

// groups compares what Kueue makes of the pods of a group with the verdict on them: a Workload or none, and pods that it deletes.
func (b *bench) groups(t *testing.T) {
	var list []of
	for i, c := range podGroups {
		s := b.groupOf(t, c.name, fmt.Sprintf("group-%d", i), c.sizes...)
		if c.change != nil {
			c.change(s.group[len(s.group)-1])
		}
		s.object = s.group[0]
		list = append(list, s)
	}
	verdicts := b.kindVerdicts(list)
	for i, c := range podGroups {
		t.Run(c.name, func(t *testing.T) {
			fault := ""
			for _, s := range verdicts[i].Submission {
				if s.Check == "Group" {
					fault = s.Code
				}
			}
			if fault != c.fault {
				t.Errorf("the verdict's fault is %q, not %q", fault, c.fault)
			}
			for _, o := range list[i].group {
				if err := b.submit(o, list[i].namespace); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
			defer cancel()
			if err := b.bed.WaitFor(ctx, "Kueue to decide about the group", func(ctx context.Context) error {
				return b.asGroup(ctx, list[i], fault)
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// groupOf is a group in a namespace of its own, with a pod for each size that one names.
func (b *bench) groupOf(t *testing.T, name, namespace string, sizes ...string) of {
	t.Helper()
	for _, o := range []object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		{"apiVersion": group + "v1beta2", "kind": "LocalQueue", "metadata": object{"name": "queue", "namespace": namespace}, "spec": object{"clusterQueue": b.witnesses().at("a")}},
	} {
		if err := b.bed.ApplyObjects(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	m := b.witnesses()
	m.scenario.name = name
	s := of{maker: m, namespace: namespace}
	for n, size := range sizes {
		s.group = append(s.group, inGroupOf(fmt.Sprintf("target-%d", n), size))
	}
	return s
}

func inGroupOf(name, size string) object {
	o := (pods{}).inGroup(name, 0)
	kinds.Set(o, size, "metadata", "annotations", kinds.PodGroupTotal)
	return o
}

// joining are pods that come to a group of two, which has its quota.
var joining = []struct {
	name    string
	before  func(b *bench, pod string) error // what happens to the last pod of the group; pod is its path
	seen    func(w *kueue.Workload) bool     // Kueue has seen that
	gpus    int                              // of the new pod; those of the group have none
	verdict check.Outcome
	fault   string
}{
	{"replaces a failed pod", (*bench).fail, lacksPods, 0, check.Admitted, ""},
	{"replaces a deleted pod", (*bench).remove, lacksPods, 0, check.Admitted, ""},
	{"beside a pod that succeeded", (*bench).succeed, func(w *kueue.Workload) bool { return len(w.Status.ReclaimablePods) > 0 }, 0, check.Never, check.GroupTooLarge},
	{"no place is free", nil, nil, 0, check.Never, check.GroupTooLarge},
	{"of another role", (*bench).fail, lacksPods, 1, check.Never, check.GroupWithoutRole},
}

func lacksPods(w *kueue.Workload) bool {
	return apimeta.IsStatusConditionTrue(w.Status.Conditions, kueue.WorkloadWaitingForReplacementPods)
}

func (b *bench) fail(pod string) error    { return b.patchStatus(pod, object{"phase": "Failed"}) }
func (b *bench) succeed(pod string) error { return b.patchStatus(pod, object{"phase": "Succeeded"}) }
func (b *bench) remove(pod string) error {
	_, err := b.bed.Request(b.t.Context(), http.MethodDelete, pod, "application/json", []byte(`{"gracePeriodSeconds":0}`))
	return err
}

// joins compares what Kueue makes of a pod that joins a group with the verdict on it: it starts, stays gated or is deleted.
func (b *bench) joins(t *testing.T) {
	var list []of
	for i, c := range joining {
		s := b.groupOf(t, c.name, fmt.Sprintf("join-%d", i), "2", "2")
		for _, o := range s.group {
			if err := b.submit(o, s.namespace); err != nil {
				t.Fatal(err)
			}
		}
		s.object = s.group[0]
		list = append(list, s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	for i, c := range joining {
		if err := b.bed.WaitFor(ctx, "Kueue to admit the group", func(ctx context.Context) error { return b.asGroup(ctx, list[i], "") }); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.before == nil {
			continue
		}
		if err := c.before(b, kinds.Pod.Path(list[i].namespace, "target-1")); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	for i, c := range joining {
		o := inGroupOf("new", "2")
		if c.gpus > 0 {
			o["spec"] = (pods{}).inGroup("new", c.gpus)["spec"]
		}
		list[i].object, list[i].group = o, []object{o}
		if err := b.bed.WaitFor(ctx, "Kueue to see what became of the pods", func(ctx context.Context) error {
			made, _, err := b.workloadsOf(ctx, list[i])
			if err == nil && c.seen != nil && !slices.ContainsFunc(made, c.seen) {
				err = fmt.Errorf("the group has %s", described(made))
			}
			return err
		}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	verdicts := b.kindVerdicts(list)
	for i, c := range joining {
		t.Run(c.name, func(t *testing.T) {
			v, fault := verdicts[i], ""
			for _, s := range v.Submission {
				if s.Check == "Group" {
					fault = s.Code
				}
			}
			if v.Verdict != c.verdict || fault != c.fault {
				t.Errorf("the verdict is %s with the fault %q, not %s with %q", v.Verdict, fault, c.verdict, c.fault)
			}
			if err := b.submit(list[i].object, list[i].namespace); err != nil {
				t.Fatal(err)
			}
			if fault == check.GroupWithoutRole { // Kueue has seen a gated pod once it starts one that came later
				if err := b.submit(inGroupOf("later", "2"), list[i].namespace); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
			defer cancel()
			if err := b.bed.WaitFor(ctx, "Kueue to decide about the pod", func(ctx context.Context) error { return b.joined(ctx, list[i], fault) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// joined returns how a pod that joined a group differs from a fault that the verdict has.
func (b *bench) joined(ctx context.Context, s of, fault string) error {
	made, _, err := b.workloadsOf(ctx, s)
	if err != nil {
		return err
	}
	if len(made) != 1 || live.QuotaOf(made[0]).Status != "True" {
		return fmt.Errorf("the group has %s", described(made))
	}
	var pod corev1.Pod
	err = b.bed.Get(ctx, kinds.Pod.Path(s.namespace, "new"), &pod)
	gone := cluster.NotFound(err)
	if err != nil && !gone {
		return err
	}
	owns := func(name string) bool {
		return slices.ContainsFunc(made[0].OwnerReferences, func(r metav1.OwnerReference) bool { return r.Name == name })
	}
	own := owns("new")
	switch gated := len(pod.Spec.SchedulingGates) > 0; {
	case gone != (fault == check.GroupTooLarge):
		return fmt.Errorf("the pod is gone: %v", gone)
	case !gone && gated != (fault == check.GroupWithoutRole):
		return fmt.Errorf("the pod is gated: %v", gated)
	case !gone && own == gated:
		return fmt.Errorf("the pod owns the workload: %v, and is gated: %v", own, gated)
	case fault == check.GroupWithoutRole && !owns("later"):
		return errors.New("a later pod has not joined the group")
	}
	return nil
}

// asGroup returns how the pods and the Workload of a group differ from a fault that the verdict has.
func (b *bench) asGroup(ctx context.Context, s of, fault string) error {
	made, _, err := b.workloadsOf(ctx, s)
	if err != nil {
		return err
	}
	core := "/api/v1/namespaces/" + s.namespace
	var pods, events struct {
		Items []struct{ Reason string }
	}
	if err := b.bed.Get(ctx, core+"/pods", &pods); err != nil {
		return err
	}
	if err := b.bed.Get(ctx, core+"/events", &events); err != nil {
		return err
	}
	left, want := len(pods.Items), len(s.group)
	said := func(reason string) bool {
		return slices.ContainsFunc(events.Items, func(e struct{ Reason string }) bool { return e.Reason == reason })
	}
	whole, _ := kinds.PodGroupOf(s.object)
	switch fault {
	case check.GroupIncomplete, check.GroupMismatch:
		if len(made) > 0 || !said("ErrWorkloadCompose") {
			return fmt.Errorf("Kueue made %s; events: %+v", described(made), events.Items)
		}
	default:
		want = min(want, whole.Pods)
		if len(made) != 1 || live.QuotaOf(made[0]).Status != "True" || total(made[0]) != whole.Pods {
			return fmt.Errorf("Kueue made %s", described(made))
		}
	}
	if left != want || (left < len(s.group)) != said("ExcessPodDeleted") {
		return fmt.Errorf("%d pods are left, not %d; events: %+v", left, want, events.Items)
	}
	return nil
}

// total is the number of pods of a Workload.
func total(w *kueue.Workload) (n int) {
	for _, ps := range w.Spec.PodSets {
		n += int(ps.Count)
	}
	return n
}
