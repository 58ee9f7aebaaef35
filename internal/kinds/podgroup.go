package kinds

import (
	"fmt"
	"strconv"
)

// The label with the group of a pod, and the annotation with the number of its pods: they have one Workload.
const (
	PodGroupName  = "kueue.x-k8s.io/pod-group-name"
	PodGroupTotal = "kueue.x-k8s.io/pod-group-total-count"
)

// GroupWorkload is the annotation of a Workload of a pod group: "true".
const GroupWorkload = "kueue.x-k8s.io/is-group-workload"

// podGroupFast is the annotation with which one pod is enough for the Workload of its group.
const podGroupFast = "kueue.x-k8s.io/pod-group-fast-admission"

// PodGroup is a group of pods with one Workload.
type PodGroup struct {
	Name string
	Pods int // of the whole group
}

// PodGroupOf returns the group of a Pod, and whether it has one of a valid size.
func PodGroupOf(object map[string]any) (g PodGroup, ok bool) {
	if Text(object, "kind") != PodKind.Kind || Text(object, "apiVersion") != PodKind.GroupVersion() {
		return g, false
	}
	g.Name = Text(object, "metadata", "labels", PodGroupName)
	g.Pods, _ = strconv.Atoi(Text(object, "metadata", "annotations", PodGroupTotal))
	return g, g.Name != "" && g.Pods > 0
}

// FastPodGroup reports whether a pod is enough for the Workload of its group. The other pods are taken to be like it.
func FastPodGroup(pod map[string]any) bool {
	return Text(pod, "metadata", "annotations", podGroupFast) == "true"
}

// ByGroup returns the places in a list of objects of what Kueue decides about: an object, or the pods of a group. They are in the
// order in which Kueue sees them. It sees a group when it has all its pods, with fast admission when it has one.
func ByGroup(objects []map[string]any) (units [][]int) {
	type group struct{ namespace, name string }
	of := func(o map[string]any) (group, bool) {
		g, ok := PodGroupOf(o)
		return group{Text(o, "metadata", "namespace"), g.Name}, ok
	}
	pods, whole := map[group][]int{}, map[int][]int{} // whole: a group by the place of the pod that makes it whole
	for i, o := range objects {
		if g, ok := of(o); ok {
			pods[g] = append(pods[g], i)
		}
	}
	for _, all := range pods {
		first := objects[all[0]]
		g, _ := PodGroupOf(first)
		if FastPodGroup(first) {
			g.Pods = 1
		}
		whole[all[min(g.Pods, len(all))-1]] = all
	}
	for i, o := range objects {
		if _, ok := of(o); !ok {
			units = append(units, []int{i})
		} else if all := whole[i]; all != nil {
			units = append(units, all)
		}
	}
	return units
}

// GroupFault is what keeps Kueue from admitting exactly the pods that a group has; zero if nothing does.
type GroupFault struct {
	Missing  int            // pods that Kueue waits for before it makes a Workload
	Mismatch *GroupMismatch // why it makes none
	Excess   int            // pods that it deletes: the group has no place for them
}

// GroupMismatch is a difference between two pods of a group: in their sizes of the group, or in their queues.
type GroupMismatch struct {
	Pods   [2]string
	Queues bool
	Values [2]string
}

// Kueue words the difference as Kueue does.
func (m *GroupMismatch) Kueue() string {
	what := "queue names"
	if !m.Queues {
		what = "'" + PodGroupTotal + "' values"
	}
	return fmt.Sprintf("pods '%s' and '%s' has different %s: %s!=%s", m.Pods[0], m.Pods[1], what, m.Values[0], m.Values[1])
}

// Fault compares the pods of a group, without those that failed, with what Kueue requires of them
// (pkg/controller/jobs/pod/pod_controller.go, v0.19).
func (g PodGroup) Fault(pods []map[string]any) GroupFault {
	if len(pods) == 0 {
		return GroupFault{Missing: g.Pods}
	}
	first := pods[0]
	// Kueue compares only once it has as many pods as one of them says. More pods do not mend a difference.
	for _, pod := range pods[1:] {
		both := [2]string{Text(first, "metadata", "name"), Text(pod, "metadata", "name")}
		if sizes := [2]string{sizeOf(first), sizeOf(pod)}; sizes[0] != sizes[1] {
			return GroupFault{Mismatch: &GroupMismatch{Pods: both, Values: sizes}}
		}
		if queues := [2]string{Text(first, "metadata", "labels", QueueLabel), Text(pod, "metadata", "labels", QueueLabel)}; queues[0] != queues[1] {
			return GroupFault{Mismatch: &GroupMismatch{Pods: both, Queues: true, Values: queues}}
		}
	}
	if n := len(pods); n < g.Pods && !FastPodGroup(first) {
		return GroupFault{Missing: g.Pods - n}
	}
	return GroupFault{Excess: max(0, len(pods)-g.Pods)}
}

// sizeOf returns the size of its group that a pod names.
func sizeOf(pod map[string]any) string {
	g, _ := PodGroupOf(pod)
	return strconv.Itoa(g.Pods)
}
