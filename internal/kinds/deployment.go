package kinds

// DeploymentKind is the Deployment as a job: a service whose pods Kueue admits one by one.
// Kueue reads the queue of the object and copies it to the pods.
var DeploymentKind = Job{
	Resource:      Deployment,
	Roles:         []Role{{Path: path("spec"), Name: "pod", Replicas: path("replicas"), Template: path("template"), PodSet: "main"}},
	NeedsQueue:    true,
	Selector:      QueueLabel,
	Serves:        true,
	Scales:        true,
	Beside:        true,
	OnePod:        true,
	Operator:      Kubernetes,
	Style:         Described,
	Status:        Status{Ready: path("status.readyReplicas"), Wanted: path("spec.replicas")},
	Numbers:       Numbers{Unranked: true},
	RestartPolicy: "Always",
	SelectorAt:    path("spec.selector.matchLabels"),
	PodMaker:      replicaSet,
	Made: func(p Planned) (string, map[string]string) {
		hash := p.UID[:min(8, len(p.UID))]
		return p.Name + "-" + hash + "-", map[string]string{templateHashLabel: hash}
	},
}

const templateHashLabel = "pod-template-hash"
