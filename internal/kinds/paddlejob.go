package kinds

// PaddleJob is Kubeflow's kind for PaddlePaddle. Its operator ranks the Master first.
var PaddleJob = mastered(kubeflow("PaddleJob", "paddlejobs", "paddleReplicaSpecs", "paddle"))
