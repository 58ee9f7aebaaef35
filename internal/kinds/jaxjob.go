package kinds

// JAXJob is Kubeflow's kind for JAX.
var JAXJob = kubeflow("JAXJob", "jaxjobs", "jaxReplicaSpecs", "jax")
