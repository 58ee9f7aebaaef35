package kinds

import (
	"fmt"
	"strings"
)

// MPIJob is the kind of the MPI operator (v0.6). Its launcher starts the workers.
var MPIJob = mpiJob()

func mpiJob() Job {
	j := kubeflow("MPIJob", "mpijobs", "mpiReplicaSpecs", "")
	j.Version, j.Operator = "v2beta1", "MPI operator"
	// The MPI operator (pkg/controller, v2beta1) and the training operator (pkg/controller.v1/mpi, v1).
	j.Volumes = []string{"mpi-job-config", "ssh-auth", "mpi-job-kubectl"}
	j.launch = &Launch{Program: "mpirun", Meets: ByHostFile, Tasks: path("spec.slotsPerWorker"), Restart: Restart{Where: OfRole, Allowed: []string{"OnFailure", "Never"}}}
	j.Numbers = Numbers{Place: func(labels map[string]string, _ map[string]int64) (string, int) {
		role := labels[jobRoleLabel]
		if strings.EqualFold(role, launcher) {
			return role, 0
		}
		return role, index(labels[replicaIndexLabel])
	}}
	j.Made = func(p Planned) (string, map[string]string) {
		role, number := p.numbered()
		labels := map[string]string{operatorLabel: "mpi-operator", jobRoleLabel: role}
		if role == launcher {
			return p.Name + "-launcher-", labels
		}
		labels[replicaIndexLabel] = number
		return p.Name + "-" + role + "-" + number, labels
	}
	j.PodMaker = launcherJob
	j.Says = func(namespace, name, what string) string {
		switch what {
		case "suspended", "resumed":
			return "MPIJob " + what
		case "successfully completed":
			return fmt.Sprintf("MPIJob %s/%s successfully completed.", namespace, name)
		}
		return fmt.Sprintf("MPIJob %s/%s is %s.", namespace, name, what)
	}
	return j
}

const launcher = "launcher"
