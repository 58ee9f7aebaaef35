package kinds

import "strconv"

// PodKind is a Pod without a controller as a job. Pods of a group have a Workload together.
var PodKind = Job{
	Resource:       Pod,
	Roles:          []Role{{Name: "pod", PodSet: "main"}},
	NeedsQueue:     true,
	Refuse:         refusePod,
	ChecksTopology: true,
	Selector:       ManagedLabel + "=true",
	Uncontrolled:   true,
	Itself:         true,
	Beside:         true,
	Operator:       Kubernetes,
	Style:          Described,
	Status: Status{Word: path("status.phase"), Words: map[Phase][]string{Running: {"Running"}, Succeeded: {"Succeeded"}, Failed: {"Failed"}},
		Since: path("status.startTime"), Reason: path("status.reason"), Message: path("status.message")},
	Numbers:       Numbers{Index: "kueue.x-k8s.io/pod-group-pod-index", Unranked: true},
	RestartPolicy: "Always",
}

// The group of a pod: all its pods have one Workload.
const (
	podGroupLabel = "kueue.x-k8s.io/pod-group-name"
	podGroupTotal = "kueue.x-k8s.io/pod-group-total-count"
)

// refusePod is what Kueue's webhook for pods requires of a group (pkg/controller/jobs/pod/pod_webhook.go, v0.19).
func refusePod(object map[string]any) (at, why string) {
	group, total := Text(object, "metadata", "labels", podGroupLabel), Text(object, "metadata", "annotations", podGroupTotal)
	const both = "both the '" + podGroupTotal + "' annotation and the '" + podGroupLabel + "' label should be set"
	n, err := strconv.Atoi(total)
	switch {
	case group == "" && total == "":
	case group == "":
		return "metadata.labels[" + podGroupLabel + "]", "Required value: " + both
	case total == "":
		return "metadata.annotations[" + podGroupTotal + "]", "Required value: " + both
	case err != nil || n < 1:
		return "metadata.annotations[" + podGroupTotal + "]", strconv.Quote(total) + " is not a number above 0"
	}
	return "", ""
}

// PodGroup is a group of pods with one Workload.
type PodGroup struct {
	Name string
	Pods int // of the whole group
}

// PodGroupOf returns the group of a Pod, and whether it has one of a valid size.
func PodGroupOf(object map[string]any) (g PodGroup, ok bool) {
	if Text(object, "kind") != PodKind.Kind || Text(object, "apiVersion") != PodKind.GroupVersion() {
		return g, false
	}
	g.Name = Text(object, "metadata", "labels", podGroupLabel)
	g.Pods, _ = strconv.Atoi(Text(object, "metadata", "annotations", podGroupTotal))
	return g, g.Name != "" && g.Pods > 0
}
