package kinds

// BatchJob is the Job of Kubernetes (batch/v1).
var BatchJob = Job{
	Resource:    Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true},
	PodLabel:    "batch.kubernetes.io/job-name",
	SuspendPath: path("spec.suspend"),
	Roles:       []Role{{Path: path("spec"), Name: "worker", Replicas: path("parallelism"), AtMost: path("completions"), Template: path("template")}},
	NeedsQueue:  true,
	Operator:    "Kubernetes",
	Style:       Batch,
	Numbers:     Numbers{Index: completionIndexLabel},
	Policy:      Policy{At: path("spec"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds", Backoff: "backoffLimit"},
}

const completionIndexLabel = "batch.kubernetes.io/job-completion-index"
