package admission

import (
	schedulingv1 "k8s.io/api/scheduling/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
)

// Lookup returns the engine's own priority classes and flavors.
func (e *Engine) Lookup() integration.Lookup { return e.store }

func (s *store) WorkloadPriorityClass(name string) *kueue.WorkloadPriorityClass {
	return s.wlPriority[name]
}
func (s *store) ResourceFlavor(name string) *kueue.ResourceFlavor { return s.flavors[name] }
func (s *store) PriorityClasses() []*schedulingv1.PriorityClass {
	out := make([]*schedulingv1.PriorityClass, 0, len(s.priorities))
	for _, name := range sortedKeys(s.priorities) {
		out = append(out, s.priorities[name])
	}
	return out
}
