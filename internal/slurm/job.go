package slurm

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Kind is the kind of Slurm's jobs in lists and documents.
var Kind = kinds.Job{Resource: kinds.Resource{Kind: "SlurmJob"}}

// Job is a job as Slurm shows it.
type Job struct {
	// ID is how Slurm's commands name it: 12, 12_3 for a task of an array, 12_[4-9] for the
	// tasks of an array that have not started.
	ID string
	// Array is the id of the array, "" outside of an array; Task the number in it.
	Array, Task                         string
	Name, User, Account, Partition, QOS string
	// State and Reason are Slurm's words.
	State, Reason      string
	Nodes, CPUs, Tasks int
	// Devices is the number of accelerators by resource, of all nodes together.
	Devices          map[string]int64
	NodeList         string
	Submit           time.Time
	Start, End       time.Time // expected ones while the job is pending or runs
	TimeLimit        string
	Dependency       string
	Command, WorkDir string
	Comment          string
	Restarts         int
	// Priority is the number by which Slurm orders pending jobs.
	Priority int
	// SchedNodes are the nodes that Slurm plans for a pending job.
	SchedNodes string
	// ExitCode is the exit code of the script, Signal what ended it; both are 0 for a job
	// that has not ended.
	ExitCode, Signal int
}

// Values returns the job and its status as every list shows them. The account is its
// namespace, the partition its queue, the QOS its priority, and the number of its Slurm job
// its UID.
func (j Job) Values() (state.Job, jobs.Status) {
	s := jobs.Status{Since: j.Submit, Wanted: j.Nodes, Restarts: j.Restarts}
	s.State, _ = StateOf(j.State, j.Reason)
	out := state.Job{Kind: Kind, Meta: state.Meta{Name: j.Name, Namespace: j.Account, UID: j.ID, CreationTimestamp: j.Submit,
		Labels: map[string]string{kinds.QueueLabel: j.Partition, kinds.PriorityLabel: j.QOS, kinds.CreatedByLabel: j.User}}, Restarts: j.Restarts,
		Roles: j.roles()}
	if s, ok := SweepOf(j.Comment); ok {
		maps.Copy(out.Meta.Labels, s.Point.Labels(s.Name))
		out.Meta.Annotations = map[string]string{kinds.SweepAnnotation: s.Point.String()}
	}
	switch s.State {
	case jobs.Pending, jobs.Suspended, jobs.Restarting:
		s.Reason = j.Reason
		if strings.Contains(s.Reason, " ") { // Slurm's sentence about nodes that are down
			s.Reason = "Resources"
		}
	case jobs.Running:
		s.Since, s.Ready = j.Start, j.Nodes
	case jobs.Starting:
		s.Since = j.Start
	case jobs.Failed:
		s.Since, s.Failed, s.Reason = j.End, j.Nodes, BareState(j.State)
	case jobs.Succeeded:
		s.Since = j.End
	}
	if s.Since.IsZero() {
		s.Since = j.Submit
	}
	if s.State != jobs.Pending && !j.Start.IsZero() {
		start := j.Start
		out.Start = &start
	}
	if s.State.Finished() && !j.End.IsZero() {
		end := j.End
		out.Completion = &end
	}
	s.Roles = []jobs.RoleStatus{{Name: "node", Wanted: s.Wanted, Ready: s.Ready, Failed: s.Failed}}
	return out, s
}

// roles returns the nodes with what each has. Accelerators that differ between nodes count for
// the job as a whole.
func (j Job) roles() []state.RoleCount {
	nodes := state.RoleCount{Name: "node", Replicas: int64(j.Nodes), Requests: map[string]int64{}}
	whole := state.RoleCount{Name: "job", Replicas: 1, Requests: map[string]int64{}}
	for name, n := range j.Devices {
		if j.Nodes > 0 && n%int64(j.Nodes) == 0 {
			nodes.Requests[name] = n / int64(j.Nodes)
		} else {
			whole.Requests[name] = n
		}
	}
	if len(whole.Requests) == 0 {
		return []state.RoleCount{nodes}
	}
	return []state.RoleCount{nodes, whole}
}

// Active reports whether the job is in the queue or runs.
func (j Job) Active() bool {
	s, _ := StateOf(j.State, j.Reason)
	return !s.Finished()
}

// Compare orders jobs by when they were submitted. Times are whole seconds; ids grow.
func (j Job) Compare(o Job) int {
	return cmp.Or(j.Submit.Compare(o.Submit), cmp.Compare(number(j.Number()), number(o.Number())))
}

// Number returns the number of the job, of the array for a task of one.
func (j Job) Number() string {
	id, _, _ := strings.Cut(j.ID, "_")
	return id
}

// IsID reports whether a word is the id of a job or of a task: 12, 12_3.
func IsID(word string) bool {
	job, task, array := strings.Cut(word, "_")
	return digits(job) && (!array || digits(task))
}

func digits(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil && s[0] != '+'
}

// gres are the accelerators among Slurm's generic resources. On HyperPod a gpu is NVIDIA's.
var gres = map[string]string{"gpu": "nvidia.com/gpu", "neuron": "aws.amazon.com/neuron", "neuron_device": "aws.amazon.com/neurondevice", "neuroncore": "aws.amazon.com/neuroncore"}

// addGres adds what a list of generic resources has, such as gres:gpu:h100:8 or
// gres/gpu=16. Typed and untyped counts of one resource in an allocation are the same
// devices, so the largest counts.
func addGres(to map[string]int64, list string, times int) {
	most := map[string]int64{}
	for _, item := range strings.Split(list, ",") {
		item, isGres := strings.CutPrefix(item, "gres")
		if !isGres || item == "" {
			continue
		}
		item, _, _ = strings.Cut(item[1:], "(")
		parts := strings.FieldsFunc(item, func(r rune) bool { return r == ':' || r == '=' })
		if len(parts) == 0 {
			continue
		}
		resource, ok := gres[parts[0]]
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(parts[len(parts)-1], 10, 32)
		if err != nil {
			n = 1
		}
		most[resource] = max(most[resource], n)
	}
	for resource, n := range most {
		to[resource] += n * int64(times)
	}
}
