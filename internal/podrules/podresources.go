package podrules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/resource"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// together checks the resources of a pod as a whole.
func (c *checker) together(p at, spec map[string]any) {
	m := faults.Inner(spec, "resources")
	if m == nil {
		return
	}
	if list, _ := m["claims"].([]any); len(list) > 0 {
		c.Forbidden(p.To("claims"), "claims may not be set for Resources at pod-level")
	}
	before := len(c.Found)
	for _, list := range []string{"limits", "requests"} {
		amounts := faults.Inner(m, list)
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			if !c.Open(name) && name != "cpu" && name != "memory" && !hugePages(name) {
				c.Add(p.To(list, name), field.ErrorTypeNotSupported, name, "", "cpu", "hugepages-", "memory")
			}
		}
	}
	if c.resources(p, map[string]any{"limits": m["limits"], "requests": m["requests"]}, nil); len(c.Found) > before {
		return
	}
	var pod corev1.Pod
	if data, err := json.Marshal(map[string]any{"spec": map[string]any{"containers": spec["containers"], "initContainers": spec["initContainers"]}}); err != nil || json.Unmarshal(data, &pod) != nil {
		return // other faults, or values with placeholders
	}
	sum := resource.AggregateContainerRequests(&pod, resource.PodResourcesOptions{})
	requests := faults.Inner(m, "requests")
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		total := sum[corev1.ResourceName(name)]
		if amount, err := quantity(requests[name]); err == nil && amount.Cmp(total) < 0 {
			c.Invalid(p.To("requests", name), amount.String(), fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", total.String()))
		}
	}
}
