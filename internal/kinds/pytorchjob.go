package kinds

// PyTorchJob is Kubeflow's kind for PyTorch. Its operator ranks the Master first.
var PyTorchJob = pytorchJob()

func pytorchJob() Job {
	j := mastered(kubeflow("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", "pytorch"))
	j.launch.Tasks, j.launch.TasksText, j.launch.TasksElastic = path("spec.nprocPerNode"), true, "nProcPerNode"
	j.launch.Elastic, j.launch.Restart.Resumes = ElasticTorch, true
	j.launch.First = func(name string, object map[string]any) string {
		if lookup(object, path("spec.pytorchReplicaSpecs.Master")) != nil {
			return name + "-master-0"
		}
		return name + "-worker-0"
	}
	return j
}

// mastered returns a kind whose Master is one of the pods that train.
func mastered(j Job) Job {
	j.Numbers.First = "Master"
	return j
}
