package kinds

// PyTorchJob is Kubeflow's kind for PyTorch. Its operator ranks the Master first.
var PyTorchJob = mastered(kubeflow("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs"))

// mastered is a kind whose Master is one of the pods that train.
func mastered(j Job) Job {
	j.Numbers.First = "Master"
	return j
}
