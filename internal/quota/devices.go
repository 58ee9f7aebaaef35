package quota

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Devices are the accelerator figures of one instance type, as the official CLI
// v2 names them in get-clusters. A nil pointer is its "N/A".
type Devices struct {
	InstanceType string
	TotalNodes   int
	// Schedulable counts the nodes with the health label Schedulable.
	Schedulable int
	// DeepHealthPassed counts the nodes that passed; nil if a node has no label.
	DeepHealthPassed *int
	// Available (AcceleratorDevicesAvailable) is what is free on nodes that take jobs: kinds.NodeHealthy or unlabelled,
	// ready and not cordoned. Every pod that holds devices there counts, except finished ones.
	Available *int64
	// Namespaces holds the figures of the requested namespaces.
	Namespaces map[string]TeamDevices
}

// TeamDevices are a namespace's accelerators of one instance type.
type TeamDevices struct {
	// Total (TotalAcceleratorDevices) is the team's own quota.
	Total *int64
	// Available (AvailableAcceleratorDevices) is the unused part of Total; 0 when the team borrows.
	Available *int64
}

// DevicesOf computes v2's figures by instance type from Nodes, Pods of all namespaces, ClusterQueues, ResourceFlavors
// and LocalQueues. namespaces are the namespaces to report.
func DevicesOf(s *state.State, namespaces []string) []Devices {
	var out []Devices
	at := map[string]int{}
	free := map[string]int64{} // by node, of nodes that take jobs
	for _, n := range s.Nodes {
		t := n.InstanceType()
		i, ok := at[t]
		if !ok {
			i = len(out)
			at[t] = i
			out = append(out, Devices{InstanceType: t, DeepHealthPassed: new(int)})
		}
		d := &out[i]
		d.TotalNodes++
		if n.Labels[kinds.NodeHealthLabel] == kinds.NodeHealthy {
			d.Schedulable++
		}
		switch deep := n.Labels[kinds.DeepHealthLabel]; {
		case deep == "":
			d.DeepHealthPassed = nil
		case deep == "Passed" && d.DeepHealthPassed != nil:
			*d.DeepHealthPassed++
		}
		if kind, _ := instances.Lookup(t); d.Available == nil && (kind.Accelerators > 0 || devices(n.Capacity) > 0) {
			d.Available = new(int64)
		}
		if takesJobs(n) {
			free[n.Name] = devices(n.Allocatable)
		}
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; occupies(p) {
			if _, ok := free[p.NodeName]; ok {
				free[p.NodeName] -= devices(p.Requests)
			}
		}
	}
	for _, n := range s.Nodes {
		if d := &out[at[n.InstanceType()]]; d.Available != nil {
			*d.Available += max(0, free[n.Name])
		}
	}
	for i := range out {
		out[i].Namespaces = make(map[string]TeamDevices, len(namespaces))
		for _, ns := range namespaces {
			if out[i].Available != nil {
				out[i].Namespaces[ns] = teamDevices(s, ns, out[i].InstanceType)
			} else {
				out[i].Namespaces[ns] = TeamDevices{}
			}
		}
	}
	slices.SortFunc(out, func(a, b Devices) int { return strings.Compare(a.InstanceType, b.InstanceType) })
	return out
}

// takesJobs reports a node that a job could be placed on. One without a health
// label is of a cluster that does not use them.
func takesJobs(n state.Node) bool {
	health := n.Labels[kinds.NodeHealthLabel]
	return n.Ready && !n.Unschedulable && (health == "" || health == kinds.NodeHealthy)
}

// devices counts whole accelerators: GPUs, or Trainium and Inferentia devices.
// Where one kind has two names on a node (neurondevice and neuron, or cores),
// one of them counts.
func devices(a state.Amounts) int64 {
	for _, name := range []string{"nvidia.com/gpu", "aws.amazon.com/neurondevice", "aws.amazon.com/neuron"} {
		if n := a[name]; n > 0 {
			return n
		}
	}
	return 0
}

// teamDevices returns what a namespace's ClusterQueues have of an instance type.
func teamDevices(s *state.State, namespace, instanceType string) TeamDevices {
	flavors := FlavorTypes(s)
	var out TeamDevices
	for i := range s.ClusterQueues {
		q := &s.ClusterQueues[i]
		if !leadsTo(s, namespace, q.Name) {
			continue
		}
		used := statusUsage(q.Reservation)
		byFlavor := map[string]state.Amounts{}
		inUse := map[string]state.Amounts{}
		for k, l := range quotasOf(q) {
			name, ok := flavors[k.Flavor]
			if !ok {
				name = k.Flavor
			}
			if name != instanceType || !kinds.Accelerator(k.Resource) {
				continue
			}
			if byFlavor[k.Flavor] == nil {
				byFlavor[k.Flavor], inUse[k.Flavor] = state.Amounts{}, state.Amounts{}
			}
			byFlavor[k.Flavor][k.Resource], inUse[k.Flavor][k.Resource] = l.nominal, used[k]
		}
		for flavor, nominal := range byFlavor {
			total := devices(nominal)
			left := max(0, total-devices(inUse[flavor]))
			if out.Total == nil {
				out.Total, out.Available = new(int64), new(int64)
			}
			*out.Total += total
			*out.Available += left
		}
	}
	return out
}

// leadsTo reports whether a namespace's workloads go to a ClusterQueue.
func leadsTo(s *state.State, namespace, clusterQueue string) bool {
	if !readable(s, kinds.LocalQueue) || len(s.LocalQueues) == 0 {
		return clusterQueue == ManagedQueue(namespace)
	}
	return slices.ContainsFunc(s.LocalQueues, func(l state.LocalQueue) bool {
		return l.Namespace == namespace && l.ClusterQueue == clusterQueue
	})
}
