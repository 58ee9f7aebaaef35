package startjob

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Size holds the flags about nodes and what each pod requests. Fields have the names of their flags; a nil number was not
// given.
type Size struct {
	InstanceType           string
	NodeCount              *int
	TasksPerNode           string // a number, auto, gpu or cpu
	Accelerators, EFA      *int
	VCPU, Memory           string
	VCPULimit, MemoryLimit string
	Partition              string // --accelerator-partition-type
	PartitionCount         *int   // --accelerator-partition-count

	// The limits of devices are flags of the official CLI v3, which needs the number twice.
	AcceleratorsLimit, EFALimit, PartitionLimit *int
}

// Title implements factory.OptionGroup.
func (*Size) Title() string { return "Size" }

// AddFlags implements factory.OptionGroup.
func (s *Size) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	factory.AddText(fs, &s.InstanceType, factory.Text{Name: "instance-type", Usage: "instance type of the nodes, for example ml.p5.48xlarge",
		Must: "must be an instance type such as ml.p5.48xlarge", Fits: func(s string) bool { return len(validation.IsValidLabelValue(s)) == 0 }})
	factory.OptionalInt(fs, &s.NodeCount, "node-count", "number of nodes; each runs one worker pod")
	fs.StringVar(&s.TasksPerNode, "tasks-per-node", "", "processes per pod: a number, auto, gpu or cpu (default: one per accelerator or core)")
	factory.OptionalInt(fs, &s.Accelerators, "accelerators", "accelerators per pod (default: all of the instance type)")
	factory.OptionalInt(fs, &s.EFA, "efa", "EFA interfaces per pod (default: in proportion to the accelerators)")
	fs.StringVar(&s.VCPU, "vcpu", "", "CPU request per pod, a quantity")
	fs.StringVar(&s.Memory, "memory", "", "memory request per pod, a quantity")
	fs.StringVar(&s.VCPULimit, "vcpu-limit", "", "CPU limit per pod, a quantity (default: no limit)")
	fs.StringVar(&s.MemoryLimit, "memory-limit", "", "memory limit per pod, a quantity (default: no limit)")
	fs.StringVar(&s.Partition, "accelerator-partition-type", "", "MIG profile to request instead of whole accelerators, for example 1g.10gb")
	factory.OptionalInt(fs, &s.PartitionCount, "accelerator-partition-count", "number of MIG partitions per pod (default 1)")
	factory.OptionalInt(fs, &s.AcceleratorsLimit, "accelerators-limit", "same as --accelerators")
	factory.OptionalInt(fs, &s.EFALimit, "efa-limit", "same as --efa")
	factory.OptionalInt(fs, &s.PartitionLimit, "accelerator-partition-limit", "same as --accelerator-partition-count")
	for _, name := range []string{"accelerators-limit", "efa-limit", "accelerator-partition-limit"} {
		fs.Lookup(name).Hidden = true
	}
}

// Validate implements factory.OptionGroup.
func (s *Size) Validate() error {
	for _, c := range []struct {
		flag  string
		value *int
		least int
	}{{"node-count", s.NodeCount, 1}, {"accelerators", s.Accelerators, 0}, {"efa", s.EFA, 0}} {
		if err := atLeast(c.flag, c.value, c.least); err != nil {
			return err
		}
	}
	return nil
}

// atLeast returns the error about a number that is too small.
func atLeast(flag string, value *int, least int) error {
	if value == nil || *value >= least {
		return nil
	}
	return factory.Invalid(flag, *value, "must be at least "+strconv.Itoa(least)).Suggest(errs.Option("--"+flag, strconv.Itoa(max(least, -*value))))
}

func (s *Size) set(v *values.Values) (err error) {
	v.InstanceType, v.NodeCount = s.InstanceType, s.NodeCount
	v.VCPU, v.Memory, v.VCPULimit, v.MemoryLimit = s.VCPU, s.Memory, s.VCPULimit, s.MemoryLimit
	v.Partition = s.Partition
	if v.Accelerators, err = sameLimit("accelerators", "accelerators", s.Accelerators, s.AcceleratorsLimit); err != nil {
		return err
	}
	if v.EFA, err = sameLimit("efa", "efa", s.EFA, s.EFALimit); err != nil {
		return err
	}
	if v.PartitionCount, err = sameLimit("accelerator-partition-count", "accelerator-partition", s.PartitionCount, s.PartitionLimit); err != nil {
		return err
	}
	switch text := strings.ToLower(s.TasksPerNode); text {
	case "":
	case "auto", "cpu", "gpu":
		v.TasksBy = text
	default:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return factory.Invalid("tasks-per-node", s.TasksPerNode, "must be a number of at least 1, auto, gpu or cpu").Suggest(errs.Option("--tasks-per-node", "auto"))
		}
		v.TasksPerNode = &n
	}
	return nil
}

// sameLimit returns the number of devices that a request and its limit state. Devices cannot be overcommitted, so two
// different numbers are an error.
func sameLimit(flag, limited string, request, limit *int) (*int, error) {
	switch {
	case limit == nil:
		return request, nil
	case request != nil && *request != *limit:
		return nil, errs.Usagef("--%s-limit %d must equal --%s %d: devices cannot be overcommitted", limited, *limit, flag, *request).
			Suggest(errs.Option("--"+flag, strconv.Itoa(*request)))
	}
	return limit, nil
}

// Elastic holds the flags of jobs that grow and shrink. Fields have the names of their flags; a nil number was not given.
type Elastic struct {
	MinNodes, MaxNodes        *int  // --min-node-count, --max-node-count
	Step                      *int  // --elastic-replica-increment-step
	Sizes                     []int // --elastic-replica-discrete-values
	Scaling, Shutdown, Snooze *int  // --elastic-...-in-seconds
}

// Title implements factory.OptionGroup.
func (*Elastic) Title() string { return "Elastic size" }

// AddFlags implements factory.OptionGroup.
func (e *Elastic) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	factory.OptionalInt(fs, &e.MinNodes, "min-node-count", "minimum number of nodes of an elastic job (default: --node-count)")
	factory.OptionalInt(fs, &e.MaxNodes, "max-node-count", "maximum number of nodes of an elastic job (default: --node-count)")
	factory.OptionalInt(fs, &e.Step, "elastic-replica-increment-step", "number of nodes to add or remove at a time (HyperPodPyTorchJob only)")
	fs.IntSliceVar(&e.Sizes, "elastic-replica-discrete-values", nil, "allowed numbers of nodes (HyperPodPyTorchJob only)")
	factory.OptionalInt(fs, &e.Scaling, "elastic-scaling-timeout-in-seconds", "time limit for a change of size (HyperPodPyTorchJob only)")
	factory.OptionalInt(fs, &e.Shutdown, "elastic-graceful-shutdown-timeout-in-seconds", "time that processes have to stop (HyperPodPyTorchJob only)")
	factory.OptionalInt(fs, &e.Snooze, "elastic-scale-up-snooze-time-in-seconds", "delay before the job grows again (HyperPodPyTorchJob only)")
}

// Validate implements factory.OptionGroup.
func (e *Elastic) Validate() error { return nil }

func (e *Elastic) set(v *values.Values) error {
	v.Elastic = values.Elastic{Min: e.MinNodes, Max: e.MaxNodes, Step: e.Step, Sizes: e.Sizes,
		ScalingTimeout: e.Scaling, ShutdownTimeout: e.Shutdown, ScaleUpSnooze: e.Snooze}
	return nil
}
