package listinstancetypes

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Row is an instance type as JSON shows it. Counts are per node; quantities are
// cores and bytes.
type Row struct {
	InstanceType string
	// Accelerator is the resource that they are counted in, null where there are none.
	Accelerator         *string
	Accelerators        int
	CoresPerAccelerator int
	EFA                 int
	VCPU                int
	Memory              int64
	// Allocatable is what is left for pods: an estimate, or what the nodes say.
	AllocatableVCPU   float64
	AllocatableMemory int64
	MIG               []string
	Note              string
	// Nodes and AcceleratorDevicesAvailable are null where the cluster did not say.
	Nodes                       *int
	AcceleratorDevicesAvailable *int
}

// Document is what -o json prints.
type Document struct {
	InstanceTypes []Row `json:"instanceTypes"`
}

func (r Row) resource() string {
	if r.Accelerator == nil {
		return ""
	}
	return *r.Accelerator
}

// census is what the cluster has, by instance type.
type census struct {
	nodesKnown, podsKnown bool
	types                 map[string]*tally
}

type tally struct {
	nodes int
	free  state.Amounts // of nodes that take pods
	one   state.Node    // any of them, ready ones first
}

// countNodes counts nodes and what is free on them. Pods that have ended hold
// nothing; nodes that are not ready or cordoned offer nothing.
func countNodes(st *state.State) census {
	out := census{nodesKnown: len(st.MissingOf(kinds.Node)) == 0, podsKnown: len(st.MissingOf(kinds.Pod)) == 0, types: map[string]*tally{}}
	held := map[string]state.Amounts{}
	for _, p := range st.Pods {
		if p.NodeName == "" || p.Phase == "Succeeded" || p.Phase == "Failed" {
			continue
		}
		if held[p.NodeName] == nil {
			held[p.NodeName] = state.Amounts{}
		}
		for name, n := range p.Requests {
			held[p.NodeName][name] += n
		}
	}
	for _, n := range st.Nodes {
		name := instances.Full(n.InstanceType())
		if name == "" {
			continue
		}
		t := out.types[name]
		if t == nil {
			t = &tally{free: state.Amounts{}, one: n}
			out.types[name] = t
		}
		t.nodes++
		if !n.Ready || n.Unschedulable {
			continue
		}
		if !t.one.Ready {
			t.one = n
		}
		for resource, have := range n.Allocatable {
			t.free[resource] += max(0, have-held[n.Name][resource])
		}
	}
	return out
}

var wholeDevices = []string{instances.GPU, instances.NeuronDevice, instances.Neuron}

// catalogue joins the table with the cluster: the table's order, then the types
// that only the cluster knows, by name.
func catalogue(found census) []Row {
	var out []Row
	known := map[string]bool{}
	for _, t := range instances.All() {
		known[t.Name] = true
		cpu, memory := t.Allocatable()
		r := Row{InstanceType: t.Name, Accelerators: t.Accelerators, CoresPerAccelerator: t.Cores, EFA: t.EFA, VCPU: t.VCPU, Memory: int64(t.MemoryGiB) << 30,
			AllocatableVCPU: float64(cpu) / 1000, AllocatableMemory: memory, MIG: append([]string{}, t.MIG...), Note: t.Note}
		if t.Resource != "" {
			r.Accelerator = &t.Resource
		}
		found.fill(&r)
		out = append(out, r)
	}
	var others []string
	for name := range found.types {
		if !known[name] {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		node := found.types[name].one
		r := Row{InstanceType: name, VCPU: int(node.Capacity["cpu"] / 1000), Memory: node.Capacity["memory"], EFA: int(node.Capacity[instances.EFA]),
			MIG: []string{}, Note: "from the cluster's nodes"}
		for _, resource := range wholeDevices {
			if n := node.Capacity[resource]; n > 0 && r.Accelerator == nil {
				r.Accelerator, r.Accelerators = &resource, int(n)
			}
		}
		for resource := range node.Capacity {
			if profile, ok := strings.CutPrefix(resource, instances.MIGPrefix); ok {
				r.MIG = append(r.MIG, profile)
			}
		}
		slices.Sort(r.MIG)
		found.fill(&r)
		out = append(out, r)
	}
	return out
}

// fill adds what the cluster says about the type.
func (c census) fill(r *Row) {
	if !c.nodesKnown {
		return
	}
	t, nodes := c.types[r.InstanceType], 0
	if t != nil {
		nodes = t.nodes
		r.AllocatableVCPU, r.AllocatableMemory = float64(t.one.Allocatable["cpu"])/1000, t.one.Allocatable["memory"]
		for _, resource := range wholeDevices {
			if r.Accelerator != nil && t.one.Allocatable[resource] > 0 {
				r.Accelerator = &resource // Trainium has two names; the nodes' own counts
				break
			}
		}
	}
	r.Nodes = &nodes
	if c.podsKnown && r.Accelerator != nil {
		free := 0
		if t != nil {
			free = int(t.free[*r.Accelerator])
		}
		r.AcceleratorDevicesAvailable = &free
	}
}
