package quota

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// oldInstanceTypeLabel is what the flavors of task governance still select by.
const oldInstanceTypeLabel = "beta.kubernetes.io/instance-type"

// NodeGroupLabel names a node's HyperPod instance group.
const NodeGroupLabel = "sagemaker.amazonaws.com/instance-group-name"

// Capacity is what the nodes of one instance type, or of one node group, have.
type Capacity struct {
	Name  string // "" for nodes without the label
	Nodes int
	// AnyType marks the quota of a flavor (Name) that selects no instance type.
	AnyType bool
	// Healthy, Unhealthy and Unknown count the nodes by their HyperPod health label;
	// Unknown ones have none. NotReady and Cordoned ones are counted in these too.
	Healthy, Unhealthy, Unknown int
	NotReady, Cordoned          int
	// Capacity is what all nodes have, Allocatable what they offer to pods, HealthyAllocatable what the healthy nodes
	// offer.
	Capacity, Allocatable, HealthyAllocatable state.Amounts
	// unhealthy is the capacity of the unhealthy nodes.
	unhealthy state.Amounts
	// Reserved is the quota of all teams and cohorts in flavors of this instance
	// type; nil for node groups, which quota does not know.
	Reserved state.Amounts
	// Governed and Ungoverned are the requests of running pods: of jobs that Kueue admitted, and of all others. Nil if
	// pods were not read.
	Governed, Ungoverned state.Amounts
}

// capacities groups the nodes by instance type, with the quota there is for each.
func capacities(s *state.State) []Capacity {
	out := groupNodes(s.Nodes, state.Node.InstanceType)
	flavors := FlavorTypes(s)
	for i := range s.ClusterQueues {
		reserve(out, flavors, quotasOf(&s.ClusterQueues[i]))
	}
	for i := range s.Cohorts {
		reserve(out, flavors, cohortQuotas(&s.Cohorts[i]))
	}
	for _, f := range s.Flavors {
		if c := out[f.Name]; c != nil && c.Nodes == 0 && flavors[f.Name] == "" {
			c.AnyType = true
		}
	}
	return ordered(out)
}

// ByInstanceType returns the capacity by instance type with what pods use of it.
func ByInstanceType(s *state.State) []Capacity {
	out := capacities(s)
	return used(out, s, state.Node.InstanceType)
}

// ByNodeGroup returns the capacity by HyperPod instance group with what pods use of it.
func ByNodeGroup(s *state.State) []Capacity {
	of := func(n state.Node) string { return n.Labels[NodeGroupLabel] }
	return used(ordered(groupNodes(s.Nodes, of)), s, of)
}

func groupNodes(nodes []state.Node, by func(state.Node) string) map[string]*Capacity {
	out := map[string]*Capacity{}
	for _, n := range nodes {
		c := out[by(n)]
		if c == nil {
			c = &Capacity{Name: by(n), Capacity: state.Amounts{}, unhealthy: state.Amounts{}, Allocatable: state.Amounts{}, HealthyAllocatable: state.Amounts{}}
			out[c.Name] = c
		}
		c.Nodes++
		sum(c.Capacity, n.Capacity)
		sum(c.Allocatable, n.Allocatable)
		sum(c.HealthyAllocatable, zeros(n.Allocatable))
		switch n.Labels[kinds.NodeHealthLabel] {
		case "":
			c.Unknown++
		case kinds.NodeHealthy:
			c.Healthy++
			sum(c.HealthyAllocatable, n.Allocatable)
		default:
			c.Unhealthy++
			sum(c.unhealthy, n.Capacity)
		}
		if !n.Ready {
			c.NotReady++
		}
		if n.Unschedulable {
			c.Cordoned++
		}
	}
	return out
}

func sum(to, more state.Amounts) {
	for name, n := range more {
		to[name] = add(to[name], n)
	}
}

// zeros returns nothing of each resource, which is not the same as not known.
func zeros(of state.Amounts) state.Amounts {
	out := make(state.Amounts, len(of))
	for name := range of {
		out[name] = 0
	}
	return out
}

func ordered(in map[string]*Capacity) []Capacity {
	out := make([]Capacity, 0, len(in))
	for _, c := range in {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Capacity) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// FlavorTypes returns the instance type of each flavor: from its node labels, or else the type with the flavor's name.
func FlavorTypes(s *state.State) map[string]string {
	out := map[string]string{}
	for _, f := range s.Flavors {
		if t := InstanceType(f.NodeLabels); t != "" {
			out[f.Name] = t
		}
	}
	return out
}

// InstanceType returns the instance type that labels of nodes or node selectors name, "" for none.
func InstanceType(labels map[string]string) string {
	return cmp.Or(labels[kinds.InstanceTypeLabel], labels[oldInstanceTypeLabel])
}

// quotasOf returns the quota that a ClusterQueue has itself; one that cannot be right
// counts for nothing.
func quotasOf(q *state.ClusterQueue) map[Key]limits {
	if len(Faults(q)) > 0 {
		return nil
	}
	return limitsOf(q.ResourceGroups)
}

// cohortQuotas is quotasOf of a cohort.
func cohortQuotas(c *state.Cohort) map[Key]limits {
	if len(CohortFaults(c)) > 0 {
		return nil
	}
	return limitsOf(c.ResourceGroups)
}

func reserve(to map[string]*Capacity, flavors map[string]string, quotas map[Key]limits) {
	for k, q := range quotas {
		name, ok := flavors[k.Flavor]
		if !ok {
			name = k.Flavor
		}
		c := to[name]
		if c == nil {
			if q.nominal == 0 {
				continue // flavors of types outside the quota are listed with 0
			}
			c = &Capacity{Name: name, Capacity: state.Amounts{}, Allocatable: state.Amounts{}, HealthyAllocatable: state.Amounts{}}
			to[name] = c
		}
		if c.Reserved == nil {
			c.Reserved = state.Amounts{}
		}
		c.Reserved[k.Resource] = add(c.Reserved[k.Resource], q.nominal)
	}
}

// used adds what running pods use, if pods could be read.
func used(out []Capacity, s *state.State, by func(state.Node) string) []Capacity {
	if !readable(s, kinds.Pod) {
		return out
	}
	where := map[string]int{} // index in out, by node
	at := map[string]int{}
	for i := range out {
		at[out[i].Name] = i
		out[i].Governed, out[i].Ungoverned = zeros(out[i].Capacity), zeros(out[i].Capacity)
	}
	for _, n := range s.Nodes {
		where[n.Name] = at[by(n)]
	}
	owners := map[string]bool{}
	for i := range s.Workloads {
		if w := &s.Workloads[i]; w.OwnerUID != "" && Holds(w) {
			owners[w.OwnerUID] = true
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		c, ok := where[p.NodeName]
		if !ok || !occupies(p) {
			continue
		}
		if governed(p, owners) {
			sum(out[c].Governed, p.Requests)
		} else {
			sum(out[c].Ungoverned, p.Requests)
		}
	}
	return out
}

// occupies reports a pod that holds its requests on a node.
func occupies(p *state.Pod) bool {
	return p.NodeName != "" && p.Phase != "Succeeded" && p.Phase != "Failed"
}

// Labels that Kueue puts on the pods of what it admits. The queue's name is not one:
// that is the user's, and Kueue may know nothing of the pod.
var governedLabels = []string{"kueue.x-k8s.io/podset", "kueue.x-k8s.io/managed"}

// governed reports a pod that Kueue has admitted: by its labels, or as part of a
// job that has a Workload.
func governed(p *state.Pod, owners map[string]bool) bool {
	if slices.ContainsFunc(governedLabels, func(l string) bool { return p.Labels[l] != "" }) {
		return true
	}
	return slices.ContainsFunc(p.Owners, func(o state.Owner) bool { return owners[o.UID] })
}

// SumCapacity adds up capacities.
func SumCapacity(all []Capacity) Capacity {
	out := Capacity{Capacity: state.Amounts{}, unhealthy: state.Amounts{}, Allocatable: state.Amounts{}, HealthyAllocatable: state.Amounts{}, Reserved: state.Amounts{}}
	for _, c := range all {
		out.Nodes += c.Nodes
		out.Healthy, out.Unhealthy, out.Unknown = out.Healthy+c.Healthy, out.Unhealthy+c.Unhealthy, out.Unknown+c.Unknown
		out.NotReady, out.Cordoned = out.NotReady+c.NotReady, out.Cordoned+c.Cordoned
		sum(out.Capacity, c.Capacity)
		sum(out.unhealthy, c.unhealthy)
		sum(out.Allocatable, c.Allocatable)
		sum(out.HealthyAllocatable, c.HealthyAllocatable)
		sum(out.Reserved, c.Reserved)
		out.Governed, out.Ungoverned = merged(out.Governed, c.Governed), merged(out.Ungoverned, c.Ungoverned)
	}
	return out
}

// merged adds amounts; nil is unknown.
func merged(a, b state.Amounts) state.Amounts {
	if a == nil {
		a = b
		b = nil
	}
	out := maps.Clone(a)
	sum(out, b)
	return out
}

// Resources returns the resources that nodes have or that have quota, sorted; with zeros, also resources whose amount is
// zero (task governance lists every accelerator for every instance type).
func Resources(all []Capacity, zeros bool) []string {
	seen := map[string]bool{}
	for _, c := range all {
		for _, amounts := range []state.Amounts{c.Capacity, c.Reserved} {
			for name, n := range amounts {
				if zeros || n > 0 {
					seen[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
