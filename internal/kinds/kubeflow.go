package kinds

import (
	"strconv"
	"strings"
)

// kubeflow describes a kind of the Kubeflow training operator (v1.9); specs is the field
// with its roles, container the name that it looks for, "" for any.
func kubeflow(kind, plural, specs, container string) Job {
	return Job{
		Resource:    Resource{Group: "kubeflow.org", Version: "v1", Plural: plural, Kind: kind, Namespaced: true},
		PodLabel:    "training.kubeflow.org/job-name",
		SuspendPath: path("spec.runPolicy.suspend"),
		Roles:       []Role{{Path: path("spec." + specs + ".*"), Replicas: path("replicas"), Template: path("template")}},
		Operator:    "Kubeflow training operator",
		Style:       Training,
		Services:    true,
		launch:      &Launch{Container: container, Restart: Restart{Where: OfRole}},
		Numbers:     Numbers{Role: replicaTypeLabel, Index: replicaIndexLabel},
		Policy: Policy{At: path("spec.runPolicy"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds",
			Backoff: "backoffLimit", Clean: "cleanPodPolicy"},
		Made: func(p Planned) (string, map[string]string) {
			role, number := p.numbered()
			labels := map[string]string{operatorLabel: strings.ToLower(kind) + "-controller", replicaTypeLabel: role, replicaIndexLabel: number}
			if role == "master" || role == "chief" {
				labels[jobRoleLabel] = "master"
			}
			return p.Name + "-" + role + "-" + number, labels
		},
	}
}

// numbered returns the pod's role in lower case and its number there.
func (p Planned) numbered() (role, number string) {
	return strings.ToLower(p.Part.Name), strconv.FormatInt(p.Index, 10)
}

// The labels of the training operator and the MPI operator.
const (
	replicaTypeLabel  = "training.kubeflow.org/replica-type"
	replicaIndexLabel = "training.kubeflow.org/replica-index"
	jobRoleLabel      = "training.kubeflow.org/job-role"
	operatorLabel     = "training.kubeflow.org/operator-name"
)
