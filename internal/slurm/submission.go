package slurm

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Problem is why a submission has no sbatch script: the setting and its value.
type Problem struct {
	Code  ProblemCode
	Field Field
	Value string
	Near  []string
}

// ProblemCode says what is wrong with a value.
type ProblemCode string

// The codes.
const (
	NotPlain      ProblemCode = "NotPlain"      // has characters that an option of sbatch cannot have
	NoProgram     ProblemCode = "NoProgram"     // no program and no script is given
	UnknownType   ProblemCode = "UnknownType"   // nobody knows how many accelerators the type has
	NotQuantity   ProblemCode = "NotQuantity"   // no quantity of CPUs or memory
	NotVariable   ProblemCode = "NotVariable"   // no name of an environment variable
	NotRendezvous ProblemCode = "NotRendezvous" // a rendezvous that needs a server
)

// Field is what a problem is about.
type Field string

// The fields.
const (
	FieldName      Field = "name"
	FieldPartition Field = "partition"
	FieldAccount   Field = "account"
	FieldQOS       Field = "QOS"
	FieldType      Field = "instance type"
	FieldVCPU      Field = "vcpu"
	FieldMemory    Field = "memory"
	FieldVariable  Field = "environment"
	FieldBackend   Field = "rendezvous"
	FieldProgram   Field = "program"
)

// Error implements error.
func (p *Problem) Error() string { return fmt.Sprintf("%s %q: %s", p.Field, p.Value, p.Code) }

// Site is what a submission has to know of the cluster.
type Site struct {
	// Features are those of its nodes: HyperPod's lifecycle scripts may name instance types.
	Features []string
	// Devices is the largest number of GPUs of a node.
	Devices int64
}

// variable is a name that bash can export.
var variable = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// rendezvousPort is where the processes of several nodes meet, as in the templates.
const rendezvousPort = "29500"

// ScriptOf makes the script of a submission. The namespace is the account, the queue the
// partition, and the priority the QOS.
func ScriptOf(v values.Values, site Site) (Script, error) {
	s := Script{Name: v.Name, Partition: v.Queue, Account: v.Namespace, QOS: v.Priority, Nodes: 1, Output: ownOutput,
		Environment: v.Environment, AutoResume: v.AutoResume, Image: v.Image, Before: v.PreScript, After: v.PostScript}
	for _, c := range []struct {
		field Field
		value string
	}{{FieldName, s.Name}, {FieldPartition, s.Partition}, {FieldAccount, s.Account}, {FieldQOS, s.QOS}} {
		if c.value != "" && !Plain(c.value) {
			return s, &Problem{Code: NotPlain, Field: c.field, Value: c.value}
		}
	}
	for name := range v.Environment {
		if !variable().MatchString(name) {
			return s, &Problem{Code: NotVariable, Field: FieldVariable, Value: name}
		}
	}
	if v.NodeCount != nil {
		s.Nodes = *v.NodeCount
	}
	if d := v.RunPolicy.Deadline; d != nil {
		s.Minutes = Minutes(*d)
	}
	if v.ResultsDir != "" {
		s.Environment = map[string]string{"RESULTS_DIR": v.ResultsDir}
		for name, value := range v.Environment {
			s.Environment[name] = value
		}
	}
	kind, err := s.size(v, site)
	if err != nil {
		return s, err
	}
	return s, s.start(v, kind)
}

// size sets what the nodes give to the job.
func (s *Script) size(v values.Values, site Site) (instances.Type, error) {
	kind, known := instances.Lookup(v.InstanceType)
	if v.InstanceType != "" {
		full := instances.Full(v.InstanceType)
		for _, f := range site.Features {
			if instances.Full(f) == full {
				s.Constraint = f
			}
		}
		if !known && s.Constraint == "" {
			return kind, &Problem{Code: UnknownType, Field: FieldType, Value: v.InstanceType, Near: instances.Near(v.InstanceType)}
		}
	}
	switch {
	case v.Accelerators != nil:
		s.GPUs = *v.Accelerators
	case known && kind.Resource == gres["gpu"]:
		s.GPUs = kind.Accelerators
	case !known:
		s.GPUs = int(site.Devices)
	}
	s.Exclusive = v.Accelerators == nil && v.VCPU == "" && v.Memory == ""
	if v.VCPU != "" {
		q, err := resource.ParseQuantity(v.VCPU)
		if err != nil || q.Sign() <= 0 {
			return kind, &Problem{Code: NotQuantity, Field: FieldVCPU, Value: v.VCPU}
		}
		s.CPUs = int((q.MilliValue() + 999) / 1000)
	} else if v.Accelerators != nil && known && kind.Accelerators > 0 {
		s.CPUs = max(kind.VCPU*min(s.GPUs, kind.Accelerators)/kind.Accelerators, 1)
	}
	if v.Memory != "" {
		q, err := resource.ParseQuantity(v.Memory)
		if err != nil || q.Sign() <= 0 {
			return kind, &Problem{Code: NotQuantity, Field: FieldMemory, Value: v.Memory}
		}
		s.MemoryMiB = max(q.Value()>>20, 1)
	}
	return kind, nil
}

// start sets the program. torchrun gets its flags, as in the templates.
func (s *Script) start(v values.Values, kind instances.Type) error {
	launcher, err := shellwords.Split(v.Command)
	if err != nil {
		return err
	}
	if len(launcher) == 0 && v.EntryScript == "" {
		return &Problem{Code: NoProgram, Field: FieldProgram}
	}
	if len(launcher) == 0 {
		launcher = []string{"torchrun"}
	}
	for _, w := range launcher {
		s.Program = append(s.Program, words.ShellWord(w))
	}
	if len(launcher) == 1 && launcher[0] == "torchrun" {
		if err := s.torchrun(v, kind); err != nil {
			return err
		}
	}
	if v.EntryScript != "" {
		s.Program = append(s.Program, words.ShellWord(v.EntryScript))
	}
	for _, w := range v.ScriptArgs {
		s.Program = append(s.Program, words.ShellWord(w))
	}
	return nil
}

func (s *Script) torchrun(v values.Values, kind instances.Type) error {
	processes := max(s.GPUs, 1)
	switch {
	case v.TasksPerNode != nil:
		processes = *v.TasksPerNode
	case v.TasksBy == "cpu" && kind.VCPU > 0:
		processes = kind.VCPU
	case s.GPUs == 0 && kind.Accelerators > 0: // Trainium: a process for each core
		processes = kind.Accelerators * max(kind.Cores, 1)
	}
	s.Program = append(s.Program, "--nnodes="+strconv.Itoa(s.Nodes), "--nproc_per_node="+strconv.Itoa(processes))
	if s.Nodes == 1 && v.Rendezvous == (values.Rendezvous{}) {
		return nil
	}
	endpoint := HeadNode + ":" + rendezvousPort
	switch b := v.Rendezvous.Backend; {
	case v.Rendezvous.Endpoint != "":
		endpoint = words.ShellWord(v.Rendezvous.Endpoint)
	case b != "" && b != values.C10d:
		return &Problem{Code: NotRendezvous, Field: FieldBackend, Value: b}
	default:
		s.Meet = true
	}
	backend := v.Rendezvous.Backend
	if backend == "" {
		backend = values.C10d
	}
	s.Program = append(s.Program, "--rdzv_backend="+backend, "--rdzv_endpoint="+endpoint, "--rdzv_id="+JobID)
	return nil
}

// Minutes returns seconds as minutes, which are Slurm's unit of limits, rounded up.
func Minutes(seconds int) int { return max((seconds+59)/60, 1) }
