package admission

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// CheckWorkload says what of a workload the API server and Kueue's webhook would
// reject. [Engine.Load] leaves such a workload out, with this error.
func CheckWorkload(w *kueue.Workload) error {
	if w.Name == "" || w.Namespace == "" {
		return fmt.Errorf("workload %q in namespace %q: a name and a namespace are needed", w.Name, w.Namespace)
	}
	var bad []string
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		if ps.Count < 0 {
			bad = append(bad, fmt.Sprintf("pod set %s: count %d is negative", ps.Name, ps.Count))
		}
		for _, cs := range [][]corev1.Container{ps.Template.Spec.InitContainers, ps.Template.Spec.Containers} {
			for _, c := range cs {
				for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
					for name, q := range list {
						if q.Sign() < 0 {
							bad = append(bad, fmt.Sprintf("pod set %s, container %s: %s %s is negative", ps.Name, c.Name, name, q.String()))
						}
					}
				}
			}
		}
	}
	if a := w.Status.Admission; a != nil {
		if len(a.PodSetAssignments) != len(w.Spec.PodSets) {
			bad = append(bad, fmt.Sprintf("status.admission has %d pod sets, the spec %d", len(a.PodSetAssignments), len(w.Spec.PodSets)))
		}
		for i := range a.PodSetAssignments {
			for name, q := range a.PodSetAssignments[i].ResourceUsage {
				if q.Sign() < 0 {
					bad = append(bad, fmt.Sprintf("status.admission, pod set %s: %s %s is negative", a.PodSetAssignments[i].Name, name, q.String()))
				}
			}
		}
	}
	if len(bad) == 0 {
		bad = uncountable(w)
	}
	if len(bad) > 0 {
		slices.Sort(bad)
		return fmt.Errorf("workload %s/%s: %s", w.Namespace, w.Name, strings.Join(bad, "; "))
	}
	return nil
}

// uncountable names the resources of which a workload asks for, or holds, more than
// 64 bits count. Kueue takes such an amount for unlimited; nothing can be said of it.
func uncountable(w *kueue.Workload) []string {
	var total float64
	each := func(visit func(name corev1.ResourceName, amount float64)) {
		amounts := func(list corev1.ResourceList, count int32) {
			for name, q := range list {
				n := q.AsApproximateFloat64() * float64(count)
				if name == corev1.ResourceCPU {
					n *= 1000
				}
				visit(name, n)
			}
		}
		for i := range w.Spec.PodSets {
			ps := &w.Spec.PodSets[i]
			for _, cs := range [][]corev1.Container{ps.Template.Spec.InitContainers, ps.Template.Spec.Containers} {
				for k := range cs {
					amounts(cs[k].Resources.Requests, ps.Count)
					amounts(cs[k].Resources.Limits, ps.Count)
				}
			}
			amounts(ps.Template.Spec.Overhead, ps.Count)
			if r := ps.Template.Spec.Resources; r != nil {
				amounts(r.Requests, ps.Count)
				amounts(r.Limits, ps.Count)
			}
		}
		if a := w.Status.Admission; a != nil {
			for i := range a.PodSetAssignments {
				amounts(a.PodSetAssignments[i].ResourceUsage, 1)
			}
		}
	}
	// Requests, limits and what is held are counted together, which is too much, but
	// far below the end for anything there is.
	each(func(_ corev1.ResourceName, n float64) { total += n })
	if total < math.MaxInt64 {
		return nil
	}
	sums := map[corev1.ResourceName]float64{}
	each(func(name corev1.ResourceName, n float64) { sums[name] += n })
	var bad []string
	for name, n := range sums {
		if n >= math.MaxInt64 {
			bad = append(bad, fmt.Sprintf("more %s than can be counted", name))
		}
	}
	return bad
}
