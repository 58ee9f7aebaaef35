package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// add adds a workload to those that can have variants.
func add(p kinds.Parents, w *kueue.Workload) {
	p.Add(w.Namespace, w.Name, string(w.UID), concurrentadmission.GetParentWorkloadName(w))
}

// have reports whether a workload is a variant of one of them.
func have(p kinds.Parents, w *kueue.Workload) bool {
	return p.Have(w.Namespace, concurrentadmission.GetParentWorkloadName(w), string(concurrentadmission.GetParentWorkloadUID(w)))
}

func parentsAmong(list []*kueue.Workload) kinds.Parents {
	p := kinds.Parents{}
	for _, w := range list {
		add(p, w)
	}
	return p
}

func parentKey(w *kueue.Workload) types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: concurrentadmission.GetParentWorkloadName(w)}
}

// SplitVariants tells the variants of workloads from all others. A variant whose workload is not among them is one of the
// others.
func SplitVariants(list []*kueue.Workload) (others, variants []*kueue.Workload) {
	known := parentsAmong(list)
	for _, w := range list {
		if have(known, w) {
			variants = append(variants, w)
		} else {
			others = append(others, w)
		}
	}
	return others, variants
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
	known := kinds.Parents{}
	for _, o := range objects {
		if w, ok := o.(*kueue.Workload); ok {
			add(known, w)
		}
	}
	out := objects[:len(objects):len(objects)]
	for _, v := range variants {
		if have(known, v) {
			out = append(out, v)
		}
	}
	return out
}

// Queued returns the workloads that Kueue queues and whose quota it counts: variants in place of their workload. It leaves out
// variants of other workloads.
func Queued(workloads, variants []*kueue.Workload) []*kueue.Workload {
	if len(variants) == 0 {
		return workloads
	}
	known, replaced := parentsAmong(workloads), map[types.NamespacedName]bool{}
	var mine []*kueue.Workload
	for _, v := range variants {
		if have(known, v) {
			mine = append(mine, v)
			replaced[parentKey(v)] = true
		}
	}
	out := slices.DeleteFunc(slices.Clone(workloads), func(w *kueue.Workload) bool {
		return replaced[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}]
	})
	return append(out, mine...)
}

// IsVariant reports whether a workload is a variant of another one, known or not.
func IsVariant(w *kueue.Workload) bool { return concurrentadmission.IsVariant(w) }

// FlavorAnnotation is the annotation of a variant with its flavor.
const FlavorAnnotation = constants.WorkloadAllowedResourceFlavorAnnotation

// FlavorOf returns the flavor that a variant is for, "" without one.
func FlavorOf(w *kueue.Workload) string { return string(concurrentadmission.GetVariantFlavor(w)) }
