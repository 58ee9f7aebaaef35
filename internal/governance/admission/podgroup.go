package admission

import (
	"cmp"
	"context"
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	utilpod "sigs.k8s.io/kueue/pkg/util/pod"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// PodGroup returns the Workload that Kueue makes of a group of pods, with a pod set for each of their roles: pods with the
// same needs. first is the Workload of one pod by itself, pods are all that are known, as JSON. Pods that the group's size
// counts and that are not known are taken for pods of the first one's role. (pkg/controller/jobs/pod/pod_controller.go)
func PodGroup(ctx context.Context, first *kueue.Workload, group kinds.PodGroup, pods [][]byte, lookup Lookup) (*kueue.Workload, error) {
	wl := first.DeepCopy()
	wl.Name, wl.Spec.PodSets = group.Name, nil
	missing := group.Pods
	add := func(ps kueue.PodSet, n int) error {
		role, err := utilpod.GenerateRoleHash(&ps.Template.Spec)
		if err != nil {
			return err
		}
		name := kueue.NewPodSetReference(role)
		i := slices.IndexFunc(wl.Spec.PodSets, func(have kueue.PodSet) bool { return have.Name == name })
		if i < 0 {
			ps.Name, ps.Count = name, 0
			wl.Spec.PodSets = append(wl.Spec.PodSets, ps)
			i = len(wl.Spec.PodSets) - 1
		}
		wl.Spec.PodSets[i].Count += int32(n)
		missing -= n
		return nil
	}
	for _, data := range pods {
		one, err := WorkloadFor(ctx, data, lookup)
		if err == nil {
			err = add(one.Spec.PodSets[0], 1)
		}
		if err != nil {
			return nil, err
		}
	}
	if missing > 0 {
		if err := add(*first.Spec.PodSets[0].DeepCopy(), missing); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(wl.Spec.PodSets, func(a, b kueue.PodSet) int { return cmp.Compare(a.Name, b.Name) })
	return wl, nil
}
