package instances

import "math"

// Tasks returns the default number of processes of a pod with that many accelerators: one per core of each.
// Without accelerators it is 8, as in the official CLI, but at most the number of vCPUs.
func (t Type) Tasks(accelerators int) int {
	if t.Accelerators > 0 && accelerators > 0 {
		return accelerators * max(t.Cores, 1)
	}
	return max(1, min(8, t.VCPU))
}

// Allocatable estimates what Kubernetes leaves for pods on a node of the type,
// in millicores and bytes: the type's size less the tiered reservation that the
// official CLI v3.9.0 assumes. It is deliberately low, so that the node's own
// daemons fit beside a job.
func (t Type) Allocatable() (milliCPU, memory int64) {
	cpu := float64(t.VCPU)
	cpu -= 0.1 + tier(cpu, 1, 0.30) + tier(cpu-1, 1, 0.15) + tier(cpu-2, 2, 0.10) + tier(cpu-4, math.Inf(1), 0.06)
	gib := float64(t.MemoryGiB)
	gib -= 0.5 + tier(gib, 4, 0.30) + tier(gib-4, 4, 0.25) + tier(gib-8, 8, 0.20) + tier(gib-16, 112, 0.17) + tier(gib-128, math.Inf(1), 0.07)
	return int64(math.Round(max(cpu, 0) * 1000)), int64(max(gib, 0) * (1 << 30))
}

// tier returns the reservation of one tier: rate times what there is of it.
func tier(have, size, rate float64) float64 {
	return rate * min(max(have, 0), size)
}

// EFAShare returns the number of EFA interfaces that go with n accelerators: the
// type's interfaces in proportion, rounded down, so that jobs which share a
// node never ask for more than it has. A type with fewer interfaces than
// accelerators gives its interface only to a job that takes the whole node.
// Without accelerators the share is the whole node's.
func (t Type) EFAShare(n int) int {
	if t.Accelerators == 0 {
		return t.EFA
	}
	return t.EFA * min(n, t.Accelerators) / t.Accelerators
}

// MIGShare returns the part of a node, from 0 to 1, that count slices of a MIG
// profile such as "3g.20gb" are: the profile's compute slices, of seven a GPU.
func (t Type) MIGShare(profile string, count int) float64 {
	if t.Accelerators == 0 || len(profile) == 0 || profile[0] < '1' || profile[0] > '9' {
		return 0
	}
	return min(1, float64(count)*float64(profile[0]-'0')/float64(t.Accelerators*7))
}
