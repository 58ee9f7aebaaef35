package templates

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// isAccelerator tells the resources that count accelerators, whole or cut.
func isAccelerator(name string) bool {
	switch name {
	case instances.GPU, instances.NeuronDevice, instances.Neuron, instances.NeuronCore:
		return true
	}
	return strings.HasPrefix(name, instances.MIGPrefix)
}

// countDevices decides how many accelerators, processes and EFA interfaces each
// pod has: what was said, else what the manifest states, else what the type has.
func (s *settings) countDevices(job *jobobject.View) error {
	tasks, err := s.amount(setting.TasksPerNode, s.TasksPerNode, 1)
	if err != nil {
		return err
	}
	devices, err := s.amount(setting.Accelerators, s.Accelerators, 0)
	if err != nil {
		return err
	}
	s.sized = s.hasType || devices.apply || devices.known && s.template.declares(setting.Accelerators) || s.Partition != ""
	stated, statedCount, isStated := job.Asked(isAccelerator)
	s.resource = instances.GPU
	switch {
	case s.hasType && s.typ.Resource != "":
		s.resource = s.typ.Resource
		if neuron(stated) && neuron(s.resource) && s.Node == nil {
			s.resource = stated // both names mean devices; the manifest's author knows the cluster
		}
	case isStated:
		s.resource = stated
	}
	switch {
	case s.Partition != "":
		if devices.known {
			return errs.Usagef("--accelerators and --accelerator-partition-type exclude each other")
		}
		n, err := s.partition()
		if err != nil {
			return err
		}
		devices = amount{n, true, true}
	case s.PartitionCount != nil:
		return errs.Usagef("--accelerator-partition-count needs --accelerator-partition-type")
	case devices.apply:
	case isStated:
		if s.hasType && s.resource != stated && !strings.HasPrefix(stated, instances.MIGPrefix) && stated != instances.NeuronCore {
			return errs.Usagef("the manifest asks for %s, which %s does not have", stated, s.instanceType).
				WithTry("--accelerators N   # replaces the manifest's").WithAdvice("choose another --instance-type, or say what to ask for")
		}
		s.resource, devices = stated, amount{n: statedCount, known: true}
	case devices.known:
	case s.hasType && tasks.known && s.typ.Resource == instances.GPU:
		devices = amount{n: min(tasks.n, s.typ.Accelerators), known: true}
	case s.hasType:
		devices = amount{n: s.typ.Accelerators, known: true}
	}
	if s.hasType && s.Partition == "" && !strings.HasPrefix(s.resource, instances.MIGPrefix) && s.resource != instances.NeuronCore && devices.n > s.typ.Accelerators {
		has := fmt.Sprint(s.typ.Accelerators)
		if s.typ.Accelerators == 0 {
			has = "no"
		}
		return errs.Usagef("%s has %s accelerators, and %d are asked for on each node", s.instanceType, has, devices.n).
			WithAdvice("fewer --accelerators and more nodes with --node-count")
	}
	s.devices = devices
	if err := s.countTasks(job, tasks); err != nil {
		return err
	}
	return s.countEFA(job)
}

func neuron(name string) bool { return name == instances.Neuron || name == instances.NeuronDevice }

// partition checks the MIG profile and returns how many are asked for.
func (s *settings) partition() (int, error) {
	profile := strings.TrimPrefix(strings.TrimPrefix(s.Partition, instances.MIGPrefix), "mig-")
	n := 1
	if s.PartitionCount != nil {
		n = *s.PartitionCount
	}
	if n < 1 {
		return 0, errs.Usagef("--accelerator-partition-count is %d, want at least 1", n)
	}
	switch {
	case !s.hasType:
		return 0, errs.Usagef("--accelerator-partition-type needs --instance-type")
	case len(s.typ.MIG) == 0 && s.Node == nil:
		return 0, errs.Usagef("%s has no MIG partitions", s.instanceType)
	case len(s.typ.MIG) > 0 && !slices.Contains(s.typ.MIG, profile):
		return 0, errs.Usagef("%s has no MIG partition %q%s", s.instanceType, profile, manifest.Meant(errs.Near(profile, s.typ.MIG))).
			WithFact("it has", strings.Join(s.typ.MIG, ", "))
	}
	s.Partition, s.resource = profile, instances.MIGPrefix+profile
	return n, nil
}

func (s *settings) countTasks(job *jobobject.View, tasks amount) error {
	switch {
	case s.TasksBy == tasksGPU:
		if tasks = (amount{s.devices.n, true, true}); tasks.n == 0 {
			return errs.Usagef("--tasks-per-node gpu: no accelerator is asked for").WithTry("--accelerators N", "--instance-type TYPE")
		}
	case s.TasksBy == tasksCPU:
		if tasks = (amount{s.typ.VCPU, true, true}); tasks.n == 0 {
			return errs.Usagef("--tasks-per-node cpu needs --instance-type, which says how many vCPUs there are")
		}
	case tasks.known:
	case job != nil && job.Tasks() > 0:
		tasks = amount{n: job.Tasks(), known: true}
	case strings.HasPrefix(s.resource, instances.MIGPrefix) || s.resource == instances.NeuronCore:
		tasks = amount{n: s.devices.n, known: true}
	case s.hasType:
		tasks = amount{n: s.typ.Tasks(s.devices.n), known: true}
	case neuron(s.resource):
		tasks = amount{n: 2 * s.devices.n, known: s.devices.known}
	default:
		tasks = amount{n: s.devices.n, known: s.devices.known}
	}
	tasks.n = max(tasks.n, 1)
	s.tasks = tasks
	if s.resource == instances.GPU && s.devices.n > 0 && tasks.n > s.devices.n {
		s.notef("%d processes share %d GPUs on each node", tasks.n, s.devices.n)
	}
	return nil
}

func (s *settings) countEFA(job *jobobject.View) error {
	efa, err := s.amount(setting.EFA, s.EFA, 0)
	if err != nil {
		return err
	}
	_, stated, isStated := job.Asked(func(name string) bool { return name == instances.EFA })
	switch {
	case efa.apply:
	case isStated:
		efa = amount{n: stated, known: true}
	case efa.known, !s.hasType:
	case strings.HasPrefix(s.resource, instances.MIGPrefix):
		efa.known = true
	case s.typ.Accelerators == 0 && (s.VCPU != "" || s.Memory != ""): // a part of a node
		efa.known = true
	default:
		efa = amount{n: s.typ.EFAShare(s.devices.n), known: true}
		if efa.n == 0 && s.typ.EFA > 0 && s.devices.n > 0 && s.nodes.n > 1 {
			s.notef("%s has %d EFA for %d accelerators: a job with %d of them gets none, and its nodes talk over TCP", s.instanceType, s.typ.EFA, s.typ.Accelerators, s.devices.n)
		}
	}
	if s.hasType && efa.apply && efa.n > s.typ.EFA {
		return errs.Usagef("%s has %d EFA interfaces, and %d are asked for", s.instanceType, s.typ.EFA, efa.n)
	}
	s.efa = efa
	return nil
}

// allocatable is what a node leaves for pods, in millicores and bytes: the
// table's estimate, but never more than 95 % of what the cluster's own nodes
// say, so that their daemons fit beside the job.
func (s *settings) allocatable() (milliCPU, memory int64) {
	if _, known := instances.Lookup(s.instanceType); known {
		milliCPU, memory = s.typ.Allocatable()
	}
	if s.Node == nil {
		return milliCPU, memory
	}
	limit := func(estimate int64, name string, milli bool) int64 {
		q, err := resource.ParseQuantity(s.Node.Allocatable[name])
		if err != nil {
			return estimate
		}
		n := q.Value()
		if milli {
			n = q.MilliValue()
		}
		n -= n / 20
		if estimate > 0 {
			return min(estimate, n)
		}
		return n
	}
	return limit(milliCPU, "cpu", true), limit(memory, "memory", false)
}

// share returns which part of a node's cpu and memory a pod gets, as a
// fraction; the denominator is 0 when nothing tells.
func (s *settings) share() (num, den int64) {
	switch {
	case !s.hasType:
		return 0, 0
	case s.Partition != "":
		return int64(s.typ.MIGShare(s.Partition, s.devices.n) * 1e6), 1e6
	case s.devices.n > 0 && s.typ.Accelerators > 0 && (s.resource == s.typ.Resource || neuron(s.resource)):
		return int64(s.devices.n), int64(s.typ.Accelerators)
	case s.typ.Accelerators > 0:
		return 0, 0
	case s.VCPU != "" && s.Memory == "":
		if q, err := resource.ParseQuantity(s.VCPU); err == nil && s.typ.VCPU > 0 {
			return q.MilliValue(), int64(s.typ.VCPU) * 1000
		}
	case s.Memory != "" && s.VCPU == "":
		if q, err := resource.ParseQuantity(s.Memory); err == nil && s.typ.MemoryGiB > 0 {
			return q.Value() >> 20, int64(s.typ.MemoryGiB) << 10
		}
	}
	return 1, 1
}

// cpuText writes millicores, whole cores from one core on.
func cpuText(milli int64) string {
	if milli >= 1000 {
		return fmt.Sprint(milli / 1000)
	}
	return fmt.Sprintf("%dm", milli)
}

// memoryText writes bytes, whole GiB from one on.
func memoryText(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%dGi", bytes>>30)
	}
	return fmt.Sprintf("%dMi", bytes>>20)
}
