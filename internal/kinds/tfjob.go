package kinds

// TFJob is Kubeflow's kind for TensorFlow.
var TFJob = kubeflow("TFJob", "tfjobs", "tfReplicaSpecs", "tensorflow")
