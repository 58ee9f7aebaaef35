package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// The resources that task governance covers, in the order of its ClusterQueues. Types
// without an accelerator have a quota of 0 for it (as seen on clusters).
var covered = []string{"cpu", "memory", instances.GPU, instances.NeuronDevice, instances.EFA}

const gib = 1 << 30

// maxAmount bounds what a unit of a quota may say (SageMaker API: 0 to 10,000,000).
const maxAmount = 10_000_000

// amounts are quantities by resource: cores in thousandths, memory in bytes, devices.
type amounts map[string]int64

// Amounts returns what a quota reserves, in thousandths of a core, bytes and devices. The unit that is given sets the
// others by the instance type's ratios, rounded down (SageMaker Developer Guide: compute allocations); EFA interfaces
// follow the accelerators. It returns false if the instance type is not in the table, or no unit is given.
func (q Quota) Amounts() (map[string]int64, bool) {
	t, ok := instances.Lookup(q.InstanceType)
	if !ok {
		return nil, false
	}
	cpu, memory := int64(t.VCPU)*1000, int64(t.MemoryGiB)*gib
	a := amounts{"cpu": 0, "memory": 0}
	// part sets cores and memory to n of every d parts of an instance.
	part := func(n, d int64) {
		a["cpu"], a["memory"] = scale(cpu, n, d), scale(memory, n, d)
	}
	switch {
	case q.Count != nil:
		n := int64(*q.Count)
		part(n, 1)
		a.devices(t, n*int64(t.Accelerators), n*int64(t.EFA))
	case q.AcceleratorPartition != nil:
		p := q.AcceleratorPartition
		slices := slicesOf(p.Type)
		if t.Accelerators == 0 || slices == 0 {
			return nil, false
		}
		part(int64(p.Count)*slices, int64(t.Accelerators)*slicesPerGPU)
		a[migResource(p.Type)] = int64(p.Count)
	case q.Accelerators != nil:
		if t.Accelerators == 0 {
			return nil, false
		}
		n, d := int64(*q.Accelerators), int64(t.Accelerators)
		part(n, d)
		a.devices(t, n, scale(int64(t.EFA), n, d))
	case q.VCPU != nil:
		part(int64(math.Floor(*q.VCPU*1000)), cpu)
	case q.MemoryInGiB != nil:
		part(int64(math.Floor(*q.MemoryInGiB*gib)), memory)
	default:
		return nil, false
	}
	if q.Count == nil && q.VCPU != nil {
		a["cpu"] = int64(math.Floor(*q.VCPU * 1000))
	}
	if q.Count == nil && q.MemoryInGiB != nil {
		a["memory"] = int64(math.Floor(*q.MemoryInGiB * gib))
	}
	return a, true
}

func (a amounts) devices(t instances.Type, n, efa int64) {
	if t.Resource != "" {
		a[t.Resource] = n
	}
	if t.EFA > 0 {
		a[instances.EFA] = efa
	}
}

// scale returns n of every d parts of an amount, rounded down, without overflow.
func scale(amount, n, d int64) int64 {
	whole, rest := n/d, n%d
	return whole*amount + int64(math.Floor(float64(amount)*float64(rest)/float64(d)+1e-9))
}

// slicesPerGPU is how many compute slices a GPU can be cut into (NVIDIA MIG).
const slicesPerGPU = 7

// slicesOf returns the compute slices of a MIG profile: 3 for mig-3g.40gb; 0 for no
// profile.
func slicesOf(profile string) int64 {
	number, _, ok := strings.Cut(strings.TrimPrefix(profile, "mig-"), "g.")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil || n < 1 || n > slicesPerGPU {
		return 0
	}
	return n
}

func migResource(profile string) string {
	return instances.MIGPrefix + strings.TrimPrefix(profile, "mig-")
}

// hasProfile reports whether the GPUs of a type can be cut into slices of a profile.
func hasProfile(t instances.Type, profile string) bool {
	return slices.Contains(t.MIG, strings.TrimPrefix(profile, "mig-"))
}
