package check

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Reasons of the nodes layer.
const (
	NodesFull     = fit.NodesFull
	NodesTooSmall = fit.NodesTooSmall
	// NoNodes means that the flavor has no nodes.
	NoNodes = "NoNodes"
)

// topology returns the placement by topology, nil where none is requested.
func (c *Checker) topology(wl *kueue.Workload, d *admission.Decision) *Topology {
	t := &Topology{Status: StatusOK, Domains: []Domain{}}
	for i := range wl.Spec.PodSets {
		if r := wl.Spec.PodSets[i].TopologyRequest; r != nil {
			if r.Required != nil {
				t.Level = *r.Required
			} else if r.Preferred != nil {
				t.Level = *r.Preferred
			}
		}
	}
	if d == nil {
		return nil
	}
	requestedNames := t.Level != ""
	for _, ps := range d.PodSets {
		for _, dom := range ps.Domains {
			requestedNames = true
			t.Domains = append(t.Domains, Domain{PodSet: ps.Name, Levels: dom.Levels, Pods: dom.Count})
		}
	}
	if d.Reason == kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed {
		requestedNames = true
		t.Status, t.Message = StatusFailed, d.Message
	} else if len(t.Domains) == 0 {
		t.Status = StatusUnknown
	}
	if !requestedNames {
		return nil
	}
	return t
}

// placement reports whether the pods fit on nodes, with the flavors of a decision: all pods of the workload, or those that
// join it.
func (c *Checker) placement(wl *kueue.Workload, d *admission.Decision, joins *joined) Nodes {
	switch {
	case len(c.In.Nodes) == 0 && c.unread(kinds.Node):
		return Nodes{Status: StatusUnknown, Unread: kinds.Node}
	case c.unread(kinds.Pod):
		return Nodes{Status: StatusUnknown, Unread: kinds.Pod}
	case len(c.In.Nodes) == 0:
		return Nodes{Status: StatusFailed, Reason: NoNodes}
	}
	var targets []admission.Preemption
	if d != nil {
		targets = d.Preempts
	}
	cluster := c.cluster(targets)
	var best Nodes
	for i, groups := range c.groups(wl, d) {
		n := place(cluster, joins.only(groups))
		if i == 0 || better(n, best) {
			best = n
		}
	}
	return best
}

// only returns the groups with only the pods that join a pod group; as they are for a workload without quota.
func (j *joined) only(groups []fit.Group) (out []fit.Group) {
	if j == nil || !j.holds {
		return groups
	}
	for _, g := range groups {
		if g.Count = j.pods[kueue.PodSetReference(g.Name)]; g.Count == 0 {
			continue
		}
		if g.Hosts != nil {
			g.Hosts = maps.Clone(g.Hosts)
			for name := range g.Hosts {
				g.Hosts[name] = max(0, g.Hosts[name]-j.on[kueue.PodSetReference(g.Name)][name])
			}
		}
		out = append(out, g)
	}
	return out
}

// place puts the groups on the nodes as they are, else on empty nodes.
func place(cluster *fit.Cluster, groups []fit.Group) Nodes {
	now := cluster.Place(groups, false)
	n := Nodes{Status: StatusOK, Placements: now.Groups, EmptyCluster: true}
	if now.Fits {
		return n
	}
	n.Status, n.Reason = StatusFailed, NodesFull
	if empty := cluster.Place(groups, true); !empty.Fits {
		n.EmptyCluster, n.Reason = false, NodesTooSmall
		n.Placements = empty.Groups
		if !slices.ContainsFunc(groups, func(g fit.Group) bool { return len(g.NodeLabels) == 0 || cluster.Having(g.NodeLabels) > 0 }) {
			n.Reason = NoNodes
		}
	}
	return n
}

// better prefers pods that fit now, then pods that fit on empty nodes.
func better(a, b Nodes) bool {
	rank := func(n Nodes) int {
		switch {
		case n.Status == StatusOK:
			return 0
		case n.EmptyCluster:
			return 1
		case n.Reason == NoNodes:
			return 3
		}
		return 2
	}
	return rank(a) < rank(b)
}

// groups returns the pods to place: with the flavors of the decision or, where it has
// none, with each flavor that could provide the first resource.
func (c *Checker) groups(wl *kueue.Workload, d *admission.Decision) [][]fit.Group {
	build := func(flavorsOf func(*kueue.PodSet) []string) []fit.Group {
		var out []fit.Group
		for i := range wl.Spec.PodSets {
			ps := &wl.Spec.PodSets[i]
			g := fit.Group{Name: string(ps.Name), Count: int(ps.Count), Spec: ps.Template.Spec, NodeLabels: map[string]string{}}
			for _, name := range flavorsOf(ps) {
				if f := c.In.Flavor(name); f != nil {
					for k, v := range f.Spec.NodeLabels {
						g.NodeLabels[k] = v
					}
					g.Tolerations = append(g.Tolerations, f.Spec.Tolerations...)
				}
			}
			if d != nil {
				c.assign(&g, ps, d)
			}
			out = append(out, g)
		}
		return out
	}
	decided := map[string][]string{}
	if d != nil {
		for _, ps := range d.PodSets {
			for _, f := range ps.Flavors {
				if !slices.Contains(decided[ps.Name], f) {
					decided[ps.Name] = append(decided[ps.Name], f)
				}
			}
		}
	}
	// undecided pod sets have requests and no flavor.
	undecided := func(ps *kueue.PodSet) bool {
		return len(decided[string(ps.Name)]) == 0 && requestsAny(ps, nil)
	}
	ofDecision := func(ps *kueue.PodSet) []string { return decided[string(ps.Name)] }
	if d == nil || !slices.ContainsFunc(wl.Spec.PodSets, func(ps kueue.PodSet) bool { return undecided(&ps) }) {
		return [][]fit.Group{build(ofDecision)}
	}
	var out [][]fit.Group
	if cq := c.In.ClusterQueue(d.ClusterQueue); cq != nil {
		for _, g := range cq.Spec.ResourceGroups {
			takes := func(ps *kueue.PodSet) bool { return undecided(ps) && requestsAny(ps, g.CoveredResources) }
			if !slices.ContainsFunc(wl.Spec.PodSets, func(ps kueue.PodSet) bool { return takes(&ps) }) {
				continue
			}
			for _, f := range g.Flavors {
				out = append(out, build(func(ps *kueue.PodSet) []string {
					if takes(ps) {
						return []string{string(f.Name)}
					}
					return ofDecision(ps)
				}))
			}
		}
	}
	if len(out) == 0 {
		out = append(out, build(ofDecision))
	}
	return out
}

// requestsAny reports whether a pod set requests one of the resources, or any when names is
// nil.
func requestsAny(ps *kueue.PodSet, names []corev1.ResourceName) bool {
	for _, c := range ps.Template.Spec.Containers {
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			for n, q := range list {
				if !q.IsZero() && (names == nil || slices.Contains(names, n)) {
					return true
				}
			}
		}
	}
	return false
}

// assign adds the topology domains of the decision to a group.
func (c *Checker) assign(g *fit.Group, ps *kueue.PodSet, d *admission.Decision) {
	for _, dec := range d.PodSets {
		if dec.Name != g.Name {
			continue
		}
		if dec.Count > 0 {
			g.Count = int(dec.Count)
		}
		levels := c.levels(dec.Flavors)
		if len(dec.Domains) == 0 || len(levels) == 0 {
			continue
		}
		for _, dom := range dec.Domains {
			if levels[len(levels)-1] == corev1.LabelHostname {
				if g.Hosts == nil {
					g.Hosts = map[string]int{}
				}
				g.Hosts[c.nodeNamed(dom.Levels[len(dom.Levels)-1])] += int(dom.Count)
				continue
			}
			at := map[string]string{}
			for i := range min(len(levels), len(dom.Levels)) {
				at[levels[i]] = dom.Levels[i]
			}
			g.Domain = append(g.Domain, at)
		}
	}
}

// levels returns the node labels of the flavors' topology, highest first.
func (c *Checker) levels(flavors map[string]string) []string {
	for _, name := range flavors {
		f := c.In.Flavor(name)
		if f == nil || f.Spec.TopologyName == nil {
			continue
		}
		for _, t := range c.In.Topologies {
			if t.Name == string(*f.Spec.TopologyName) {
				var out []string
				for _, l := range t.Spec.Levels {
					out = append(out, l.NodeLabel)
				}
				return out
			}
		}
	}
	return nil
}

// nodeNamed returns the name of the node with a host name label; the two mostly agree.
func (c *Checker) nodeNamed(host string) string {
	for _, n := range c.In.Nodes {
		if n.Labels[corev1.LabelHostname] == host {
			return n.Name
		}
	}
	return host
}

// nodesOf returns the number of nodes that the pods of a workload run on.
func (c *Checker) nodesOf(p admission.Preemption) int {
	its, nodes := c.podsOf([]admission.Preemption{p}), map[string]bool{}
	for _, pod := range c.In.Pods {
		if pod.Spec.NodeName != "" && its(pod) {
			nodes[pod.Spec.NodeName] = true
		}
	}
	return len(nodes)
}

// podsOf returns the function that reports the pods of workloads to be preempted.
func (c *Checker) podsOf(targets []admission.Preemption) func(*corev1.Pod) bool {
	type owner struct{ namespace, uid string }
	owners := map[owner]bool{}
	pods := map[owner]bool{} // targets that are plain pods
	selectors := map[string][]labels.Selector{}
	for _, t := range targets {
		w := c.In.Workload(t.Namespace, t.Name)
		if w == nil {
			continue
		}
		for _, o := range w.OwnerReferences { // of a pod group
			if o.Kind == kinds.Pod.Kind && o.APIVersion == kinds.Pod.GroupVersion() {
				pods[owner{t.Namespace, string(o.UID)}] = true
			}
		}
		o := metav1.GetControllerOf(w)
		if o == nil || pods[owner{t.Namespace, string(o.UID)}] {
			continue
		}
		owners[owner{t.Namespace, string(o.UID)}] = true
		if k, ok := kinds.JobFor(o.APIVersion, o.Kind); ok {
			text := k.PodSelector(map[string]any{"metadata": map[string]any{"name": o.Name}})
			if s, err := labels.Parse(text); err == nil && strings.TrimSpace(text) != "" {
				selectors[t.Namespace] = append(selectors[t.Namespace], s)
			}
		}
	}
	return func(p *corev1.Pod) bool {
		if p.UID != "" && pods[owner{p.Namespace, string(p.UID)}] {
			return true
		}
		if o := metav1.GetControllerOf(p); o != nil && owners[owner{p.Namespace, string(o.UID)}] {
			return true
		}
		return slices.ContainsFunc(selectors[p.Namespace], func(s labels.Selector) bool { return s.Matches(labels.Set(p.Labels)) })
	}
}
