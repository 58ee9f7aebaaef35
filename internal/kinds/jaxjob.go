package kinds

import trainingv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"

// JAXJob is Kubeflow's kind for JAX.
var JAXJob = kubeflow[trainingv1.JAXJob]("JAXJob", "jaxjobs", "jaxReplicaSpecs")
