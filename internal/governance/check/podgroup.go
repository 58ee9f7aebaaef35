package check

import (
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// joined are the pods of a request that join a pod group which has its workload: they take the places of pods that failed or
// never existed.
type joined struct {
	holds bool                                     // the workload has its quota
	pods  map[kueue.PodSetReference]int            // new pods of each role
	on    map[kueue.PodSetReference]map[string]int // pods of each role on each node
}

// count returns the number of new pods that have a place.
func (j *joined) count() (n int) {
	for _, pods := range j.pods {
		n += pods
	}
	return n
}

// podGroup returns the workload of the pod group of the job, and adds the step about a group that Kueue does not admit whole.
func (c *Checker) podGroup(ctx context.Context, r *Request, wl *kueue.Workload, group kinds.PodGroup, known integration.Lookup, v *Verdict) (*kueue.Workload, error) {
	list := r.Group
	if list == nil {
		list = []map[string]any{r.Object}
	}
	there, err := inputs.PodsOfGroup(c.In.Pods, r.Namespace, group.Name, list)
	if err != nil {
		return nil, err
	}
	added, err := c.asSubmitted(r, list)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(there, added)
	step := Step{Check: "Group", Status: StatusFailed, Name: group.Name, Pods: len(all), Whole: group.Pods}
	if w := c.workloadOfGroup(r.Namespace, group.Name); w != nil && kinds.Text(added[0], "metadata", "labels", kinds.QueueLabel) != "" {
		step.Code, step.Fault, err = join(w, there, added, known, v)
		if step.Code != "" {
			step.lose(len(added)-v.joins.count(), len(added))
			v.Submission = append(v.Submission, step)
		}
		return w, err
	}
	fault := group.Fault(all)
	switch {
	case fault.Missing > 0:
		step.Code = GroupIncomplete
	case fault.Mismatch != nil:
		step.Code, step.Mismatch = GroupMismatch, fault.Mismatch
	case fault.Excess > 0:
		step.Code = GroupTooLarge
		step.lose(fault.Excess, len(added))
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
	w, err := integration.PodGroup(ctx, wl, group, pods, known)
	if err != nil {
		return nil, err
	}
	v.like, err = likes(w, all, pods, known)
	return w, err
}

// likes returns the name of the first pod of each role of a group.
func likes(w *kueue.Workload, list []map[string]any, pods [][]byte, known integration.Lookup) (map[kueue.PodSetReference]string, error) {
	roles, err := integration.NewRoles(w.Spec.PodSets, known)
	if err != nil {
		return nil, err
	}
	out := map[kueue.PodSetReference]string{}
	for i, data := range pods {
		role, err := roles.Of(data)
		if err != nil {
			return nil, err
		}
		if name := kueue.NewPodSetReference(role); out[name] == "" {
			out[name] = kinds.Text(list[i], "metadata", "name")
		}
	}
	return out, nil
}

// podLike returns the name of a pod that has a role of a pod group, "" for other workloads.
func (c *Checker) podLike(w *kueue.Workload, role kueue.PodSetReference, v *Verdict) string {
	if w.Annotations[kinds.GroupWorkload] != "true" || v.like != nil {
		return v.like[role]
	}
	for _, p := range c.In.Pods {
		if p.Namespace == w.Namespace && p.Labels[kinds.PodGroupName] == w.Name && p.Annotations[integration.RoleAnnotation] == string(role) {
			return p.Name
		}
	}
	return ""
}

// lose sets the number of submitted pods that never run. The step fails if that is all of them.
func (s *Step) lose(lost, submitted int) {
	if s.Lost = min(lost, submitted); lost < submitted {
		s.Status = StatusUnknown
	}
}

// workloadOfGroup returns a copy of the workload that a pod group has, nil if it has none.
func (c *Checker) workloadOfGroup(namespace, name string) *kueue.Workload {
	if w := c.In.Workload(namespace, name); w != nil && w.Annotations[kinds.GroupWorkload] == "true" {
		return w.DeepCopy()
	}
	return nil
}

// join finds places for new pods in the workload of their group, and sets joins of the verdict. It returns the code of what
// keeps Kueue from starting all of them, with the name of a pod. (FindMatchingWorkloads in Kueue's pod_controller.go, v0.19)
func join(w *kueue.Workload, there, added []map[string]any, classes integration.Lookup, v *Verdict) (code, pod string, err error) {
	room := map[kueue.PodSetReference]int{}
	v.joins = &joined{holds: inputs.Reserves(w), pods: map[kueue.PodSetReference]int{}, on: map[kueue.PodSetReference]map[string]int{}}
	for _, ps := range w.Spec.PodSets {
		room[ps.Name], v.joins.on[ps.Name] = int(ps.Count), map[string]int{}
	}
	for _, gone := range w.Status.ReclaimablePods { // those that succeeded keep their places
		room[gone.Name] -= int(gone.Count)
	}
	roles, err := integration.NewRoles(w.Spec.PodSets, classes)
	if err != nil {
		return "", "", err
	}
	for i, o := range slices.Concat(there, added) {
		data, err := json.Marshal(o)
		if err != nil {
			return "", "", err
		}
		text, err := roles.Of(data)
		if err != nil {
			return "", "", err
		}
		role, name := kueue.NewPodSetReference(text), kinds.Text(o, "metadata", "name")
		left, known := room[role]
		switch {
		case !known && i < len(there): // Kueue leaves it gated
			continue
		case !known:
			code, pod = GroupWithoutRole, name
			continue
		}
		room[role]--
		switch {
		case i < len(there):
			v.joins.on[role][kinds.Text(o, "spec", "nodeName")]++
		case left <= 0 && code == "":
			code, pod = GroupTooLarge, name
		case left <= 0:
		default:
			v.joins.pods[role]++
		}
	}
	return code, pod, nil
}

// asSubmitted returns the pods of a list with the namespace, the queue and the requests that they will have.
func (c *Checker) asSubmitted(r *Request, list []map[string]any) (out []map[string]any, err error) {
	for _, o := range list {
		o, err := clone(o)
		if err != nil {
			return nil, err
		}
		kinds.Set(o, r.Namespace, "metadata", "namespace")
		if kinds.Text(o, "metadata", "labels", kinds.QueueLabel) == "" && c.In.LocalQueue(r.Namespace, defaultQueue) != nil {
			kinds.Set(o, defaultQueue, "metadata", "labels", kinds.QueueLabel) // as Kueue's webhook does
		}
		if pods := prerequisite.WithDefaults(prerequisite.PodsOf(o), r.Namespace, c.In.LimitRanges); len(pods) == 1 && len(c.In.LimitRanges) > 0 {
			if o["spec"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&pods[0].Template.Spec); err != nil {
				return nil, err
			}
		}
		out = append(out, o)
	}
	return out, nil
}
