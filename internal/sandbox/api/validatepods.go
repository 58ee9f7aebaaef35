package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// validatePodSpec checks the containers of a pod as the API server does (pkg/apis/core/validation of Kubernetes), in the
// same words. Only Pods and the pod templates of batch Jobs are checked so: the API server knows the others by the schemas
// of their definitions alone.
func validatePodSpec(m any, path *field.Path) field.ErrorList {
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
	all = append(all, validatePorts(c.Ports, path.Child("ports"))...)
	return append(all, validateResources(c.Resources, path.Child("resources"))...)
}

func validatePorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var all field.ErrorList
	names := map[string]bool{}
	for i, port := range ports {
		p := path.Index(i)
		switch {
		case port.Name == "":
		case len(utilvalidation.IsValidPortName(port.Name)) > 0:
			for _, why := range utilvalidation.IsValidPortName(port.Name) {
				all = append(all, field.Invalid(p.Child("name"), port.Name, why))
			}
		case names[port.Name]:
			all = append(all, field.Duplicate(p.Child("name"), port.Name))
		default:
			names[port.Name] = true
		}
		if port.ContainerPort == 0 {
			all = append(all, field.Required(p.Child("containerPort"), ""))
		} else {
			all = append(all, validatePort(port.ContainerPort, p.Child("containerPort"))...)
		}
		if port.HostPort != 0 {
			all = append(all, validatePort(port.HostPort, p.Child("hostPort"))...)
		}
		switch port.Protocol {
		case "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP: // the default is TCP
		default:
			all = append(all, field.NotSupported(p.Child("protocol"), port.Protocol, []string{"SCTP", "TCP", "UDP"}))
		}
	}
	return all
}

func validatePort(n int32, path *field.Path) field.ErrorList {
	var all field.ErrorList
	for _, why := range utilvalidation.IsValidPortNum(int(n)) {
		all = append(all, field.Invalid(path, n, why))
	}
	return all
}

func validateResources(r corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	var all field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		all = append(all, validateAmount(name, r.Limits[name], path.Child("limits").Key(string(name)))...)
	}
	requests, limits := path.Child("requests"), path.Child("limits")
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		amount := r.Requests[name]
		all = append(all, validateAmount(name, amount, requests.Key(string(name)))...)
		limit, limited := r.Limits[name]
		switch {
		case !limited && !overcommits(name):
			all = append(all, field.Required(limits, "Limit must be set for non overcommitable resources"))
		case !limited:
		case !overcommits(name) && amount.Cmp(limit) != 0:
			all = append(all, field.Invalid(requests, amount.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case amount.Cmp(limit) > 0:
			all = append(all, field.Invalid(requests, amount.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return all
}

func validateAmount(name corev1.ResourceName, amount apiresource.Quantity, path *field.Path) field.ErrorList {
	var all field.ErrorList
	for _, why := range utilvalidation.IsQualifiedName(string(name)) {
		all = append(all, field.Invalid(path, name, why))
	}
	switch {
	case len(all) > 0:
	case !strings.Contains(string(name), "/"):
		if !standard(name) {
			all = append(all, field.Invalid(path, name, "must be a standard resource for containers"))
		}
	case !native(name) && !extended(name):
		all = append(all, field.Invalid(path, name, "doesn't follow extended resource name standard"))
	}
	if amount.Sign() < 0 {
		all = append(all, field.Invalid(path, amount.String(), "must be greater than or equal to 0"))
	}
	if extended(name) && amount.MilliValue()%1000 != 0 {
		all = append(all, field.Invalid(path, amount.String(), "must be an integer"))
	}
	return all
}

// standard reports whether a name without a slash is a resource of containers.
func standard(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || hugePages(name)
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// native reports whether Kubernetes itself defines the resource.
func native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// extended reports whether the resource is one of devices: its quota has the name with "requests." before it.
func extended(name corev1.ResourceName) bool {
	return !native(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(utilvalidation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// overcommits reports whether the limit of a resource can be above its request.
func overcommits(name corev1.ResourceName) bool { return native(name) && !hugePages(name) }
