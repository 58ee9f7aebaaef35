package kinds

import trainingv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"

// TFJob is Kubeflow's kind for TensorFlow.
var TFJob = kubeflow[trainingv1.TFJob]("TFJob", "tfjobs", "tfReplicaSpecs")
