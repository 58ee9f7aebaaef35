package check

import (
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// podGroup returns the workload of the pod group of the job, and adds the step about a group that Kueue does not admit whole.
func (c *Checker) podGroup(ctx context.Context, r *Request, wl *kueue.Workload, group kinds.PodGroup, known admission.Lookup, v *Verdict) (*kueue.Workload, error) {
	list := r.Group
	if list == nil {
		list = []map[string]any{r.Object}
	}
	all, err := c.members(r, list, group)
	if err != nil {
		return nil, err
	}
	step := Step{Check: "Group", Status: StatusFailed, Name: group.Name, Pods: len(all), Whole: group.Pods}
	fault := group.Fault(all)
	switch {
	case fault.Missing > 0:
		step.Code = GroupIncomplete
	case fault.Mismatch != "":
		step.Code, step.Fault = GroupMismatch, fault.Mismatch
	case fault.Excess > 0:
		step.Code = GroupTooLarge
		all = all[:group.Pods]
	}
	if step.Code != "" {
		v.Submission = append(v.Submission, step)
	}
	pods := make([][]byte, len(all))
	for i, o := range all {
		if pods[i], err = json.Marshal(o); err != nil {
			return nil, err
		}
	}
	return admission.PodGroup(ctx, wl, group, pods, known)
}

// members returns the pods of a group that exist, then those of a list, with the namespace and the queue that they will have.
func (c *Checker) members(r *Request, list []map[string]any, group kinds.PodGroup) (out []map[string]any, err error) {
	named := func(name string) bool {
		return slices.ContainsFunc(list, func(o map[string]any) bool { return kinds.Text(o, "metadata", "name") == name })
	}
	for _, p := range c.In.Pods {
		if p.Namespace != r.Namespace || named(p.Name) {
			continue
		}
		p = p.DeepCopy()
		p.APIVersion, p.Kind = kinds.PodKind.GroupVersion(), kinds.PodKind.Kind
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil {
			return nil, err
		}
		if g, ok := kinds.PodGroupOf(o); ok && g.Name == group.Name {
			out = append(out, o)
		}
	}
	for _, o := range list {
		o, err := clone(o)
		if err != nil {
			return nil, err
		}
		kinds.Set(o, r.Namespace, "metadata", "namespace")
		if kinds.Text(o, "metadata", "labels", kinds.QueueLabel) == "" && c.In.LocalQueue(r.Namespace, defaultQueue) != nil {
			kinds.Set(o, defaultQueue, "metadata", "labels", kinds.QueueLabel) // as Kueue's webhook does
		}
		out = append(out, o)
	}
	return out, nil
}
