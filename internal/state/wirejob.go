package state

import (
	"maps"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// wireJob is what is read of a job, whatever its kind: the union of the fields
// of all kinds. A test holds its roles against the table of kinds.
type wireJob struct {
	Metadata wireJobMeta   `json:"metadata"`
	Spec     wireJobSpec   `json:"spec"`
	Status   wireJobStatus `json:"status"`
}

type wireJobMeta struct {
	wireMeta
	ManagedFields []wireManager `json:"managedFields"`
}

type wireManager struct {
	Manager     string `json:"manager"`
	Subresource string `json:"subresource"`
	Time        stamp  `json:"time"`
}

// creator returns the manager of the earliest write.
func (m wireJobMeta) creator() string {
	var first wireManager
	for _, w := range m.ManagedFields {
		if w.Subresource == "" && w.Manager != "" && (first.Manager == "" || w.Time.Before(first.Time.Time)) {
			first = w
		}
	}
	if first.Time.After(m.CreationTimestamp.Add(time.Second)) {
		return "" // the creation is not recorded any more; times are whole seconds
	}
	return first.Manager
}

type wireJobSpec struct {
	Suspend   bool `json:"suspend"`
	RunPolicy struct {
		Suspend          bool  `json:"suspend"`
		JobMaxRetryCount whole `json:"jobMaxRetryCount"`
	} `json:"runPolicy"`

	PyTorch map[string]wireReplica `json:"pytorchReplicaSpecs"`
	MPI     map[string]wireReplica `json:"mpiReplicaSpecs"`
	TF      map[string]wireReplica `json:"tfReplicaSpecs"`
	XGB     map[string]wireReplica `json:"xgbReplicaSpecs"`

	HyperPod []wireReplica `json:"replicaSpecs"`

	Parallelism *whole        `json:"parallelism"` // batch Job
	Completions *whole        `json:"completions"`
	Template    *wireTemplate `json:"template"`

	RayCluster *wireRay `json:"rayClusterSpec"`
	wireRay

	ReplicatedJobs []wireReplicatedJob `json:"replicatedJobs"`
}

type wireRay struct {
	Head    *wireReplica  `json:"headGroupSpec"`
	Workers []wireReplica `json:"workerGroupSpecs"`
}

type wireReplica struct {
	Name      string        `json:"name"`
	GroupName string        `json:"groupName"`
	Replicas  *whole        `json:"replicas"`
	Template  *wireTemplate `json:"template"`
}

type wireReplicatedJob struct {
	Name     string `json:"name"`
	Replicas *whole `json:"replicas"`
	Template struct {
		Spec struct {
			Parallelism *whole        `json:"parallelism"`
			Completions *whole        `json:"completions"`
			Template    *wireTemplate `json:"template"`
		} `json:"spec"`
	} `json:"template"`
}

type wireTemplate struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec wirePodSpec `json:"spec"`
}

type wireJobStatus struct {
	Conditions      []wireCondition              `json:"conditions"`
	StartTime       stamp                        `json:"startTime"`
	CompletionTime  stamp                        `json:"completionTime"`
	EndTime         stamp                        `json:"endTime"`
	ReplicaStatuses map[string]wireReplicaStatus `json:"replicaStatuses"`
	Message         string                       `json:"message"`
	Reason          string                       `json:"reason"`

	// batch Job and, for its tries, RayJob
	Active    whole `json:"active"`
	Ready     whole `json:"ready"`
	Succeeded whole `json:"succeeded"`
	Failed    whole `json:"failed"`

	JobStatus           string         `json:"jobStatus"`
	JobDeploymentStatus string         `json:"jobDeploymentStatus"`
	RayClusterName      string         `json:"rayClusterName"`
	RayClusterStatus    *wireRayStatus `json:"rayClusterStatus"`
	wireRayStatus

	TerminalState  string            `json:"terminalState"`
	Restarts       whole             `json:"restarts"`
	RestartCount   whole             `json:"restartCount"`
	ReplicatedJobs []wireNamedStatus `json:"replicatedJobsStatus"`
}

type wireRayStatus struct {
	State          string `json:"state"`
	ReadyWorkers   whole  `json:"readyWorkerReplicas"`
	DesiredWorkers whole  `json:"desiredWorkerReplicas"`
}

type wireReplicaStatus struct {
	Active    whole `json:"active"`
	Ready     whole `json:"ready"`
	Succeeded whole `json:"succeeded"`
	Failed    whole `json:"failed"`
}

type wireNamedStatus struct {
	Name string `json:"name"`
	wireReplicaStatus
}

func (w wireReplicaStatus) status() ReplicaStatus {
	return ReplicaStatus{Active: int(w.Active), Ready: int(w.Ready), Succeeded: int(w.Succeeded), Failed: int(w.Failed)}
}

func (r ReplicaStatus) times(n int) ReplicaStatus {
	return ReplicaStatus{Active: r.Active * n, Ready: r.Ready * n, Succeeded: r.Succeeded * n, Failed: r.Failed * n}
}

// atMost returns how many pods of a batch Job run at a time: never more than are to
// complete.
func atMost(parallelism, completions *whole) int64 {
	n := parallelism.or(1)
	return min(n, completions.or(n))
}

// pods returns how many pods each job of a JobSet's group has.
func (r wireReplicatedJob) pods() int64 {
	return atMost(r.Template.Spec.Parallelism, r.Template.Spec.Completions)
}

func (w *wireJob) job(k kinds.Job) Job {
	s, st := &w.Spec, &w.Status
	j := Job{
		Kind: k, Meta: w.Metadata.meta(), Manager: w.Metadata.creator(), Suspended: s.Suspend || s.RunPolicy.Suspend,
		Conditions: conditions(st.Conditions), Start: st.StartTime.ptr(), Completion: st.CompletionTime.ptr(),
		Reason: st.Reason, Message: st.Message, Restarts: int(st.Restarts + st.RestartCount),
		DeploymentPhase: st.JobDeploymentStatus, MaxRetries: int(s.RunPolicy.JobMaxRetryCount),
	}
	if j.Completion == nil {
		j.Completion = st.EndTime.ptr()
	}
	switch {
	case st.JobStatus != "":
		j.Phase = st.JobStatus
	case st.TerminalState != "":
		j.Phase = st.TerminalState
	default:
		j.Phase = st.State
	}
	j.PodSelector = j.Name
	if len(k.PodLabelFrom) > 0 {
		j.PodSelector = st.RayClusterName
	}
	if j.PodSelector != "" {
		j.PodSelector = k.PodLabel + "=" + j.PodSelector
	}
	s.roles(&j)
	st.replicas(&j, s)
	return j
}

// add adds a role, with what is read of its pod template.
func (j *Job) add(name string, pods int64, t *wireTemplate) {
	if t == nil {
		return
	}
	r := RoleCount{Name: name, Replicas: pods}
	if d := t.Spec.requests(kinds.Accelerator); len(d) > 0 {
		r.Requests = d
	}
	j.Roles = append(j.Roles, r)
	if j.PodPriorityClass == "" {
		j.PodPriorityClass = t.Spec.PriorityClassName
	}
	if j.TemplatePriority == "" {
		j.TemplatePriority = t.Metadata.Labels[kinds.PriorityLabel]
	}
}

// roles fills in the roles and what is read of their pod templates.
func (s *wireJobSpec) roles(j *Job) {
	add := j.add
	for _, specs := range []map[string]wireReplica{s.PyTorch, s.MPI, s.TF, s.XGB} {
		for _, name := range slices.Sorted(maps.Keys(specs)) {
			add(name, specs[name].Replicas.or(1), specs[name].Template)
		}
	}
	for _, r := range s.HyperPod {
		add(r.Name, r.Replicas.or(1), r.Template)
	}
	add("worker", atMost(s.Parallelism, s.Completions), s.Template)
	ray := s.wireRay
	if s.RayCluster != nil {
		ray = *s.RayCluster
	}
	if ray.Head != nil {
		add("head", 1, ray.Head.Template)
	}
	for _, r := range ray.Workers {
		add(r.GroupName, r.Replicas.or(0), r.Template)
	}
	for _, r := range s.ReplicatedJobs {
		add(r.Name, r.Replicas.or(1)*r.pods(), r.Template.Spec.Template)
	}
}

// replicas fills in the counts of pods by role. A JobSet counts its jobs; as many
// pods run or end as those jobs have.
func (s *wireJobStatus) replicas(j *Job, spec *wireJobSpec) {
	set := func(name string, r ReplicaStatus) {
		if j.Replicas == nil {
			j.Replicas = map[string]ReplicaStatus{}
		}
		j.Replicas[name] = r
	}
	for name, r := range s.ReplicaStatuses {
		set(name, r.status())
	}
	pods := map[string]int{}
	for _, r := range spec.ReplicatedJobs {
		pods[r.Name] = int(r.pods())
	}
	for _, r := range s.ReplicatedJobs {
		set(r.Name, r.status().times(pods[r.Name]))
	}
	if j.Kind.Style == kinds.Batch && s.Active+s.Ready+s.Succeeded+s.Failed > 0 {
		set("worker", ReplicaStatus{Active: int(s.Active), Ready: int(s.Ready), Succeeded: int(s.Succeeded), Failed: int(s.Failed)})
	}
	ray := s.wireRayStatus
	if s.RayClusterStatus != nil {
		ray = *s.RayClusterStatus
	}
	if ray.DesiredWorkers+ray.ReadyWorkers > 0 {
		set("workers", ReplicaStatus{Active: int(ray.DesiredWorkers), Ready: int(ray.ReadyWorkers)})
	}
	if ray.State == "ready" { // all pods, the head among them, are or were ready
		set("head", ReplicaStatus{Active: 1, Ready: 1})
	}
}
