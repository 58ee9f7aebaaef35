package control

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// podPlan is one pod that a running job should have.
type podPlan struct {
	// name is the pod's name. A name that ends in "-" is a generateName.
	name     string
	role     string
	labels   map[string]string
	template map[string]any
}

// plan returns the pods that a running job should have, with the names and labels that
// the kind's operator sets.
func plan(j job) []podPlan {
	var out []podPlan
	for _, p := range j.kind.Parts(j.m()) {
		for i := range p.Replicas {
			w := podPlan{role: p.Name, template: p.Template, labels: map[string]string{j.kind.PodLabel: j.o.Name}}
			w.identify(j, p, i)
			out = append(out, w)
		}
	}
	return out
}

// identify sets the name and labels of the i-th pod of a role.
func (w *podPlan) identify(j job, p kinds.Part, i int64) {
	name, role, index := j.o.Name, strings.ToLower(p.Name), strconv.FormatInt(i, 10)
	labels := j.kind.Numbers
	switch {
	case j.kind.Style == kinds.Training && labels.Role != "":
		w.name = name + "-" + role + "-" + index
		w.labels["training.kubeflow.org/operator-name"] = strings.ToLower(j.kind.Kind) + "-controller"
		w.labels[labels.Role], w.labels[labels.Index] = role, index
		if role == "master" || role == "chief" {
			w.labels["training.kubeflow.org/job-role"] = "master"
		}
	case j.kind.Kind == kinds.MPIJob.Kind:
		w.labels["training.kubeflow.org/operator-name"] = "mpi-operator"
		w.labels["training.kubeflow.org/job-role"] = role
		if w.name = name + "-" + role + "-" + index; role == "launcher" {
			w.name = name + "-launcher-"
		} else {
			w.labels["training.kubeflow.org/replica-index"] = index
		}
	case j.kind.Style == kinds.Batch:
		w.labels["job-name"], w.labels["batch.kubernetes.io/controller-uid"], w.labels["controller-uid"] = name, j.o.UID, j.o.UID
		if w.name = name + "-"; object.Text(j.m(), "spec", "completionMode") == "Indexed" {
			w.name = name + "-" + index + "-"
			w.labels["batch.kubernetes.io/job-completion-index"] = index
		}
	case j.kind.Style == kinds.RayRun, j.kind.Style == kinds.RayNodes:
		cluster := name
		if j.kind.Style == kinds.RayRun {
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
	case j.kind.Style == kinds.JobGroups:
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

// rayCluster returns the name of a RayJob's cluster, which its status keeps.
func rayCluster(j job) string {
	if n := object.Text(j.m(), "status", "rayClusterName"); n != "" {
		return n
	}
	return j.o.Name + "-" + j.o.UID[:5]
}

// parallelism returns the number of pods per job of a JobSet's replicated job.
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
