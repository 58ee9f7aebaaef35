module hyperpod.test/trainingoperator

go 1.25.0

require github.com/kubeflow/training-operator v1.9.3
