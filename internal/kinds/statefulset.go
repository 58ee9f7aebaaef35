package kinds

// StatefulSetKind is the StatefulSet as a job: a service whose pods Kueue admits together.
var StatefulSetKind = Job{
	Resource:      StatefulSet,
	Roles:         []Role{{Path: path("spec"), Name: "pod", Replicas: path("replicas"), Template: path("template"), PodSet: "main"}},
	NeedsQueue:    true,
	Selector:      QueueLabel,
	Serves:        true,
	Scales:        true,
	Beside:        true,
	Operator:      Kubernetes,
	Style:         Described,
	Status:        Status{Ready: path("status.readyReplicas"), Wanted: path("spec.replicas")},
	Numbers:       Numbers{Index: podIndexLabel, Unranked: true},
	RestartPolicy: "Always",
	SelectorAt:    path("spec.selector.matchLabels"),
	Made: func(p Planned) (string, map[string]string) {
		_, number := p.numbered()
		name := p.Name + "-" + number
		return name, map[string]string{podIndexLabel: number, "statefulset.kubernetes.io/pod-name": name}
	},
}

const podIndexLabel = "apps.kubernetes.io/pod-index"
