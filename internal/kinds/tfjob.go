package kinds

// TFJob is Kubeflow's kind for TensorFlow.
var TFJob = tfJob()

func tfJob() Job {
	j := kubeflow("TFJob", "tfjobs", "tfReplicaSpecs", "tensorflow")
	j.Refuse = j.refuseCounts(rolesRule{either: []string{"Chief", "Master"}})
	return j
}
