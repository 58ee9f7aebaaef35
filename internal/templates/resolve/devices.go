package resolve

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
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// IsAccelerator reports whether a resource counts accelerators, whole or partitioned.
func IsAccelerator(name string) bool {
	switch name {
	case instances.GPU, instances.NeuronDevice, instances.Neuron, instances.NeuronCore:
		return true
	}
	return strings.HasPrefix(name, instances.MIGPrefix)
}

// countDevices sets the numbers of accelerators, processes and EFA interfaces per pod: from the values, or the
// manifest, or the instance type.
func (s *Plan) countDevices(job *jobobject.View) error {
	tasks, err := s.amount(setting.TasksPerNode, s.TasksPerNode, 1)
	if err != nil {
		return err
	}
	devices, err := s.amount(setting.Accelerators, s.Accelerators, 0)
	if err != nil {
		return err
	}
	s.Sized = s.HasType || devices.Apply || devices.known && s.Template.Declares(setting.Accelerators) || s.Partition != ""
	stated, statedCount, isStated := job.Asked(IsAccelerator)
	s.Resource = instances.GPU
	switch {
	case s.HasType && s.Type.Resource != "":
		s.Resource = s.Type.Resource
		if neuron(stated) && neuron(s.Resource) && s.Node == nil {
			s.Resource = stated // both names mean devices; the manifest's author knows the cluster
		}
	case isStated:
		s.Resource = stated
	}
	switch {
	case s.Partition != "":
		if devices.known {
			return setting.Exclusive(setting.Accelerators, setting.Partition)
		}
		n, err := s.partition()
		if err != nil {
			return err
		}
		devices = Amount{n, true, true}
	case s.PartitionCount != nil:
		return setting.PartitionCount.Requires(setting.Partition)
	case devices.Apply:
	case isStated:
		if s.HasType && s.Resource != stated && !strings.HasPrefix(stated, instances.MIGPrefix) && stated != instances.NeuronCore {
			return errs.Usagef("the manifest requests %s, and %s has none", stated, s.NodeType).
				Suggest(setting.Accelerators.Option("N").WithNote("replaces the request of the manifest")).WithAdvice("choose an instance type with " + stated)
		}
		s.Resource, devices = stated, Amount{N: statedCount, known: true}
	case devices.known:
	case !s.derives(setting.Accelerators): // nothing requests any
	case s.HasType && tasks.known && s.Type.Resource == instances.GPU:
		devices = Amount{N: min(tasks.N, s.Type.Accelerators), known: true}
	case s.HasType:
		devices = Amount{N: s.Type.Accelerators, known: true}
	}
	if s.HasType && s.Partition == "" && !strings.HasPrefix(s.Resource, instances.MIGPrefix) && s.Resource != instances.NeuronCore && devices.N > s.Type.Accelerators {
		has := words.Count(s.Type.Accelerators, "accelerator", "accelerators")
		if s.Type.Accelerators == 0 {
			has = "no accelerators"
		}
		return errs.Usagef("%s has %s, and each pod requests %d", s.NodeType, has, devices.N).
			WithAdvice("request fewer accelerators for each pod, on more nodes").
			Suggest(errs.Option(setting.Accelerators.Flag(), "N", setting.NodeCount.Flag(), "M"))
	}
	s.Devices = devices
	if err := s.countTasks(job, tasks); err != nil {
		return err
	}
	return s.countEFA(job)
}

func neuron(name string) bool { return name == instances.Neuron || name == instances.NeuronDevice }

// partition checks the MIG profile and returns the requested number of partitions.
func (s *Plan) partition() (int, error) {
	profile := strings.TrimPrefix(strings.TrimPrefix(s.Partition, instances.MIGPrefix), "mig-")
	n := 1
	if s.PartitionCount != nil {
		n = *s.PartitionCount
	}
	if n < 1 {
		return 0, setting.PartitionCount.OutOfRange(n, 1, 0)
	}
	switch {
	case !s.HasType:
		return 0, setting.Partition.Requires(setting.InstanceType)
	case len(s.Type.MIG) == 0 && s.Node == nil:
		return 0, errs.Usagef("%s does not support MIG partitions", s.NodeType)
	case len(s.Type.MIG) > 0 && !slices.Contains(s.Type.MIG, profile):
		return 0, errs.Usagef("MIG partition %q not found on %s%s", profile, s.NodeType, manifest.DidYouMean(errs.Near(profile, s.Type.MIG))).
			WithFact("available", strings.Join(s.Type.MIG, ", "))
	}
	s.Partition, s.Resource = profile, instances.MIGPrefix+profile
	return n, nil
}

func (s *Plan) countTasks(job *jobobject.View, tasks Amount) error {
	switch {
	case s.TasksBy == values.TasksGPU:
		if tasks = (Amount{s.Devices.N, true, true}); tasks.N == 0 {
			return setting.TasksPerNode.Invalid(values.TasksGPU, "the job requests no accelerators").
				Suggest(setting.Accelerators.Option("N"), setting.InstanceType.Option("TYPE"))
		}
	case s.TasksBy == values.TasksCPU:
		if tasks = (Amount{s.Type.VCPU, true, true}); tasks.N == 0 {
			return setting.TasksPerNode.Invalid(values.TasksCPU, "the number of vCPUs is unknown").Suggest(setting.InstanceType.Option("TYPE"))
		}
	case tasks.known:
	case job != nil && job.Tasks() > 0:
		tasks = Amount{N: job.Tasks(), known: true}
	case strings.HasPrefix(s.Resource, instances.MIGPrefix) || s.Resource == instances.NeuronCore:
		tasks = Amount{N: s.Devices.N, known: true}
	case s.HasType:
		tasks = Amount{N: s.Type.Tasks(s.Devices.N), known: true}
	case neuron(s.Resource):
		tasks = Amount{N: 2 * s.Devices.N, known: s.Devices.known}
	default:
		tasks = Amount{N: s.Devices.N, known: s.Devices.known}
	}
	tasks.N = max(tasks.N, 1)
	s.Tasks = tasks
	if s.Resource == instances.GPU && s.Devices.N > 0 && tasks.N > s.Devices.N {
		s.Notef("%d processes share %s on each node", tasks.N, words.Count(int(s.Devices.N), "GPU", "GPUs"))
	}
	return nil
}

func (s *Plan) countEFA(job *jobobject.View) error {
	efa, err := s.amount(setting.EFA, s.EFA, 0)
	if err != nil {
		return err
	}
	_, stated, isStated := job.Asked(func(name string) bool { return name == instances.EFA })
	switch {
	case efa.Apply:
	case isStated:
		efa = Amount{N: stated, known: true}
	case efa.known, !s.HasType, !s.derives(setting.EFA):
	case strings.HasPrefix(s.Resource, instances.MIGPrefix):
		efa.known = true
	case s.Type.Accelerators == 0 && (s.VCPU != "" || s.Memory != ""): // a part of a node
		efa.known = true
	case s.Devices.N < s.Type.Accelerators && !s.between(job): // a part of a node, and the pod is alone
		efa.known = true
	case job != nil && !job.Kind.Takes(job.Object, instances.EFA):
		if efa.known = true; s.Type.EFAShare(s.Devices.N) > 0 && s.Nodes.N > 1 {
			s.Notef("a %s has no field for EFA: its pods use TCP", job.Kind.Kind)
		}
	default:
		efa = Amount{N: s.Type.EFAShare(s.Devices.N), known: true}
		if efa.N == 0 && s.Type.EFA > 0 && s.Devices.N > 0 && s.Nodes.N > 1 {
			s.Notef("%s has %s for %d accelerators: a pod with %d accelerators gets no EFA interface and uses TCP", s.NodeType, words.Count(s.Type.EFA, "EFA interface", "EFA interfaces"), s.Type.Accelerators, s.Devices.N)
		}
	}
	if s.HasType && efa.Apply && efa.N > s.Type.EFA {
		return errs.Usagef("%s has %s, and each pod requests %d", s.NodeType, words.Count(s.Type.EFA, "EFA interface", "EFA interfaces"), efa.N)
	}
	s.EFADevices = efa
	return nil
}

// between reports whether pods of the job talk to each other across nodes, which is what EFA is for.
func (s *Plan) between(job *jobobject.View) bool {
	_, most, _ := s.nodeRange(job)
	return most > 1 || job != nil && job.Nodes() > 1
}

// Allocatable returns what a node offers to pods, in millicores and bytes: the estimate of the table, but at
// most 95 % of what the nodes of the cluster report, to leave space for daemons.
func (s *Plan) Allocatable() (milliCPU, memory int64) {
	if _, known := instances.Lookup(s.NodeType); known {
		milliCPU, memory = s.Type.Allocatable()
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

// Share returns the fraction of a node's CPU and memory that a pod gets. The denominator is 0 if it is unknown.
func (s *Plan) Share() (num, den int64) {
	switch {
	case !s.HasType:
		return 0, 0
	case s.Partition != "":
		return int64(s.Type.MIGShare(s.Partition, s.Devices.N) * 1e6), 1e6
	case s.Devices.N > 0 && s.Type.Accelerators > 0 && (s.Resource == s.Type.Resource || neuron(s.Resource)):
		return int64(s.Devices.N), int64(s.Type.Accelerators)
	case s.Type.Accelerators > 0:
		return 0, 0
	case s.VCPU != "" && s.Memory == "":
		if q, err := resource.ParseQuantity(s.VCPU); err == nil && s.Type.VCPU > 0 {
			return q.MilliValue(), int64(s.Type.VCPU) * 1000
		}
	case s.Memory != "" && s.VCPU == "":
		if q, err := resource.ParseQuantity(s.Memory); err == nil && s.Type.MemoryGiB > 0 {
			return q.Value() >> 20, int64(s.Type.MemoryGiB) << 10
		}
	}
	return 1, 1
}

// CPUText writes millicores as a quantity, in whole cores from one core on.
func CPUText(milli int64) string {
	if milli >= 1000 {
		return fmt.Sprint(milli / 1000)
	}
	return fmt.Sprintf("%dm", milli)
}

// MemoryText writes bytes as a quantity, in whole GiB from one GiB on.
func MemoryText(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%dGi", bytes>>30)
	}
	return fmt.Sprintf("%dMi", bytes>>20)
}
