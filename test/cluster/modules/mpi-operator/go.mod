module hyperpod.test/mpioperator

go 1.25.0

require github.com/kubeflow/mpi-operator v0.6.0
