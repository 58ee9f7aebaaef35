package kinds

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

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

// refusePod is what Kueue's webhook for pods requires of a group (pkg/controller/jobs/pod/pod_webhook.go, v0.19).
func refusePod(object map[string]any) (at, why string) {
	group, total := Text(object, "metadata", "labels", PodGroupName), Text(object, "metadata", "annotations", PodGroupTotal)
	const both = "both the '" + PodGroupTotal + "' annotation and the '" + PodGroupName + "' label should be set"
	n, err := strconv.Atoi(total)
	switch {
	case group == "" && total == "":
	case group == "":
		return "metadata.labels[" + PodGroupName + "]", "Required value: " + both
	case total == "":
		return "metadata.annotations[" + PodGroupTotal + "]", "Required value: " + both
	case !strings.Contains(group, "${") && len(validation.IsDNS1123Subdomain(group)) > 0: // its Workload has this name
		return "metadata.labels[" + PodGroupName + "]", "Invalid value: " + strconv.Quote(group) + ": " + validation.IsDNS1123Subdomain(group)[0]
	case err != nil || n < 1:
		return "metadata.annotations[" + PodGroupTotal + "]", strconv.Quote(total) + " is not a whole number of at least 1"
	}
	return "", ""
}

// Gated reports whether a pod has the scheduling gate of Kueue.
func Gated(pod map[string]any) bool {
	list, _ := lookup(pod, path("spec.schedulingGates")).([]any)
	return slices.ContainsFunc(list, IsGate)
}

// IsGate reports the scheduling gate of Kueue.
func IsGate(gate any) bool { return Text(gate, "name") == Gate }
