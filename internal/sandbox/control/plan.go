package control

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// wish is one pod that a running job should have.
type wish struct {
	// name is the pod's name; where it ends in "-" the API server would make up
	// the rest.
	name     string
	role     string
	labels   map[string]string
	template map[string]any
}

// plan returns the pods that a job should have while it runs, named and labelled
// as the kind's operator does it.
func plan(j job) []wish {
	var out []wish
	for _, p := range j.kind.Parts(j.m()) {
		for i := range p.Replicas {
			w := wish{role: p.Name, template: p.Template, labels: map[string]string{j.kind.PodLabel: j.o.Name}}
			nameWish(&w, j, p, i)
			out = append(out, w)
		}
	}
	return out
}

func nameWish(w *wish, j job, p kinds.Part, i int64) {
	name, role, index := j.o.Name, strings.ToLower(p.Name), strconv.FormatInt(i, 10)
	switch j.kind.Kind {
	case kinds.PyTorchJob.Kind, kinds.TFJob.Kind, kinds.XGBoostJob.Kind:
		w.name = name + "-" + role + "-" + index
		w.labels["training.kubeflow.org/operator-name"] = strings.ToLower(j.kind.Kind) + "-controller"
		w.labels["training.kubeflow.org/replica-type"] = role
		w.labels["training.kubeflow.org/replica-index"] = index
		if role == "master" || role == "chief" {
			w.labels["training.kubeflow.org/job-role"] = "master"
		}
	case kinds.MPIJob.Kind:
		w.labels["training.kubeflow.org/operator-name"] = "mpi-operator"
		w.labels["training.kubeflow.org/job-role"] = role
		if w.name = name + "-" + role + "-" + index; role == "launcher" {
			w.name = name + "-launcher-"
		} else {
			w.labels["training.kubeflow.org/replica-index"] = index
		}
	case kinds.BatchJob.Kind:
		w.labels["job-name"], w.labels["batch.kubernetes.io/controller-uid"], w.labels["controller-uid"] = name, j.o.UID, j.o.UID
		if w.name = name + "-"; object.Text(j.m(), "spec", "completionMode") == "Indexed" {
			w.name = name + "-" + index + "-"
			w.labels["batch.kubernetes.io/job-completion-index"] = index
		}
	case kinds.RayJob.Kind, kinds.RayCluster.Kind:
		cluster := name
		if j.kind.Kind == kinds.RayJob.Kind {
			cluster = rayCluster(j)
			w.labels["ray.io/originated-from-crd"], w.labels["ray.io/originated-from-cr-name"] = "RayJob", name
		}
		w.labels["ray.io/cluster"], w.labels["ray.io/is-ray-node"] = cluster, "yes"
		w.labels["ray.io/node-type"], w.labels["ray.io/group"] = "worker", p.Name
		w.name = cluster + "-" + p.Name + "-worker-"
		if role == "head" {
			w.labels["ray.io/node-type"], w.labels["ray.io/group"] = "head", "headgroup"
			w.name = cluster + "-head-"
		}
	case kinds.JobSet.Kind:
		pods := max(1, parallelism(j, p.Name))
		w.name = fmt.Sprintf("%s-%s-%d-%d-", name, p.Name, i/pods, i%pods)
		w.labels["jobset.sigs.k8s.io/replicatedjob-name"] = p.Name
		w.labels["jobset.sigs.k8s.io/job-index"] = strconv.FormatInt(i/pods, 10)
		w.labels["batch.kubernetes.io/job-completion-index"] = strconv.FormatInt(i%pods, 10)
		w.labels["jobset.sigs.k8s.io/restart-attempt"] = "0"
	default:
		w.name = name + "-" + role + "-" + index
	}
}

// rayCluster is the name of a RayJob's cluster: made up once, then in its status.
func rayCluster(j job) string {
	if n := object.Text(j.m(), "status", "rayClusterName"); n != "" {
		return n
	}
	return j.o.Name + "-" + j.o.UID[:5]
}

// parallelism is how many pods each job of a JobSet's replicated job has.
func parallelism(j job, name string) int64 {
	for _, r := range object.List(j.m(), "spec", "replicatedJobs") {
		if object.Text(r, "name") == name {
			if n, ok := object.Int(r, "template", "spec", "parallelism"); ok {
				return n
			}
		}
	}
	return 1
}
