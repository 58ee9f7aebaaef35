package kinds

// Workspace is a server with one pod that a person works in (v1alpha1): HyperPod's Space.
// Its operator makes a Deployment, with the labels of the object, and Kueue admits the pod.
//
// Source: jupyter-infra/jupyter-k8s, internal/controller and config/crd.
var Workspace = Job{
	Resource:   Resource{Group: "workspace.jupyter.org", Version: "v1alpha1", Plural: "workspaces", Kind: "Workspace", Namespaced: true},
	PodLabel:   "workspace.jupyter.org/workspace-name",
	NeedsQueue: true,
	Selector:   QueueLabel,
	Serves:     true,
	OnePod:     true,
	Stop:       &Stop{At: path("spec.desiredStatus"), Stopped: "Stopped", Runs: "Running"},
	Form: &Form{elsewhere: func(object map[string]any) bool { // its template has what it does not say
		return lookup(object, path("spec.templateRef")) != nil && lookup(object, path("spec.resources")) == nil
	}, images: true, parts: []formPart{{
		Role: Role{Path: path("spec"), Name: "pod", PodSet: "main"}, container: "workspace", when: [][]string{path("spec.displayName"), path("spec.image"), path("spec.resources"), path("spec.templateRef"), path("spec.desiredStatus"), path("spec.idleShutdown")},
		also: [][]string{path("spec.desiredStatus"), path("spec.idleShutdown")},
		none: func(object map[string]any) bool { return Text(object, "spec", "desiredStatus") == "Stopped" },
		fields: []formField{field("metadata.labels", "metadata.labels"), field("metadata.annotations", "metadata.annotations"),
			field("container.image", "spec.image"), field("container.command", "spec.containerConfig.command"), field("container.args", "spec.containerConfig.args"),
			field("container.env", "spec.env"), field("container.resources", "spec.resources"), field("container.securityContext", "spec.containerSecurityContext"),
			field("container.lifecycle", "spec.lifecycle"), field("container.readinessProbe", "spec.readinessProbe"),
			field("spec.nodeSelector", "spec.nodeSelector"), field("spec.affinity", "spec.affinity"), field("spec.tolerations", "spec.tolerations"),
			field("spec.serviceAccountName", "spec.serviceAccountName"), field("spec.securityContext", "spec.podSecurityContext"),
			field("spec.initContainers", "spec.initContainers")},
		complete: func(_, _, container map[string]any) {
			if resources := Child(container, "resources"); empty(resources["requests"]) { // the operator's default
				resources["requests"] = map[string]any{"cpu": "100m", "memory": "128Mi"}
			}
		},
	}}},
	Operator: "Jupyter workspace operator",
	Style:    Described,
	Status: Status{True: []string{"Deleting", "Stopped", "Available", "Degraded", "Progressing"}, Waits: "Stopped",
		Words: map[Phase][]string{Starting: {"Progressing"}, Running: {"Available"}, Failed: {"Degraded"}}},
	Numbers:       Numbers{Unranked: true},
	RestartPolicy: "Always",
	Made: func(p Planned) (string, map[string]string) {
		hash := p.UID[:min(8, len(p.UID))]
		return "workspace-" + p.Name + "-" + hash + "-", map[string]string{templateHashLabel: hash}
	},
}
