package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
)

// InstanceType is what a node of that type has.
type InstanceType struct {
	VCPU, MemoryGiB, GPU, Neuron, EFA int
}

// InstanceTypes are the types that Nodes and Team quotas know. Tests may add their own before using them.
var InstanceTypes = map[string]InstanceType{
	"ml.m5.xlarge":        {VCPU: 4, MemoryGiB: 16},
	"ml.c5.4xlarge":       {VCPU: 16, MemoryGiB: 32},
	"ml.g5.xlarge":        {VCPU: 4, MemoryGiB: 16, GPU: 1},
	"ml.g5.8xlarge":       {VCPU: 32, MemoryGiB: 128, GPU: 1, EFA: 1},
	"ml.g5.12xlarge":      {VCPU: 48, MemoryGiB: 192, GPU: 4, EFA: 1},
	"ml.g5.48xlarge":      {VCPU: 192, MemoryGiB: 768, GPU: 8, EFA: 1},
	"ml.p4d.24xlarge":     {VCPU: 96, MemoryGiB: 1152, GPU: 8, EFA: 4},
	"ml.p5.48xlarge":      {VCPU: 192, MemoryGiB: 2048, GPU: 8, EFA: 32},
	"ml.p5en.48xlarge":    {VCPU: 192, MemoryGiB: 2048, GPU: 8, EFA: 16},
	"ml.p6-b200.48xlarge": {VCPU: 192, MemoryGiB: 2048, GPU: 8, EFA: 8},
	"ml.trn1.32xlarge":    {VCPU: 128, MemoryGiB: 512, Neuron: 16, EFA: 8},
}

// The resources that the governance add-on puts into a quota.
const (
	gpuResource    = "nvidia.com/gpu"
	neuronResource = "aws.amazon.com/neurondevice"
	efaResource    = "vpc.amazonaws.com/efa"
)

// ClusterName is the HyperPod cluster that the fake nodes say they belong to.
const ClusterName = "testbed"

// Nodes makes count healthy HyperPod nodes of a type. Change labels or status before ApplyNodes to
// make unhealthy ones. It panics on a type that is not in InstanceTypes.
func Nodes(instanceType string, count int) []Object {
	kind, ok := InstanceTypes[instanceType]
	if !ok {
		panic("cluster.Nodes: unknown instance type " + instanceType + "; add it to cluster.InstanceTypes")
	}
	group := strings.NewReplacer(".", "-").Replace(strings.TrimPrefix(instanceType, "ml."))
	nodes := make([]Object, count)
	for i := range nodes {
		hash := fnv.New64a()
		fmt.Fprintf(hash, "%s %d", instanceType, i)
		name := fmt.Sprintf("hyperpod-i-0%016x", hash.Sum64())
		// Apart, since callers may change one of them.
		capacity := func() Object {
			c := Object{"cpu": fmt.Sprint(kind.VCPU), "memory": fmt.Sprintf("%dGi", kind.MemoryGiB), "pods": "250", "ephemeral-storage": "500Gi"}
			for resource, n := range map[string]int{gpuResource: kind.GPU, neuronResource: kind.Neuron, efaResource: kind.EFA} {
				if n > 0 {
					c[resource] = fmt.Sprint(n)
				}
			}
			return c
		}
		nodes[i] = Object{
			"apiVersion": "v1", "kind": "Node",
			"metadata": Object{"name": name, "labels": Object{
				"beta.kubernetes.io/instance-type":                 instanceType,
				"node.kubernetes.io/instance-type":                 instanceType,
				"kubernetes.io/hostname":                           name,
				"kubernetes.io/arch":                               "amd64",
				"kubernetes.io/os":                                 "linux",
				"topology.kubernetes.io/region":                    "us-west-2",
				"topology.kubernetes.io/zone":                      "us-west-2a",
				"topology.k8s.aws/network-node-layer-1":            "nn-1",
				"topology.k8s.aws/network-node-layer-2":            fmt.Sprintf("nn-1-%d", i/16),
				"topology.k8s.aws/network-node-layer-3":            fmt.Sprintf("nn-1-%d-%d", i/16, i/4),
				"sagemaker.amazonaws.com/cluster-name":             ClusterName,
				"sagemaker.amazonaws.com/compute-type":             "hyperpod",
				"sagemaker.amazonaws.com/instance-group-name":      group,
				"sagemaker.amazonaws.com/node-health-status":       "Schedulable",
				"sagemaker.amazonaws.com/deep-health-check-status": "Passed",
			}},
			"status": Object{"capacity": capacity(), "allocatable": capacity()},
		}
	}
	return nodes
}

// ApplyNodes makes the nodes and waits until all are Ready.
func (b *Bed) ApplyNodes(ctx context.Context, nodes []Object) error {
	if err := b.ApplyObjects(ctx, nodes...); err != nil {
		return err
	}
	return b.WaitFor(ctx, fmt.Sprintf("%d nodes to be Ready", len(nodes)), func(ctx context.Context) error {
		var list struct {
			Items []struct {
				Metadata struct{ Name string }
				Status   struct {
					Conditions []struct{ Type, Status string }
				}
			}
		}
		if err := b.Get(ctx, "/api/v1/nodes", &list); err != nil {
			return err
		}
		ready := map[string]bool{}
		for _, node := range list.Items {
			for _, c := range node.Status.Conditions {
				if c.Type == "Ready" && c.Status == "True" {
					ready[node.Metadata.Name] = true
				}
			}
		}
		var errs []error
		for _, node := range nodes {
			if name := field(node, "metadata", "name"); !ready[name] {
				errs = append(errs, fmt.Errorf("node %s is not Ready", name))
			}
		}
		return errors.Join(errs...)
	})
}
