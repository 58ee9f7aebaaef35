package control

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	corehelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// space is a node with its free resources.
type space struct {
	node *corev1.Node
	free corev1.ResourceList
}

// placePods binds every unscheduled pod to the first node that it fits on, where it
// runs at once. It replaces the scheduler and the kubelets.
func (s *sim) placePods() error {
	if err := s.startHeld(); err != nil {
		return err
	}
	var waiting []*store.Object
	pods := s.st.List(kinds.Pod.FullName(), "")
	for _, p := range pods {
		if object.Text(p.Map(), "spec", "nodeName") == "" && object.Text(p.Map(), "status", "phase") == "Pending" &&
			len(object.List(p.Map(), "spec", "schedulingGates")) == 0 {
			waiting = append(waiting, p)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	slices.SortFunc(waiting, func(a, b *store.Object) int { return cmp.Compare(a.RV, b.RV) })
	nodes, err := s.spaces(pods)
	if err != nil {
		return err
	}
	for _, o := range waiting {
		pod, err := typed[corev1.Pod](o)
		if err != nil {
			return fmt.Errorf("Pod %s/%s: %w", o.Namespace, o.Name, err)
		}
		where, why := "", s.noClaim(pod)
		if why == "" {
			where, why = place(pod, nodes)
		} else {
			why = fmt.Sprintf("0/%d nodes are available: %s.", len(nodes), why)
		}
		m := o.Copy()
		if where == "" {
			err = s.unschedulable(o, m, why)
		} else {
			object.Set(m, where, "spec", "nodeName")
			s.event(o, "Normal", "Scheduled", fmt.Sprintf("Successfully assigned %s/%s to %s", o.Namespace, o.Name, where))
			err = s.startPod(o, m, pod, where)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropLost removes pods on nodes that no longer exist, like the pod garbage collector.
func (s *sim) dropLost() error {
	for _, p := range s.st.List(kinds.Pod.FullName(), "") {
		if n := object.Text(p.Map(), "spec", "nodeName"); n != "" && s.st.Get(kinds.Node.FullName(), "", n) == nil {
			s.st.Collect(kinds.Pod.FullName(), p)
		}
	}
	return nil
}

func (s *sim) unschedulable(o *store.Object, m map[string]any, why string) error {
	if object.Text(object.Condition(m, "PodScheduled"), "message") == why {
		return nil
	}
	object.Set(m, []any{map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why,
		"lastTransitionTime": object.Stamp(s.now)}}, "status", "conditions")
	s.event(o, "Warning", "FailedScheduling", why)
	_, err := s.put(kinds.Pod.FullName(), m)
	return err
}

// spaces returns the nodes, sorted by name, with their free resources.
func (s *sim) spaces(pods []*store.Object) ([]*space, error) {
	var out []*space
	byName := map[string]*space{}
	for _, o := range s.st.List(kinds.Node.FullName(), "") {
		n, err := typed[corev1.Node](o)
		if err != nil {
			return nil, fmt.Errorf("Node %s: %w", o.Name, err)
		}
		sp := &space{node: n, free: maps.Clone(n.Status.Allocatable)}
		out, byName[o.Name] = append(out, sp), sp
	}
	for _, o := range pods {
		sp := byName[object.Text(o.Map(), "spec", "nodeName")]
		phase := object.Text(o.Map(), "status", "phase")
		if sp == nil || phase == "Succeeded" || phase == "Failed" {
			continue
		}
		pod, err := typed[corev1.Pod](o)
		if err != nil {
			return nil, fmt.Errorf("Pod %s/%s: %w", o.Namespace, o.Name, err)
		}
		sp.take(requests(pod))
	}
	return out, nil
}

func requests(pod *corev1.Pod) corev1.ResourceList {
	r := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	if r == nil {
		r = corev1.ResourceList{}
	}
	r[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return r
}

func (sp *space) take(r corev1.ResourceList) {
	for name, q := range r {
		have := sp.free[name]
		have.Sub(q)
		sp.free[name] = have
	}
}

// place returns the first node that a pod fits on and reserves its resources there. If
// the pod fits on no node, it returns the reason in the scheduler's words.
func place(pod *corev1.Pod, nodes []*space) (node, why string) {
	want := requests(pod)
	reasons := map[string]int{}
	for _, sp := range nodes {
		misfits := sp.misfits(pod, want)
		if len(misfits) == 0 {
			sp.take(want)
			return sp.node.Name, ""
		}
		for _, r := range misfits {
			reasons[r]++
		}
	}
	var parts []string
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		parts = append(parts, fmt.Sprintf("%d %s", reasons[r], r))
	}
	if len(parts) == 0 {
		return "", "no nodes available to schedule pods"
	}
	return "", fmt.Sprintf("0/%d nodes are available: %s.", len(nodes), strings.Join(parts, ", "))
}

// misfits returns why a pod does not fit on a node: the reasons of the first filter that
// rejects it, like the scheduler.
func (sp *space) misfits(pod *corev1.Pod, want corev1.ResourceList) []string {
	if sp.node.Spec.Unschedulable && !corehelper.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations,
		&corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, true) {
		return []string{"node(s) were unschedulable"}
	}
	if !ready(sp.node) {
		return []string{"node(s) were not ready"}
	}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(sp.node); err != nil || !ok {
		return []string{"node(s) didn't match Pod's node affinity/selector"}
	}
	if taint, found := corehelper.FindMatchingUntoleratedTaint(klog.Background(), sp.node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, true); found {
		return []string{fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value)}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		have := sp.free[name]
		if q := want[name]; have.Cmp(q) < 0 {
			out = append(out, "Insufficient "+string(name))
		}
	}
	return out
}

// ready reports whether a node is ready. A node without conditions is ready, so that a
// minimal object is enough to add a node.
func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// podAddress returns an invented IP address, always the same for one name.
func podAddress(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	n := h.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", 1+n>>16&0x7f, n>>8&0xff, 1+n&0x7f)
}
