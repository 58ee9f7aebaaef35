package kinds

// BatchJob is the Job of Kubernetes (batch/v1).
var BatchJob = Job{
	Resource:    Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true},
	PodLabel:    "batch.kubernetes.io/job-name",
	SuspendPath: path("spec.suspend"),
	Roles:       []Role{{Path: path("spec"), Name: "worker", Replicas: path("parallelism"), AtMost: path("completions"), Template: path("template")}},
	NeedsQueue:  true,
	Pauses:      true,
	Selector:    QueueLabel,
	Operator:    Kubernetes,
	Style:       Batch,
	Numbers:     Numbers{Index: completionIndexLabel},
	launch:      &Launch{Restart: Restart{Where: OfPods, Allowed: []string{"OnFailure", "Never"}, Default: "Never", Retries: path("spec.backoffLimit")}},
	OwnSelector: true,
	Policy:      Policy{At: path("spec"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds", Backoff: "backoffLimit"},
	Made: func(p Planned) (string, map[string]string) {
		_, number := p.numbered()
		labels := map[string]string{"job-name": p.Name, "batch.kubernetes.io/controller-uid": p.UID, "controller-uid": p.UID}
		if Text(p.Object, "spec", "completionMode") != "Indexed" {
			return p.Name + "-", labels
		}
		labels[completionIndexLabel] = number
		return p.Name + "-" + number + "-", labels
	},
}

// Kubernetes is the operator of the kinds that every cluster serves.
const Kubernetes = "Kubernetes"

const completionIndexLabel = "batch.kubernetes.io/job-completion-index"
