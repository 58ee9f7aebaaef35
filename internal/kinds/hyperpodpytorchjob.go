package kinds

// HyperPodPyTorchJob is the kind of the HyperPod training operator, as its documentation
// describes it. Kueue knows it only as an external framework: the operator makes the
// Workload. Spare pods hold devices like the others, so they are counted; that is an
// assumption.
var HyperPodPyTorchJob = Job{
	Resource:    Resource{Group: "sagemaker.amazonaws.com", Version: "v1", Plural: "hyperpodpytorchjobs", Kind: "HyperPodPyTorchJob", Namespaced: true},
	PodLabel:    "HPJob",
	SuspendPath: path("spec.runPolicy.suspend"),
	Roles:       []Role{{Path: path("spec.replicaSpecs.*"), NameKey: "name", Replicas: path("replicas"), Template: path("template"), Spares: path("spares")}},
	External:    true,
	Operator:    "HyperPod training operator",
	Style:       Training,
	launch: &Launch{Program: "hyperpodrun", Meets: ByOperator, Tasks: path("spec.nprocPerNode"), TasksText: true, Elastic: ElasticSteps,
		Restart: Restart{Where: OfPods, Allowed: []string{"Always", "OnFailure", "Never"}, Retries: path("spec.runPolicy.jobMaxRetryCount"), Resumes: true}},
	Policy: Policy{At: path("spec.runPolicy"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds", Clean: "cleanPodPolicy"},
}

// hyperPodContainer is the name of the container in HyperPod's own samples.
const hyperPodContainer = "pytorch-job-container"
