package kinds

// PodKind is a Pod without a controller as a job. Pods of a group have a Workload together.
var PodKind = Job{
	Resource:     Pod,
	Roles:        []Role{{Name: "pod", PodSet: "main"}},
	NeedsQueue:   true,
	Selector:     ManagedLabel + "=true",
	Uncontrolled: true,
	Itself:       true,
	Beside:       true,
	Operator:     Kubernetes,
	Style:        Described,
	Status: Status{Word: path("status.phase"), Words: map[Phase][]string{Running: {"Running"}, Succeeded: {"Succeeded"}, Failed: {"Failed"}},
		Since: path("status.startTime"), Reason: path("status.reason"), Message: path("status.message")},
	Numbers:       Numbers{Index: "kueue.x-k8s.io/pod-group-pod-index", Unranked: true},
	RestartPolicy: "Always",
}
