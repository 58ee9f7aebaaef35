package validate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// checkResources validates what a container asks for by the rules of the API
// server (Kubernetes, "Resource Management for Pods and Containers"), so that a
// mistake is found before anything is sent. at is the container's path.
func (f *Faults) checkResources(at, role string, c map[string]any) {
	resources := jobobject.Inner(c, "resources")
	requests, limits := jobobject.Inner(resources, "requests"), jobobject.Inner(resources, "limits")
	for _, list := range []struct {
		name    string
		amounts map[string]any
	}{{"requests", requests}, {"limits", limits}} {
		for _, name := range manifest.SortedKeys(list.amounts) {
			text := manifest.TextOf(list.amounts[name])
			q, err := resource.ParseQuantity(text)
			if err != nil {
				continue // the kinds' schema names it, or it is a parameter without a value
			}
			path := manifest.JoinPath(at+".resources."+list.name, name)
			switch {
			case q.Sign() < 0:
				f.add(path, errs.Usagef("%s of %s: invalid resources.%s.%s %s: must be at least 0", manifest.TextOf(c["name"]), role, list.name, name, text))
			case isDevice(name) && q.MilliValue()%1000 != 0:
				f.add(path, errs.Usagef("%s of %s: invalid resources.%s.%s %s: must be a whole number of devices", manifest.TextOf(c["name"]), role, list.name, name, text))
			}
		}
	}
	for _, name := range manifest.SortedKeys(requests) {
		request, err1 := resource.ParseQuantity(manifest.TextOf(requests[name]))
		limit, err2 := resource.ParseQuantity(manifest.TextOf(limits[name]))
		if _, limited := limits[name]; !limited || err1 != nil || err2 != nil {
			continue
		}
		path := manifest.JoinPath(at+".resources.limits", name)
		switch {
		case limit.Cmp(request) < 0:
			f.add(path, errs.Usagef("%s of %s: invalid %s limit %s: must be at least the request, %s", manifest.TextOf(c["name"]), role, name, limit.String(), request.String()))
		case (isDevice(name) || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix)) && limit.Cmp(request) != 0:
			f.add(path, errs.Usagef("%s of %s: limit and request of %s must be equal (limit %s, request %s)", manifest.TextOf(c["name"]), role, name, limit.String(), request.String()))
		}
	}
}

// isDevice tells the extended resources, which are whole and not overcommitted:
// all with a domain that is not Kubernetes' own.
func isDevice(name string) bool {
	domain, _, found := strings.Cut(name, "/")
	return found && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}
