package object

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Gate keeps a new pod from being scheduled until Kueue admits it.
func Gate(pod map[string]any) {
	if !kinds.Gated(pod) {
		spec := Child(pod, "spec")
		spec["schedulingGates"] = append(List(spec, "schedulingGates"), map[string]any{"name": kinds.Gate})
	}
	Child(Child(pod, "metadata"), "labels")[kinds.ManagedLabel] = "true"
}

// Ungate removes the gate of Kueue.
func Ungate(pod map[string]any) {
	spec := Child(pod, "spec")
	rest := slices.DeleteFunc(slices.Clone(List(spec, "schedulingGates")), kinds.IsGate)
	if spec["schedulingGates"] = rest; len(rest) == 0 {
		delete(spec, "schedulingGates")
	}
}
