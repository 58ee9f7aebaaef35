package kinds

import "strings"

// Accelerator reports the resources that name accelerators, or parts of them:
// nvidia.com/gpu, nvidia.com/mig-*, aws.amazon.com/neurondevice, neuron, neuroncore.
func Accelerator(resource string) bool {
	return strings.HasPrefix(resource, "nvidia.com/") || strings.HasPrefix(resource, "aws.amazon.com/neuron")
}
