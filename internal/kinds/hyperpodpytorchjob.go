package kinds

// HyperPodPyTorchJob is the kind of the HyperPod training operator, as its documentation
// describes it.
var HyperPodPyTorchJob = Job{
	Resource:    Resource{Group: "sagemaker.amazonaws.com", Version: "v1", Plural: "hyperpodpytorchjobs", Kind: "HyperPodPyTorchJob", Namespaced: true},
	PodLabel:    "HPJob",
	SuspendPath: path("spec.runPolicy.suspend"),
	Roles:       []Role{{Path: path("spec.replicaSpecs.*"), NameKey: "name", Replicas: path("replicas"), Template: path("template")}},
	Operator:    "HyperPod training operator",
	Style:       Training,
	Policy:      Policy{At: path("spec.runPolicy"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds", Clean: "cleanPodPolicy"},
}
