package kinds

// InferenceEndpointConfig serves a model from S3, FSx or Hugging Face (v1). The HyperPod
// inference operator makes a Deployment, two where prefill and decode are apart. That the
// pods get the queue and priority labels of the object is documented; that they get its
// other labels is an assumption.
//
// Sources: the CRDs in aws/sagemaker-hyperpod-cli, helm_chart, and HyperPod's pages about task
// governance for model deployment.
var InferenceEndpointConfig = inference("InferenceEndpointConfig", "inferenceendpointconfigs", &Form{parts: []formPart{
	servingPart("spec", "model", "spec.replicas", "spec.worker", "spec.pdSpec", field("container.resources", "spec.worker.resources"), field("spec.affinity.nodeAffinity", "spec.nodeAffinity")),
	servingPart("spec.pdSpec.prefillSpec", "prefill", "spec.pdSpec.prefillSpec.replicas", "", "",
		field("container.resources", "spec.pdSpec.prefillSpec.resources"), field("spec.nodeSelector", "spec.pdSpec.prefillSpec.nodeSelector")),
	servingPart("spec.pdSpec.decodingSpec", "decode", "spec.pdSpec.decodingSpec.replicas", "", "",
		field("container.resources", "spec.pdSpec.decodingSpec.resources"), field("spec.nodeSelector", "spec.pdSpec.decodingSpec.nodeSelector")),
}})

// JumpStartModel serves a model of SageMaker's hub (v1). The hub says what its pods need, so
// nothing in the cluster does before they exist.
var JumpStartModel = inference("JumpStartModel", "jumpstartmodels", &Form{})

func inference(kind, plural string, form *Form) Job {
	return Job{
		Resource:   Resource{Group: "inference.sagemaker.aws.amazon.com", Version: "v1", Plural: plural, Kind: kind, Namespaced: true},
		NeedsQueue: true,
		Selector:   QueueLabel,
		Serves:     true,
		OnePod:     true,
		Form:       form,
		Operator:   "HyperPod inference operator",
		Style:      Described,
		Status: Status{Word: path("status.state"), Words: map[Phase][]string{
			Starting: {"DeploymentInProgress", "DeploymentPending"}, Running: {"DeploymentComplete"}, Failed: {"DeploymentFailed"}},
			Reason: path("status.deploymentStatus.reason"), Message: path("status.deploymentStatus.message")},
		SelectorText:  path("status.selector"),
		Numbers:       Numbers{Unranked: true},
		RestartPolicy: "Always",
		Made: func(p Planned) (string, map[string]string) {
			hash := p.UID[:min(8, len(p.UID))]
			return p.Name + "-" + hash + "-", map[string]string{"app": p.Name, templateHashLabel: hash}
		},
	}
}

// servingPart is a role of an InferenceEndpointConfig.
func servingPart(at, name, pods, when, unless string, own ...formField) formPart {
	p := formPart{Role: Role{Path: path(at), Name: name, PodSet: "main"}, container: "model", pods: path(pods)}
	p.also = [][]string{path("spec.instanceType"), path("spec.instanceTypes"), path("spec.pdSpec.prefillSpec.replicas")}
	if when != "" {
		p.when = [][]string{path(when)}
	}
	if unless != "" {
		p.unless = path(unless)
	}
	p.fields = append(own, field("metadata.labels", "metadata.labels"), field("container.image", "spec.worker.image"),
		field("container.command", "spec.worker.command"), field("container.args", "spec.worker.args"), field("container.env", "spec.worker.environmentVariables"),
		field("container.workingDir", "spec.worker.workingDir"), field("spec.initContainers", "spec.kubernetes.initContainers"),
		field("spec.volumes", "spec.kubernetes.volumes"), field("spec.serviceAccountName", "spec.kubernetes.serviceAccountName"),
		field("spec.schedulerName", "spec.kubernetes.schedulerName"))
	p.complete = func(object, template, _ map[string]any) {
		if t := Text(object, "spec", "instanceType"); t != "" && At(template, "spec", "nodeSelector") == nil {
			Set(template, t, "spec", "nodeSelector", InstanceTypeLabel)
		}
	}
	return p
}
