package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reported returns the members of a described group that a specification does not have: what
// the group is at the moment.
func reported() []string {
	return []string{
		"CurrentCount", "TargetCount", "TargetStateCount", "MinCount", "Status", "TrainingPlanStatus", "InstanceTypeDetails", "CurrentImageId", "DesiredImageId", "ImageVersionStatus",
		"ActiveOperations", "SoftwareUpdateStatus", "ActiveSoftwareUpdateConfig",
	}
}

// FromDetails turns a group in the answer of DescribeCluster into the specification that UpdateCluster takes.
// It keeps members that this version does not know.
func FromDetails(details map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range details {
		if !slices.Contains(reported(), name) {
			out[name] = value
		}
	}
	rename(details, "TargetCount", out, "InstanceCount")
	rename(details, "MinCount", out, "MinInstanceCount")
	if in, ok := details["InstanceRequirements"].(map[string]any); ok {
		out["InstanceRequirements"] = desired(in, "InstanceTypes")
		delete(out, "InstanceType")
	}
	if in, ok := details["KubernetesConfig"].(map[string]any); ok {
		out["KubernetesConfig"] = desired(in, "Labels", "Taints")
	}
	if in, ok := details["EnvironmentConfig"].(map[string]any); ok {
		env := maps.Clone(in)
		delete(env, "S3OutputPath")
		out["EnvironmentConfig"] = env
	}
	ownImage(details, out)
	return out
}

// ownImage sends back the image of a group with one of its own: the page "Cluster management with
// custom AMIs" of the SageMaker AI Developer Guide (hyperpod-custom-ami-cluster-management) scales
// such a group with its ImageId in the request. A group on HyperPod's images has ImageVersionStatus,
// which is whether it has the latest version (API reference, ClusterInstanceGroupDetails); to name
// its image would keep the group from the next one. That a group with an image of its own has no
// such status is inferred: nothing else in the answer differs.
func ownImage(details, to map[string]any) {
	delete(to, "ImageId")
	if status, _ := details["ImageVersionStatus"].(string); status != "" {
		return
	}
	for _, name := range []string{"DesiredImageId", "CurrentImageId"} {
		if id, _ := details[name].(string); id != "" {
			to["ImageId"] = id
			return
		}
	}
}

func rename(from map[string]any, name string, to map[string]any, as string) {
	if v, ok := from[name]; ok {
		to[as] = v
	}
}

// desired replaces the pairs CurrentX and DesiredX of a described object by X, with the
// value that is to be.
func desired(in map[string]any, names ...string) map[string]any {
	out := maps.Clone(in)
	for _, name := range names {
		v, ok := in["Desired"+name]
		if !ok {
			v, ok = in["Current"+name]
		}
		delete(out, "Desired"+name)
		delete(out, "Current"+name)
		if ok {
			out[name] = v
		}
	}
	return out
}

// Merge returns the members of a group with those of a file on top.
func Merge(have, given map[string]any) map[string]any {
	out := maps.Clone(have)
	maps.Copy(out, given)
	if _, ok := given["InstanceRequirements"]; ok {
		delete(out, "InstanceType")
	}
	if _, ok := given["InstanceType"]; ok {
		delete(out, "InstanceRequirements")
	}
	return out
}

// Change is a value that differs between two specifications. Old or New is "" where the
// value is not there.
type Change struct{ Path, Old, New string }

// Diff returns what differs between two specifications, by path.
func Diff(before, after map[string]any) []Change {
	a, b := map[string]string{}, map[string]string{}
	flatten(before, "", a)
	flatten(after, "", b)
	var out []Change
	for _, path := range slices.Sorted(maps.Keys(union(a, b))) {
		if a[path] != b[path] {
			out = append(out, Change{path, a[path], b[path]})
		}
	}
	return out
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// flatten writes the scalars below a value by their paths.
func flatten(v any, path string, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			flatten(value, strings.TrimPrefix(path+"."+name, "."), out)
		}
		if len(v) == 0 && path != "" {
			out[path] = "{}"
		}
	case []any:
		for i, value := range v {
			flatten(value, fmt.Sprintf("%s[%d]", path, i), out)
		}
		if len(v) == 0 {
			out[path] = "[]"
		}
	default:
		text, err := json.Marshal(v)
		if err != nil { // no value of a JSON document
			text = []byte(fmt.Sprint(v))
		}
		out[path] = strings.Trim(string(text), `"`)
	}
}
