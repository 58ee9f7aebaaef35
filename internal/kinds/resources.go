package kinds

import "strings"

// Accelerator reports the resources that name accelerators, or parts of them:
// nvidia.com/gpu, nvidia.com/mig-*, aws.amazon.com/neurondevice, neuron, neuroncore.
func Accelerator(resource string) bool {
	return strings.HasPrefix(resource, "nvidia.com/") || strings.HasPrefix(resource, "aws.amazon.com/neuron")
}

// ResourceRank orders resources as people look at them: accelerators, other devices,
// cpu, memory, the rest.
func ResourceRank(resource string) int {
	switch resource {
	case "nvidia.com/gpu", "aws.amazon.com/neurondevice", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore":
		return 0
	case "cpu":
		return 3
	case "memory":
		return 4
	case "vpc.amazonaws.com/efa":
		return 2
	case "ephemeral-storage", "pods":
		return 5
	}
	return 1
}
