package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/podrules"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// validatePodSpec checks the containers of a pod as the API server does (pkg/apis/core/validation of Kubernetes), in the
// same words. Only Pods and the pod templates of Kubernetes' own kinds are checked so: the API server knows the others by the
// schemas of their definitions alone. volumes are the names of those that the pods get besides their own.
func validatePodSpec(m any, path *field.Path, volumes ...string) field.ErrorList {
	raw, err := store.Encode(m)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var spec corev1.PodSpec
	if err := json.UnmarshalCaseSensitivePreserveInts(raw, &spec); err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	if len(spec.Containers) == 0 {
		return field.ErrorList{field.Required(path.Child("containers"), "")}
	}
	var all field.ErrorList
	names := map[string]bool{}
	each := func(list string, containers []corev1.Container) {
		for i, c := range containers {
			p := path.Child(list).Index(i)
			all = append(all, validateContainer(c, p)...)
			if c.Name != "" && names[c.Name] {
				all = append(all, field.Duplicate(p.Child("name"), c.Name))
			}
			names[c.Name] = true
		}
	}
	each("containers", spec.Containers)
	each("initContainers", spec.InitContainers)
	fields, _ := m.(map[string]any)
	for _, fault := range podrules.Check(fields, podrules.Options{Volumes: volumes}) {
		all = append(all, fault.Error(path))
	}
	return all
}

func validateContainer(c corev1.Container, path *field.Path) field.ErrorList {
	var all field.ErrorList
	if c.Name == "" {
		all = append(all, field.Required(path.Child("name"), ""))
	} else {
		for _, why := range validation.NameIsDNSLabel(c.Name, false) {
			all = append(all, field.Invalid(path.Child("name"), c.Name, why))
		}
	}
	if c.Image == "" {
		all = append(all, field.Required(path.Child("image"), ""))
	}
	return all
}

// validateServing checks a Deployment or a StatefulSet: its selector matches the labels of its pods, which always restart.
func validateServing(m map[string]any) field.ErrorList {
	var all field.ErrorList
	spec, at := object.Map(m, "spec"), field.NewPath("spec")
	for _, fault := range podrules.Serving(spec, nil) {
		all = append(all, fault.Error(at))
	}
	return append(all, validatePodSpec(object.At(spec, "template", "spec"), at.Child("template", "spec"), podrules.ClaimVolumes(m)...)...)
}
