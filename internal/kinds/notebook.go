package kinds

// Notebook is Kubeflow's kind for a server with one pod that people work in (v1). Its
// labels are those of the pod, which Kueue admits by itself.
var Notebook = Job{
	Resource:      Resource{Group: "kubeflow.org", Version: "v1", Plural: "notebooks", Kind: "Notebook", Namespaced: true},
	PodLabel:      "notebook-name",
	Roles:         []Role{{Path: path("spec"), Name: "pod", Template: path("template"), PodSet: "main"}},
	NeedsQueue:    true,
	Selector:      QueueLabel,
	Serves:        true,
	Beside:        true,
	SpecOnly:      true,
	OnePod:        true,
	Operator:      "Kubeflow notebook controller",
	Style:         Described,
	Status:        Status{Ready: path("status.readyReplicas")},
	Numbers:       Numbers{Index: podIndexLabel, Unranked: true},
	RestartPolicy: "Always",
	Made: func(p Planned) (string, map[string]string) {
		return p.Name + "-0", map[string]string{podIndexLabel: "0", "statefulset": p.Name}
	},
}
