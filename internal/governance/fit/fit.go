// Package fit decides whether the pods of a job fit on nodes: quota can allow what no
// node can hold. It follows the filters of kube-scheduler that matter to training jobs
// (Ready and not cordoned, node selector and required affinity, taints, free resources)
// and places the whole gang first-fit, without changing anything.
//
// It does not follow affinity between pods, topology spread, volumes bound to a zone,
// host ports and resource claims. First-fit can miss a packing of unlike pods; a gang
// has like pods.
package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Why a job with quota cannot run on the nodes.
const (
	// NodesFull: its pods do not fit beside those that run.
	NodesFull = "NodesFull"
	// NodesTooSmall: its pods would not fit even on empty nodes.
	NodesTooSmall = "NodesTooSmall"
)

// The words of Reason.Reason.
const (
	NotReady     = "NotReady"           // the node's Ready condition does not hold
	Cordoned     = "Cordoned"           // the node takes no new pods
	Unhealthy    = "Unhealthy"          // HyperPod marks the node as unhealthy: see its health label
	WrongNode    = "NotSelected"        // node selector or affinity of the pods
	WrongFlavor  = "NotOfFlavor"        // the node is not of the flavor that gives the quota
	WrongDomain  = "NotInTopology"      // outside the topology domains chosen for the pods
	Tainted      = "Tainted"            // a taint the pods do not tolerate
	Insufficient = "InsufficientFree"   // too little is free of a resource
	TooSmall     = "InsufficientOnNode" // the node has too little of a resource even when empty
	TooManyPods  = "TooManyPods"        // the node runs as many pods as it may
)

// Group is a number of equal pods.
type Group struct {
	Name  string
	Count int
	Spec  corev1.PodSpec
	// NodeLabels and Tolerations are the flavors' that Kueue adds to the pods.
	NodeLabels  map[string]string
	Tolerations []corev1.Toleration
	// Hosts, when not empty, names how many pods go to which node: a topology
	// placement that ends at nodes.
	Hosts map[string]int
	// Domain, when not empty, are sets of labels; a node must have one set. It is a
	// topology placement that ends above nodes.
	Domain []map[string]string
}

// Reason is why a number of nodes cannot take a pod.
type Reason struct {
	Reason string
	Nodes  int
	// Resource, Needed and Most are set for InsufficientFree and
	// InsufficientOnNode: what one pod needs, and the most that one of these nodes
	// has (of it free beside the pods that fit, or at all), in base units
	// (cpu in cores).
	Resource     string     `json:",omitempty"`
	Needed, Most quota.Base `json:",omitempty"`
	// Message is the taint, the health label's value, or the requirements on labels that the nodes do not meet.
	Message string `json:",omitempty"`
}

// Placement is the result for one group.
type Placement struct {
	PodSet     string
	Pods       int
	PodsPlaced int      // pods that fit
	Nodes      int      // nodes with placed pods
	Reasons    []Reason `json:",omitempty"` // why not more
}

// Result is the result of Place.
type Result struct {
	// Fits reports that every pod of every group fits.
	Fits   bool
	Groups []Placement
}

// Cluster is the nodes and what is free on them.
type Cluster struct{ nodes []node }

type node struct {
	*corev1.Node
	size amounts // allocatable
	free amounts // of it; shared with others as long as nothing was taken
	own  bool    // free is this node's alone
	pods int64   // number of further pods
}

// amounts are in thousandths for cpu, else whole.
type amounts map[corev1.ResourceName]int64

func amount(name corev1.ResourceName, list corev1.ResourceList) int64 {
	return quota.AmountOf(string(name), list[name])
}

func base(name corev1.ResourceName, n int64) quota.Base { return quota.BaseOf(string(name), n) }

func amountsOf(list corev1.ResourceList) amounts {
	out := make(amounts, len(list))
	for name := range list {
		out[name] = amount(name, list)
	}
	return out
}

// New returns the cluster with the pods that are on nodes, without those that ignore
// reports (pods to be preempted); ignore may be nil.
func New(nodes []*corev1.Node, pods []*corev1.Pod, ignore func(*corev1.Pod) bool) *Cluster {
	c := &Cluster{nodes: make([]node, len(nodes))}
	at := make(map[string]*node, len(nodes))
	for i, n := range nodes {
		size := amountsOf(n.Status.Allocatable)
		c.nodes[i] = node{Node: n, size: size, free: size, pods: math.MaxInt64}
		if most, ok := n.Status.Allocatable[corev1.ResourcePods]; ok {
			c.nodes[i].pods = most.Value()
		}
		at[n.Name] = &c.nodes[i]
	}
	for _, p := range pods {
		n := at[p.Spec.NodeName]
		if n == nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || ignore != nil && ignore(p) {
			continue
		}
		n.take(requestsOf(&p.Spec), 1)
	}
	slices.SortStableFunc(c.nodes, func(a, b node) int { return cmp.Compare(a.Name, b.Name) })
	return c
}

// Having counts the nodes with all of the labels.
func (c *Cluster) Having(labels map[string]string) int {
	n := 0
	for i := range c.nodes {
		if has(c.nodes[i].Labels, labels) {
			n++
		}
	}
	return n
}

func (n *node) take(request amounts, times int64) {
	if !n.own {
		n.free, n.own = maps.Clone(n.free), true
	}
	for name, a := range request {
		n.free[name] -= a * times
	}
	n.pods -= times
}

// Bind places the groups as Place does, and the pods that fit stay on the nodes.
func (c *Cluster) Bind(groups []Group) Result {
	out, nodes := c.put(groups, false)
	c.nodes = nodes
	return out
}

// Place puts the groups on the nodes, the largest pods first. With empty, it ignores
// what passes with time: running pods, and nodes that are not ready, cordoned or
// excluded for their health. The cluster does not change.
func (c *Cluster) Place(groups []Group, empty bool) Result {
	out, _ := c.put(groups, empty)
	return out
}

// put places the groups on a copy of the nodes.
func (c *Cluster) put(groups []Group, empty bool) (Result, []node) {
	nodes := make([]node, len(c.nodes))
	for i, n := range c.nodes {
		n.own = false
		if empty {
			n.free, n.pods = n.size, math.MaxInt64
			if most, ok := n.size[corev1.ResourcePods]; ok {
				n.pods = most
			}
		}
		nodes[i] = n
	}
	order := make([]int, len(groups))
	requests := make([]amounts, len(groups))
	for i := range groups {
		order[i] = i
		requests[i] = requestsOf(&groups[i].Spec)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(requests[b]), size(requests[a])) })
	out := Result{Fits: true, Groups: make([]Placement, len(groups))}
	for _, i := range order {
		out.Groups[i] = place(nodes, &groups[i], requests[i], empty)
		out.Fits = out.Fits && out.Groups[i].PodsPlaced >= groups[i].Count
	}
	return out, nodes
}

// size orders pods: devices count more than any cpu or memory.
func size(a amounts) int64 {
	var devices, rest int64
	for name, n := range a {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
			rest += n >> 20
		default:
			devices += n
		}
	}
	return devices<<32 + rest
}

func place(nodes []node, g *Group, request amounts, empty bool) Placement {
	out := Placement{PodSet: g.Name, Pods: g.Count}
	pod := &corev1.Pod{Spec: g.Spec}
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	tolerations := append(slices.Clone(g.Spec.Tolerations), g.Tolerations...)
	var demands []demand
	tally := map[Reason]*Reason{}
	note := func(r Reason) {
		key := Reason{Reason: r.Reason, Resource: r.Resource, Message: r.Message}
		if tally[key] == nil {
			tally[key] = &r
			tally[key].Nodes = 0
		}
		tally[key].Nodes++
		tally[key].Most = max(tally[key].Most, r.Most)
	}
	for i := range nodes {
		n := &nodes[i]
		left := g.Count - out.PodsPlaced
		if left == 0 {
			break
		}
		if len(g.Hosts) > 0 {
			left = min(left, g.Hosts[n.Name])
		}
		if r, ok := refuses(n, g, required, tolerations, empty); !ok {
			if r.Reason == WrongNode {
				if demands == nil {
					demands = demandsOf(&g.Spec)
				}
				r.Message = unmet(demands, n.Node)
			}
			note(r)
			continue
		}
		k, why := capacity(n, request, int64(left))
		if k > 0 {
			n.take(request, k)
			out.PodsPlaced += int(k)
			out.Nodes++
		}
		if k < int64(left) {
			if why.Reason == Insufficient {
				why.Most -= quota.Base(k) * why.Needed // what the pods above leave
			}
			note(why)
		}
	}
	if out.PodsPlaced < g.Count {
		for _, r := range tally {
			out.Reasons = append(out.Reasons, *r)
		}
		slices.SortFunc(out.Reasons, func(a, b Reason) int {
			return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Message, b.Message))
		})
	}
	return out
}

// refuses returns why a node takes no pod whatever is free on it, and false; true for a
// node that qualifies. With empty, it ignores what passes with time.
func refuses(n *node, g *Group, required nodeaffinity.RequiredNodeAffinity, tolerations []corev1.Toleration, empty bool) (Reason, bool) {
	if !has(n.Labels, g.NodeLabels) {
		return Reason{Reason: WrongFlavor}, false
	}
	if match, err := required.Match(n.Node); err != nil || !match {
		return Reason{Reason: WrongNode}, false
	}
	if !empty {
		if r, ok := resting(n, tolerations); ok {
			return r, false
		}
	}
	taint, found := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, tolerations, func(t *corev1.Taint) bool {
		if empty && passing(t.Key) {
			return false
		}
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
	if found {
		return Reason{Reason: Tainted, Message: taint.ToString()}, false
	}
	if len(g.Hosts) > 0 && g.Hosts[n.Name] == 0 {
		return Reason{Reason: WrongDomain}, false
	}
	if len(g.Domain) > 0 && !slices.ContainsFunc(g.Domain, func(d map[string]string) bool { return has(n.Labels, d) }) {
		return Reason{Reason: WrongDomain}, false
	}
	return Reason{}, true
}

// passing reports the taints that Kubernetes and HyperPod set for the present condition
// of a node, and remove again.
func passing(key string) bool {
	switch key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable, corev1.TaintNodeMemoryPressure,
		kinds.NodeHealthLabel, corev1.TaintNodeDiskPressure, corev1.TaintNodeNetworkUnavailable, corev1.TaintNodePIDPressure, corev1.TaintNodeOutOfService:
		return true
	}
	return false
}

// resting returns why a node takes no pods for the time being.
func resting(n *node, tolerations []corev1.Toleration) (Reason, bool) {
	if !Ready(n.Node) {
		return Reason{Reason: NotReady}, true
	}
	if n.Spec.Unschedulable && !toleratesCordon(tolerations) {
		return Reason{Reason: Cordoned}, true
	}
	if h := n.Labels[kinds.NodeHealthLabel]; h != "" && h != kinds.NodeHealthy {
		return Reason{Reason: Unhealthy, Message: h}, true
	}
	return Reason{}, false
}

// capacity returns how many pods of a request a node takes, up to most, and the reason
// that it takes no more.
func capacity(n *node, request amounts, most int64) (int64, Reason) {
	k, why := most, Reason{}
	if n.pods < k {
		k, why = max(n.pods, 0), Reason{Reason: TooManyPods}
	}
	// Devices first: of several resources that are short, they are what people know.
	names := make([]corev1.ResourceName, 0, len(request))
	for name := range request {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b corev1.ResourceName) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		need := request[name]
		if need <= 0 {
			continue
		}
		if fits := max(n.free[name], 0) / need; fits < k {
			k = fits
			why = Reason{Reason: Insufficient, Resource: string(name), Needed: base(name, need), Most: base(name, max(n.free[name], 0))}
			if n.size[name] < need {
				why.Reason, why.Most = TooSmall, base(name, n.size[name])
			}
		}
	}
	return k, why
}

func rank(name corev1.ResourceName) int {
	switch name {
	case corev1.ResourceCPU:
		return 1
	case corev1.ResourceMemory:
		return 2
	case corev1.ResourceEphemeralStorage:
		return 3
	}
	return 0
}

// Ready reports whether a node has the condition Ready.
func Ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func toleratesCordon(tolerations []corev1.Toleration) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Background(), tolerations,
		&corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, false)
}

func has(labels, want map[string]string) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return true
}
