package kinds

import (
	"slices"
	"strings"
)

// PyTorchJob is Kubeflow's kind for PyTorch. Its operator ranks the Master first.
var PyTorchJob = pytorchJob()

func pytorchJob() Job {
	j := oneMaster(mastered(kubeflow("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", "pytorch")))
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

// oneMaster returns a kind whose operator refuses a Master without the number 1.
//
// Source: pkg/webhooks/pytorch and xgboost of training-operator v1.9.
func oneMaster(j Job) Job {
	at := slices.Concat(j.Roles[0].Path[:2], []string{"Master"})
	j.Refuse = func(object map[string]any) (field, why string) {
		master, ok := lookup(object, at).(map[string]any)
		if n, given := master["replicas"]; !ok || given && !isWhole(n) {
			return "", ""
		}
		if n, given := number(master, path("replicas")); given && n <= 1 {
			return "", "" // every role needs at least one
		}
		return strings.Join(at, ".") + ".replicas", "must be 1"
	}
	return j
}

// isWhole reports a whole number. A placeholder is none, and other values are of the wrong type.
func isWhole(v any) bool {
	_, ok := Int(v)
	return ok
}
