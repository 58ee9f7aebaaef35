package check

import (
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

// Reasons of layer e, and of a verdict that it decides.
const (
	// NodesFull: quota would be given, but the pods would find no room now.
	NodesFull = "NodesFull"
	// NodesTooSmall: the pods would find no room even if nothing else ran.
	NodesTooSmall = "NodesTooSmall"
	// NoNodes: there is no node of the flavor.
	NoNodes = "NoNodes"
)

// topology is layer d.
func (c *Checker) topology(wl *kueue.Workload, d *admission.Decision) *Topology {
	t := &Topology{Status: OK, Domains: []Domain{}}
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
	asked := t.Level != ""
	for _, ps := range d.PodSets {
		for _, dom := range ps.Domains {
			asked = true
			t.Domains = append(t.Domains, Domain{PodSet: ps.Name, Levels: dom.Levels, Pods: dom.Count})
		}
	}
	if d.Reason == kueue.WorkloadQuotaReservedReasonTopologyPlacementFailed {
		asked = true
		t.Status, t.Message = Failed, d.Message
	} else if len(t.Domains) == 0 {
		t.Status = Unclear
	}
	if !asked {
		return nil
	}
	return t
}

// nodes is layer e: whether the pods find room, given the flavors of a decision.
func (c *Checker) nodes(wl *kueue.Workload, d *admission.Decision) Nodes {
	switch {
	case len(c.In.Nodes) == 0 && c.unread(kinds.Node):
		return Nodes{Status: Unclear, Message: "nodes " + c.In.WhyUnread(kinds.Node, "are")}
	case c.unread(kinds.Pod):
		return Nodes{Status: Unclear, Message: "the pods on the nodes " + c.In.WhyUnread(kinds.Pod, "are")}
	case len(c.In.Nodes) == 0:
		return Nodes{Status: Failed, Reason: NoNodes, Message: "the cluster has no nodes"}
	}
	if c.room == nil {
		c.room = fit.New(c.In.Nodes, c.In.Pods, nil)
	}
	cluster := c.room
	if d != nil && len(d.Preempts) > 0 {
		cluster = fit.New(c.In.Nodes, c.In.Pods, c.podsOf(d.Preempts))
	}
	var best Nodes
	for i, groups := range c.groups(wl, d) {
		n := placed(cluster, groups)
		if i == 0 || better(n, best) {
			best = n
		}
	}
	return best
}

func placed(cluster *fit.Cluster, groups []fit.Group) Nodes {
	now := cluster.Place(groups, false)
	n := Nodes{Status: OK, Placements: now.Groups, EmptyCluster: true}
	if now.Fits {
		return n
	}
	n.Status, n.Reason = Failed, NodesFull
	if empty := cluster.Place(groups, true); !empty.Fits {
		n.EmptyCluster, n.Reason = false, NodesTooSmall
		n.Placements = empty.Groups
		if !slices.ContainsFunc(groups, func(g fit.Group) bool { return len(g.NodeLabels) == 0 || cluster.Having(g.NodeLabels) > 0 }) {
			n.Reason = NoNodes
		}
	}
	return n
}

// better prefers room now to room on empty nodes to none.
func better(a, b Nodes) bool {
	rank := func(n Nodes) int {
		switch {
		case n.Status == OK:
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

// groups are the pods to place: with the flavors that were decided, or, where
// none was, with each flavor that could give the first resource.
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
				c.place(&g, ps, d)
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
	// undecided pod sets ask for something and got no flavor.
	undecided := func(ps *kueue.PodSet) bool {
		return len(decided[string(ps.Name)]) == 0 && asksFor(ps, nil)
	}
	ofDecision := func(ps *kueue.PodSet) []string { return decided[string(ps.Name)] }
	if d == nil || !slices.ContainsFunc(wl.Spec.PodSets, func(ps kueue.PodSet) bool { return undecided(&ps) }) {
		return [][]fit.Group{build(ofDecision)}
	}
	var out [][]fit.Group
	if cq := c.In.ClusterQueue(d.ClusterQueue); cq != nil {
		for _, g := range cq.Spec.ResourceGroups {
			takes := func(ps *kueue.PodSet) bool { return undecided(ps) && asksFor(ps, g.CoveredResources) }
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

// asksFor reports a pod set that requests one of the resources; any, when names is nil.
func asksFor(ps *kueue.PodSet, names []corev1.ResourceName) bool {
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

// place adds the topology domains that were decided.
func (c *Checker) place(g *fit.Group, ps *kueue.PodSet, d *admission.Decision) {
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

// levels are the node labels of the flavors' topology, highest first.
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

// nodeNamed is the node with a host name label, which is mostly the node's name.
func (c *Checker) nodeNamed(host string) string {
	for _, n := range c.In.Nodes {
		if n.Labels[corev1.LabelHostname] == host {
			return n.Name
		}
	}
	return host
}

// podsOf tells the pods of workloads that would be evicted.
func (c *Checker) podsOf(victims []admission.Preemption) func(*corev1.Pod) bool {
	type owner struct{ namespace, uid string }
	owners := map[owner]bool{}
	pods := map[owner]bool{} // victims that are plain pods
	selectors := map[string][]labels.Selector{}
	for _, v := range victims {
		w := c.In.Workload(v.Namespace, v.Name)
		if w == nil {
			continue
		}
		o := metav1.GetControllerOf(w)
		if o == nil {
			continue
		}
		if o.Kind == kinds.Pod.Kind && o.APIVersion == kinds.Pod.GroupVersion() {
			pods[owner{v.Namespace, string(o.UID)}] = true
			continue
		}
		owners[owner{v.Namespace, string(o.UID)}] = true
		if k, ok := kinds.JobFor(o.APIVersion, o.Kind); ok {
			text := k.PodSelector(map[string]any{"metadata": map[string]any{"name": o.Name}})
			if s, err := labels.Parse(text); err == nil && strings.TrimSpace(text) != "" {
				selectors[v.Namespace] = append(selectors[v.Namespace], s)
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
