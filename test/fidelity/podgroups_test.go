package fidelity

import (
	"context"
	"fmt"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
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
		namespace := fmt.Sprintf("group-%d", i)
		for _, o := range []object{
			{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
			{"apiVersion": group + "v1beta2", "kind": "LocalQueue", "metadata": object{"name": "queue", "namespace": namespace}, "spec": object{"clusterQueue": b.witnesses().at("a")}},
		} {
			if err := b.bed.ApplyObjects(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		m := b.witnesses()
		m.scenario.name = c.name
		s := of{maker: m, namespace: namespace}
		for n, size := range c.sizes {
			o := (pods{}).inGroup(fmt.Sprintf("target-%d", n), 0)
			kinds.Set(o, size, "metadata", "annotations", kinds.PodGroupTotal)
			s.group = append(s.group, o)
		}
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
		for _, e := range events.Items {
			if e.Reason == reason {
				return true
			}
		}
		return false
	}
	whole, _ := kinds.PodGroupOf(s.object)
	switch fault {
	case check.GroupIncomplete, check.GroupMismatch:
		if len(made) > 0 || !said("ErrWorkloadCompose") {
			return fmt.Errorf("Kueue made %s; events: %+v", described(made), events.Items)
		}
	default:
		want = min(want, whole.Pods)
		if len(made) != 1 || quotaOf(made[0]).status != "True" || total(made[0]) != whole.Pods {
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
