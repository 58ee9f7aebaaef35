// Package instances is the table of instance types of SageMaker HyperPod clusters: their accelerators, EFA
// interfaces and size, and how much of a node a job can request.
package instances

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

//go:embed instances.tsv
var table string

// Device resources. Trainium devices are served under NeuronDevice by
// HyperPod's charts and under Neuron by newer device plugins; both mean devices,
// not cores.
const (
	GPU          = "nvidia.com/gpu"
	NeuronDevice = "aws.amazon.com/neurondevice"
	Neuron       = "aws.amazon.com/neuron"
	NeuronCore   = "aws.amazon.com/neuroncore"
	EFA          = "vpc.amazonaws.com/efa"
	// MIGPrefix is followed by a profile, such as 1g.10gb.
	MIGPrefix = "nvidia.com/mig-"
)

// Type is an instance type. Counts are per node.
type Type struct {
	// Name has the prefix "ml.", as the nodes' instance-type label has.
	Name string
	// Resource is the accelerators' resource name, "" on types without any.
	Resource     string
	Accelerators int
	// Cores is the number of processes that an accelerator is meant for: 1 for a
	// GPU, the NeuronCores of a Trainium device.
	Cores     int
	EFA       int
	VCPU      int
	MemoryGiB int
	// MIG lists the profiles that the type's GPUs can be cut into.
	MIG []string
	// Note says why a value differs from the table's source, or is doubtful.
	Note string
}

var parsed = sync.OnceValue(func() []Type {
	types, err := parse(table)
	if err != nil {
		panic(err) // the embedded table is checked by a test
	}
	return types
})

// All returns every type in the table, in its order.
func All() []Type { return append([]Type(nil), parsed()...) }

// Full returns the name with the prefix "ml.", which may be left out, in lower case.
func Full(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || strings.HasPrefix(name, "ml.") {
		return name
	}
	return "ml." + name
}

// Lookup returns the type of that name; "ml." may be left out.
func Lookup(name string) (Type, bool) {
	full := Full(name)
	for _, t := range parsed() {
		if t.Name == full {
			return t, true
		}
	}
	return Type{}, false
}

// Near returns the names that a person who typed name may have meant.
func Near(name string) []string {
	names := make([]string, 0, len(parsed()))
	for _, t := range parsed() {
		names = append(names, t.Name)
	}
	return errs.Near(Full(name), names)
}

func parse(text string) ([]Type, error) {
	var out []Type
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != 9 {
			return nil, fmt.Errorf("instances.tsv line %d: %d columns, want 9", i+1, len(c))
		}
		t := Type{Name: c[0]}
		if c[1] != "-" {
			t.Resource = c[1]
		}
		for j, p := range []*int{&t.Accelerators, &t.Cores, &t.EFA, &t.VCPU, &t.MemoryGiB} {
			n, err := strconv.Atoi(c[2+j])
			if err != nil {
				return nil, fmt.Errorf("instances.tsv line %d: %w", i+1, err)
			}
			*p = n
		}
		if c[7] != "-" {
			t.MIG = strings.Split(c[7], ",")
		}
		if c[8] != "-" {
			t.Note = c[8]
		}
		out = append(out, t)
	}
	return out, nil
}
