package kinds

import (
	"maps"
	"slices"
	"strings"
)

// JobOfPod returns the name of the job that a pod belongs to by its labels and its
// controller, "" where they name none. longer: the name may be longer than the job's, with
// which it begins (a RayJob's pods have its RayCluster's).
func JobOfPod(name string, labels map[string]string, controllerKind, controller string) (job string, longer bool) {
	for _, k := range Jobs() {
		if n := labels[k.PodLabel]; n != "" && k.PodLabel != "" {
			job, longer = n, longer || len(k.PodLabelFrom) > 0
		}
	}
	switch {
	case job != "":
	case controllerKind == "ReplicaSet" && labels[templateHashLabel] != "":
		job = strings.TrimSuffix(controller, "-"+labels[templateHashLabel])
	case controllerKind == StatefulSet.Kind, controllerKind == Deployment.Kind:
		job = controller
	case controllerKind == "" && labels[ManagedLabel] != "":
		job = name
	}
	return job, longer
}

// MakerOfPod returns the name and kind of the job whose pods have a Workload each and that makes a pod again when it is deleted, ""
// where the labels and the controller of the pod name none.
func MakerOfPod(labels map[string]string, controllerKind, controller string) (name, kind string) {
	for _, k := range Jobs() {
		if n := labels[k.PodLabel]; k.Apart() && k.PodLabel != "" && n != "" {
			return n, k.Kind
		}
	}
	switch name, _ = JobOfPod("", labels, controllerKind, controller); {
	case name == "":
		return "", ""
	case controllerKind == "ReplicaSet":
		return name, DeploymentKind.Kind
	case controllerKind == StatefulSet.Kind, controllerKind == DeploymentKind.Kind:
		return name, controllerKind
	}
	return "", ""
}

// PodSelector returns the label selector of a job object's pods, or "" as long
// as they are unknown (a RayJob that has no cluster yet).
func (j Job) PodSelector(object map[string]any) string {
	if name := Text(object, "metadata", "name"); j.Itself && name != "" {
		return "metadata.name=" + name
	}
	if text := Text(object, j.SelectorText...); text != "" {
		return text
	}
	if selects, ok := lookup(object, j.SelectorAt).(map[string]any); ok && len(j.SelectorAt) > 0 {
		var out []string
		for _, key := range slices.Sorted(maps.Keys(selects)) {
			if v, ok := selects[key].(string); ok {
				out = append(out, key+"="+v)
			}
		}
		return strings.Join(out, ",")
	}
	from := [][]string{j.PodLabelFrom, j.PodLabelElse}
	if len(j.PodLabelFrom) == 0 {
		from = [][]string{path("metadata.name")}
	}
	for _, at := range from {
		if value, ok := lookup(object, at).(string); ok && len(at) > 0 && value != "" && j.PodLabel != "" {
			return j.PodLabel + "=" + value
		}
	}
	return ""
}

// OwnsWithoutControl reports whether an owner of a Workload is its job although it does not control it. Kueue makes a
// StatefulSet and a LeaderWorkerSet such owners, and the pods of a group too, which are not jobs of their own.
func OwnsWithoutControl(apiVersion, kind string) bool {
	k, ok := JobFor(apiVersion, kind)
	return ok && !k.Itself
}
