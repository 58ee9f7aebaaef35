package kinds

import (
	"strconv"
	"strings"
)

// podLabels are the labels by which a pod's place in its job is told. Sources:
// the label constants of kubeflow training-operator v1.9 and mpi-operator v0.6,
// Kubernetes' batch API, JobSet v1alpha2, KubeRay v1, and PyTorch's elastic agent
// as the HyperPod training operator labels its pods.
const (
	replicaTypeLabel     = "training.kubeflow.org/replica-type"
	replicaIndexLabel    = "training.kubeflow.org/replica-index"
	jobRoleLabel         = "training.kubeflow.org/job-role"
	completionIndexLabel = "batch.kubernetes.io/job-completion-index"
	replicatedJobLabel   = "jobset.sigs.k8s.io/replicatedjob-name"
	jobIndexLabel        = "jobset.sigs.k8s.io/job-index"
	jobCountLabel        = "jobset.sigs.k8s.io/replicatedjob-replicas"
	rayNodeTypeLabel     = "ray.io/node-type"
	rayGroupLabel        = "ray.io/group"
	rayReplicaLabel      = "ray.io/worker-group-replica-index" // KubeRay v1.6 and later
	rayHostLabel         = "ray.io/replica-host-index"         // only where replicas have several hosts
)

// PodRole is where a pod belongs in its job.
type PodRole struct {
	// Role is the name that Parts gives the role; "" when the labels do not say.
	Role string
	// Index numbers the pods of the role from 0; -1 when the labels do not say.
	Index int
	// Rank numbers the training pods of the whole job from 0, as the operator
	// numbers them; -1 for a pod that does not train (a launcher, a Ray head) or
	// whose labels do not say.
	Rank int
}

// PodRole returns a pod's role and numbers in a job of this kind, by the pod's labels and the
// number of pods of each of the job's roles (as Parts has them).
func (j Job) PodRole(labels map[string]string, roles map[string]int64) PodRole {
	p := PodRole{Index: -1}
	name := ""
	switch {
	case j.Group == MPIJob.Group && j.Kind == MPIJob.Kind:
		name = labels[jobRoleLabel]
		p.Index = index(labels[replicaIndexLabel])
		if strings.EqualFold(name, launcher) {
			p.Index = 0
		}
	case j.Group == PyTorchJob.Group:
		name = labels[replicaTypeLabel]
		p.Index = index(labels[replicaIndexLabel])
	case j.Kind == BatchJob.Kind:
		p.Index = index(labels[completionIndexLabel])
	case j.Kind == JobSet.Kind:
		name = labels[replicatedJobLabel]
		p.Index = jobSetIndex(labels, roles[name])
	case j.Kind == RayJob.Kind || j.Kind == RayCluster.Kind:
		name = labels[rayGroupLabel]
		if _, several := labels[rayHostLabel]; !several { // how many hosts a replica has is on no label
			p.Index = index(labels[rayReplicaLabel])
		}
		if labels[rayNodeTypeLabel] == rayHead {
			name, p.Index = rayHead, 0
		}
	}
	for r := range roles {
		if strings.EqualFold(r, name) || name == "" && len(roles) == 1 {
			p.Role = r
		}
	}
	p.Rank = j.rank(p, roles)
	return p
}

const (
	launcher = "launcher"
	rayHead  = "head"
)

// rank is the RANK that the operator gives a pod: the training operator counts a
// Master before the workers.
func (j Job) rank(p PodRole, roles map[string]int64) int {
	switch {
	case p.Index < 0 || strings.EqualFold(p.Role, launcher), j.Group == RayJob.Group: // Ray gives no ranks
		return -1
	case (j.Kind == PyTorchJob.Kind || j.Kind == XGBoostJob.Kind) && !strings.EqualFold(p.Role, "Master"):
		return p.Index + int(roles["Master"])
	}
	return p.Index
}

// jobSetIndex numbers the pods of a group of jobs: those of the first job, of the
// second, and so on. pods is how many the whole group has.
func jobSetIndex(labels map[string]string, pods int64) int {
	jobs, at, inner := index(labels[jobCountLabel]), index(labels[jobIndexLabel]), index(labels[completionIndexLabel])
	switch {
	case at < 0 || inner < 0:
		return -1
	case jobs > 0:
		return at*int(pods)/jobs + inner
	case at == 0:
		return inner
	}
	return -1
}

func index(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return n
	}
	return -1
}
