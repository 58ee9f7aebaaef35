package kinds

import "strings"

// MPIJob is the kind of the MPI operator (v0.6). Its launcher starts the workers.
var MPIJob = mpiJob()

func mpiJob() Job {
	j := kubeflow("MPIJob", "mpijobs", "mpiReplicaSpecs")
	j.Version, j.Operator = "v2beta1", "MPI operator"
	j.Numbers = Numbers{Place: func(labels map[string]string, _ map[string]int64) (string, int) {
		role := labels[jobRoleLabel]
		if strings.EqualFold(role, launcher) {
			return role, 0
		}
		return role, index(labels[replicaIndexLabel])
	}}
	return j
}

const launcher = "launcher"
