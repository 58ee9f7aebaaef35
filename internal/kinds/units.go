package kinds

import (
	"slices"
	"strings"
)

// Units returns how many Workloads Kueue makes of an object, and the object with the pods of one of
// them: a LeaderWorkerSet has one for each group, a Deployment one for each pod. The objects of
// other kinds have one Workload and are returned as they are.
func (j Job) Units(object map[string]any) (n int64, unit map[string]any) {
	at := j.unitsAt(object)
	if len(at) == 0 {
		return 1, object
	}
	n, given := number(object, at)
	if !given || n == 1 {
		return 1, object
	}
	unit = copyOf(object).(map[string]any)
	Set(unit, int64(1), at...)
	return n, unit
}

// unitsAt returns where an object has the number of its Workloads, nil for one.
func (j Job) unitsAt(object map[string]any) []string {
	switch {
	case len(j.GroupsAt) > 0:
		return j.GroupsAt
	case !j.OnePod:
		return nil
	case j.Form != nil:
		if parts := j.Form.in(object); len(parts) == 1 {
			return parts[0].pods
		}
	case len(j.Roles) == 1 && len(j.Roles[0].Replicas) > 0:
		return slices.Concat(j.Roles[0].Path, j.Roles[0].Replicas)
	}
	return nil
}

// Apart reports that an object of the kind may have several Workloads.
func (j Job) Apart() bool { return j.OnePod || len(j.GroupsAt) > 0 }

// Names reports whether a pod has a name that the pods of an object of the kind get: that of a StatefulSet's pod, or the
// object's, with what a ReplicaSet and its pods add.
func (j Job) Names(object, pod string) bool {
	if j.Made == nil {
		return false
	}
	const uid = "00000000"
	name, _ := j.Made(Planned{Name: object, UID: uid})
	prefix, generated := strings.CutSuffix(name, uid+"-")
	if !generated {
		return pod == name
	}
	rest, ok := strings.CutPrefix(pod, prefix)
	return ok && strings.Count(rest, "-") == 1
}

// SetUnits sets the number of Workloads of an object that has several.
func (j Job) SetUnits(object map[string]any, n int64) {
	if at := j.unitsAt(object); len(at) > 0 {
		Set(object, n, at...)
	}
}
