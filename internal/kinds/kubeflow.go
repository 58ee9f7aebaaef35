package kinds

// kubeflow describes a kind of the Kubeflow training operator (v1.9); specs is the field
// with its roles.
func kubeflow(kind, plural, specs string) Job {
	return Job{
		Resource:    Resource{Group: "kubeflow.org", Version: "v1", Plural: plural, Kind: kind, Namespaced: true},
		PodLabel:    "training.kubeflow.org/job-name",
		SuspendPath: path("spec.runPolicy.suspend"),
		Roles:       []Role{{Path: path("spec." + specs + ".*"), Replicas: path("replicas"), Template: path("template")}},
		Operator:    "Kubeflow training operator",
		Style:       Training,
		Numbers:     Numbers{Role: replicaTypeLabel, Index: replicaIndexLabel},
		Policy: Policy{At: path("spec.runPolicy"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds",
			Backoff: "backoffLimit", Clean: "cleanPodPolicy"},
	}
}

// The labels of the training operator and the MPI operator.
const (
	replicaTypeLabel  = "training.kubeflow.org/replica-type"
	replicaIndexLabel = "training.kubeflow.org/replica-index"
	jobRoleLabel      = "training.kubeflow.org/job-role"
)
