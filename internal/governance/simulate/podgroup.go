package simulate

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// podGroup returns the workload that Kueue would make of a group of pods, those of the change and those that exist. first is the
// workload of one of them.
func (a *applied) podGroup(ctx context.Context, c Change, first *kueue.Workload, lookup integration.Lookup) (*kueue.Workload, error) {
	var added []map[string]any
	for _, data := range c.Group {
		pod := map[string]any{}
		if err := json.Unmarshal(data, &pod); err != nil {
			return nil, &Error{Code: InvalidJob, Change: c, Err: err}
		}
		if queue, err := a.onlyQueue(first.Namespace); err == nil && kinds.Text(pod, "metadata", "labels", kinds.QueueLabel) == "" {
			kinds.Set(pod, string(queue), "metadata", "labels", kinds.QueueLabel) // as addJob does
		}
		added = append(added, pod)
	}
	group, _ := kinds.PodGroupOf(added[0])
	pods := added
	if !slices.ContainsFunc(all[*kueue.Workload](a.World), func(w *kueue.Workload) bool { return w.Namespace == first.Namespace && w.Name == group.Name }) {
		there, err := inputs.PodsOfGroup(all[*corev1.Pod](a.World), first.Namespace, group.Name, nil)
		if err != nil {
			return nil, &Error{Code: InvalidJob, Change: c, Err: err}
		}
		pods = slices.Concat(there, added)
	}
	switch fault := group.Fault(pods); {
	case fault.Missing > 0:
		return nil, &Error{Code: GroupLacksPods, Change: c, Value: group.Name, Count: len(pods), Whole: group.Pods}
	case fault.Mismatch != nil:
		return nil, &Error{Code: GroupMismatch, Change: c, Value: group.Name, Mismatch: fault.Mismatch}
	}
	pods = pods[:min(group.Pods, len(pods))] // Kueue deletes the others
	raw := make([][]byte, len(pods))
	for i, pod := range pods {
		var err error
		if raw[i], err = json.Marshal(pod); err != nil {
			return nil, &Error{Code: InvalidJob, Change: c, Err: err}
		}
		if err := integration.Validate(ctx, raw[i]); err != nil {
			return nil, &Error{Code: InvalidJob, Change: c, Err: err}
		}
	}
	w, err := integration.PodGroup(ctx, first, group, raw, lookup)
	if err != nil {
		return nil, &Error{Code: InvalidJob, Change: c, Err: err}
	}
	return w, nil
}
