package api

import (
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// revalue gives the new value of a WorkloadPriorityClass to the workloads of the class, as
// Kueue does since 0.16 (workloadpriorityclass_controller.go).
func revalue(st *store.Store, old *store.Object, class map[string]any) error {
	value, ok := object.Int(class, "value")
	if before, had := object.Int(old.Map(), "value"); !ok || had && before == value {
		return nil
	}
	for _, w := range st.List(kinds.Workload.FullName(), "") {
		ref := object.Map(w.Map(), "spec", "priorityClassRef")
		if object.Text(ref, "kind") != string(kueue.WorkloadPriorityClassKind) || object.Text(ref, "name") != old.Name {
			continue
		}
		next := w.Copy()
		object.Set(next, value, "spec", "priority")
		if _, err := st.Put(kinds.Workload.FullName(), next); err != nil {
			return err
		}
	}
	return nil
}
