package kinds

import trainingv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"

// PaddleJob is Kubeflow's kind for PaddlePaddle. Its operator ranks the Master first.
var PaddleJob = mastered(kubeflow[trainingv1.PaddleJob]("PaddleJob", "paddlejobs", "paddleReplicaSpecs"))
