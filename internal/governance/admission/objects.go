package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"
)

// SplitVariants tells the variants of workloads from all others. A variant whose workload is not among them is one of the
// others.
func SplitVariants(list []*kueue.Workload) (others, variants []*kueue.Workload) {
	known := map[types.NamespacedName]bool{}
	for _, w := range list {
		known[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}] = true
	}
	for _, w := range list {
		if known[parentKey(w)] {
			variants = append(variants, w)
		} else {
			others = append(others, w)
		}
	}
	return others, variants
}

func parentKey(w *kueue.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: concurrentadmission.GetParentWorkloadName(w)}
}

// TakeVariants is SplitVariants for objects of any kind.
func TakeVariants(objects []client.Object) (others []client.Object, variants []*kueue.Workload) {
	var list []*kueue.Workload
	for _, o := range objects {
		if w, ok := o.(*kueue.Workload); ok {
			list = append(list, w)
		}
	}
	if _, variants = SplitVariants(list); len(variants) == 0 {
		return objects, nil
	}
	taken := map[client.Object]bool{}
	for _, v := range variants {
		taken[v] = true
	}
	for _, o := range objects {
		if !taken[o] {
			others = append(others, o)
		}
	}
	return others, variants
}

// AddVariants adds the variants of the workloads that are among objects.
func AddVariants(objects []client.Object, variants []*kueue.Workload) []client.Object {
	if len(variants) == 0 {
		return objects
	}
	known := map[types.NamespacedName]bool{}
	for _, o := range objects {
		if w, ok := o.(*kueue.Workload); ok {
			known[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}] = true
		}
	}
	out := objects[:len(objects):len(objects)]
	for _, v := range variants {
		if known[parentKey(v)] {
			out = append(out, v)
		}
	}
	return out
}

// Queued returns the workloads that Kueue queues and whose quota it counts: variants in place of their workload.
func Queued(workloads, variants []*kueue.Workload) []*kueue.Workload {
	if len(variants) == 0 {
		return workloads
	}
	parents := map[types.NamespacedName]bool{}
	for _, v := range variants {
		parents[parentKey(v)] = true
	}
	out := slices.DeleteFunc(slices.Clone(workloads), func(w *kueue.Workload) bool {
		return parents[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}]
	})
	return append(out, variants...)
}

// FlavorOf returns the flavor that a variant is for, "" without one.
func FlavorOf(w *kueue.Workload) string { return string(concurrentadmission.GetVariantFlavor(w)) }
