package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// ofType returns the nodes of an instance type, or that a flavor selects, by name.
func (a *applied) ofType(name string) []*corev1.Node {
	var labels map[string]string
	for _, f := range all[*kueue.ResourceFlavor](a.World) {
		if f.Name == name {
			labels = f.Spec.NodeLabels
		}
	}
	var out []*corev1.Node
	for _, n := range all[*corev1.Node](a.World) {
		if n.Labels[kinds.InstanceTypeLabel] == name || len(labels) > 0 && contains(n.Labels, labels) {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func contains(labels, want map[string]string) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return true
}

func (a *applied) nodeNames() map[string]bool {
	names := map[string]bool{}
	for _, n := range all[*corev1.Node](a.World) {
		names[n.Name] = true
		if t := n.Labels[kinds.InstanceTypeLabel]; t != "" {
			names[t] = true
		}
	}
	return names
}

// removeNodes removes one node by its name, or the nodes with the fewest pods of a type. For jobs that Kueue placed on one of
// them by topology, the simulation looks for another place, as Kueue does; jobs on several of them are evicted. Kueue does not
// know the nodes of other jobs, so a note names those that lose pods.
func (a *applied) removeNodes(c Change) error {
	gone, err := a.nodesToRemove(c)
	if err != nil {
		return err
	}
	names, hosts := map[string]bool{}, map[string]bool{}
	for _, n := range gone {
		names[n.Name] = true
		hosts[cmp.Or(n.Labels[corev1.LabelHostname], n.Name)] = true
		a.gone = append(a.gone, n)
	}
	jobs := a.podJobs()
	losers := a.countRemoved(gone, jobs)
	replaced, evictions := a.displace(hosts, jobs)
	maps.DeleteFunc(losers, func(h podHolder, _ int) bool { return replaced[h] || evictions[h] })
	a.dropPods(names, evictions, jobs)
	if len(losers) > 0 {
		lost := map[string]int{}
		for h, n := range losers {
			lost[jobs.label(h)] += n
		}
		var list []PodLoss
		for _, job := range slices.Sorted(maps.Keys(lost)) {
			list = append(list, PodLoss{job, lost[job]})
		}
		a.note(Note{Code: PodsOnRemovedNodes, Jobs: list})
	}
	return nil
}

// nodesToRemove returns the nodes that a change names, or those with the fewest pods of the type that it names.
func (a *applied) nodesToRemove(c Change) ([]*corev1.Node, error) {
	var nodes []*corev1.Node
	if c.Count == 0 {
		for _, n := range all[*corev1.Node](a.World) {
			if n.Name == c.Target {
				nodes = append(nodes, n)
			}
		}
	} else {
		nodes = a.ofType(c.Target)
	}
	switch {
	case len(nodes) == 0 && len(all[*corev1.Node](a.World)) == 0:
		return nil, &Error{Code: NoNodes, Change: c}
	case len(nodes) == 0:
		return nil, notFound(aNode, c.Target, a.nodeNames())
	case c.Count == 0:
		return nodes, nil
	case len(nodes) < c.Count:
		return nil, &Error{Code: TooFewNodes, Change: c, Count: len(nodes)}
	}
	pods := map[string]int{}
	for _, p := range all[*corev1.Pod](a.World) {
		pods[p.Spec.NodeName]++
	}
	slices.SortStableFunc(nodes, func(x, y *corev1.Node) int { return cmp.Compare(pods[x.Name], pods[y.Name]) })
	return nodes[:c.Count], nil
}

// countRemoved records removed nodes with the number of their pods, and returns the number of pods that each job loses.
func (a *applied) countRemoved(gone []*corev1.Node, jobs podJobs) map[podHolder]int {
	losers, pods := map[podHolder]int{}, map[string]int{}
	for _, n := range gone {
		pods[n.Name] = 0
	}
	for _, p := range all[*corev1.Pod](a.World) {
		if _, lost := pods[p.Spec.NodeName]; lost {
			job, _ := jobs.of(p)
			losers[job]++
			pods[p.Spec.NodeName]++
		}
	}
	for _, n := range gone {
		a.removed = append(a.removed, RemovedNode{Node: n.Name, InstanceType: n.Labels[kinds.InstanceTypeLabel], Pods: pods[n.Name]})
	}
	return losers
}

// displace marks the workloads that Kueue placed on hosts which are gone: it replaces the node of a workload on one of them,
// and evicts one on several. It returns the jobs of both.
func (a *applied) displace(hosts map[string]bool, jobs podJobs) (replaced, evictions map[podHolder]bool) {
	replaced, evictions = map[podHolder]bool{}, map[podHolder]bool{}
	for _, w := range all[*kueue.Workload](a.World) {
		lost := placedOn(w, hosts)
		if len(lost) == 0 {
			continue
		}
		holder := jobs.holder(w)
		job := jobs.label(holder)
		if unhealthy := unhealthyWith(w, lost); len(unhealthy) == 1 && a.Config.ReplacesNodes() {
			c := *w
			c.Status.UnhealthyNodes = unhealthy
			a.put(w, &c)
			replaced[holder] = true
			a.noteOnce(Note{Code: NodeReplaced, Job: job})
			continue
		}
		a.put(w, evicted(w, a.World))
		evictions[holder] = true
		a.notes = slices.DeleteFunc(a.notes, func(n Note) bool { return n.Code == NodeReplaced && n.Job == job })
		a.noteOnce(Note{Code: PlacedOnRemovedNode, Job: job})
	}
	return replaced, evictions
}

// dropPods removes nodes by name and the pods of evicted jobs. Other pods on these nodes are pending again, because their jobs
// create them again; those without a known job are removed.
func (a *applied) dropPods(names map[string]bool, evictions map[podHolder]bool, jobs podJobs) {
	a.drop(func(o client.Object) bool {
		switch o := o.(type) {
		case *corev1.Node:
			return names[o.Name]
		case *corev1.Pod:
			job, known := jobs.of(o)
			return evictions[job] || names[o.Spec.NodeName] && !known
		}
		return false
	})
	for i, o := range a.Objects {
		if p, ok := o.(*corev1.Pod); ok && names[p.Spec.NodeName] {
			a.Objects[i] = unbound(p)
		}
	}
}

// placedOn returns the hosts among those given on which a workload has a topology placement.
func placedOn(w *kueue.Workload, hosts map[string]bool) (on []string) {
	if w.Status.Admission == nil {
		return nil
	}
	for i := range w.Status.Admission.PodSetAssignments {
		for _, d := range admission.Placed(&w.Status.Admission.PodSetAssignments[i]) {
			if n := len(d.Levels); n > 0 && hosts[d.Levels[n-1]] && !slices.Contains(on, d.Levels[n-1]) {
				on = append(on, d.Levels[n-1])
			}
		}
	}
	return on
}

// unhealthyWith are the failed nodes of a workload with more of them. Kueue looks for another place for one, and evicts a
// workload with several (handleUnhealthyNode in node_controller.go).
func unhealthyWith(w *kueue.Workload, lost []string) []kueue.UnhealthyNode {
	out := slices.Clone(w.Status.UnhealthyNodes)
	for _, name := range lost {
		if !slices.ContainsFunc(out, func(n kueue.UnhealthyNode) bool { return n.Name == name }) {
			out = append(out, kueue.UnhealthyNode{Name: name})
		}
	}
	return out
}

// evicted returns a workload that waits again after an eviction because of its nodes.
func evicted(old *kueue.Workload, w World) *kueue.Workload {
	c := *old
	c.Status = *old.Status.DeepCopy()
	c.Status.Admission, c.Status.UnhealthyNodes = nil, nil
	at := metav1.NewTime(w.Now)
	c.Status.Conditions = []metav1.Condition{
		{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: kueue.WorkloadQuotaReservedReasonPendingEvaluation, Message: "its node is removed", LastTransitionTime: at},
		{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: kueue.WorkloadEvictedDueToNodeFailures, Message: "its node is removed", LastTransitionTime: at},
		{Type: kueue.WorkloadRequeued, Status: metav1.ConditionTrue, Reason: kueue.WorkloadEvictedDueToNodeFailures, LastTransitionTime: at},
	}
	return &c
}

// addNodes adds copies of a node of the instance type.
func (a *applied) addNodes(c Change) error {
	nodes := a.ofType(c.Target)
	if len(nodes) == 0 {
		e := notFound(anInstanceType, c.Target, a.nodeNames())
		e.Copied = true
		return e
	}
	like := nodes[len(nodes)-1]
	for _, n := range nodes {
		if inputs.Healthy(n) {
			like = n
		}
	}
	names, number := a.nodeNames(), 0
	for range c.Count {
		name := ""
		for name == "" || names[name] {
			number++
			name = fmt.Sprintf("new-%s-%d", c.Target, number)
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		for k, v := range like.Labels {
			n.Labels[k] = v
		}
		if n.Labels[corev1.LabelHostname] != "" {
			n.Labels[corev1.LabelHostname] = n.Name
		}
		if n.Labels[kinds.NodeHealthLabel] != "" {
			n.Labels[kinds.NodeHealthLabel] = kinds.NodeHealthy
		}
		for _, t := range like.Spec.Taints {
			if !strings.HasPrefix(t.Key, conditionTaint) {
				n.Spec.Taints = append(n.Spec.Taints, t)
			}
		}
		n.Status.Allocatable, n.Status.Capacity = like.Status.Allocatable, like.Status.Capacity
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		a.Objects = append(a.Objects, n)
	}
	a.note(Note{Code: NodesAdded, Count: c.Count, Node: like.Name})
	return nil
}

// conditionTaint begins the keys of the taints by which Kubernetes keeps
// pods off an unhealthy or cordoned node.
const conditionTaint = "node.kubernetes.io/"
