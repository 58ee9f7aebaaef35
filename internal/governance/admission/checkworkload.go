package admission

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// CheckWorkload returns the faults for which the API server or Kueue's webhook would reject a workload. [Engine.Load]
// leaves such a workload out, with this error.
func CheckWorkload(w *kueue.Workload) error {
	if w.Name == "" || w.Namespace == "" {
		return fmt.Errorf("workload %q in namespace %q: a name and a namespace are needed", w.Name, w.Namespace)
	}
	var bad []string
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		if slices.ContainsFunc(w.Spec.PodSets[:i], func(o kueue.PodSet) bool { return o.Name == ps.Name }) {
			bad = append(bad, fmt.Sprintf("two pod sets have the name %q", ps.Name))
		}
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
			bad = append(bad, fmt.Sprintf("status.admission and the spec have different numbers of pod sets: %d and %d", len(a.PodSetAssignments), len(w.Spec.PodSets)))
		}
		for i := range a.PodSetAssignments {
			name := a.PodSetAssignments[i].Name
			if !slices.ContainsFunc(w.Spec.PodSets, func(ps kueue.PodSet) bool { return ps.Name == name }) {
				bad = append(bad, fmt.Sprintf("status.admission has a pod set %q that the spec does not have", name))
			}
			if why := misplaced(a.PodSetAssignments[i].TopologyAssignment); why != "" {
				bad = append(bad, fmt.Sprintf("status.admission, pod set %s: topologyAssignment: %s", a.PodSetAssignments[i].Name, why))
			}
			for name, q := range a.PodSetAssignments[i].ResourceUsage {
				// Kueue divides what is held by the number of pods.
				if q.Sign() > 0 && i < len(w.Spec.PodSets) && ptr.Deref(a.PodSetAssignments[i].Count, w.Spec.PodSets[i].Count) == 0 {
					bad = append(bad, fmt.Sprintf("status.admission, pod set %s: reserves %s %s for 0 pods", a.PodSetAssignments[i].Name, q.String(), name))
				}
				if q.Sign() < 0 {
					bad = append(bad, fmt.Sprintf("status.admission, pod set %s: %s %s is negative", a.PodSetAssignments[i].Name, name, q.String()))
				}
			}
		}
	}
	return faults(w, append(bad, uncountable(w.Status.Admission)...))
}

// CheckRequests returns an error if a workload requests amounts that 64 bits cannot hold, and names the resources. Kueue
// treats such an amount as the largest possible one, so [Engine.Load] accepts it: no quota covers it. In a manifest it
// is a mistake.
func CheckRequests(w *kueue.Workload) error {
	amounts := sums{}
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		for _, cs := range [][]corev1.Container{ps.Template.Spec.InitContainers, ps.Template.Spec.Containers} {
			for k := range cs {
				amounts.add(cs[k].Resources.Requests, ps.Count)
				amounts.add(cs[k].Resources.Limits, ps.Count)
			}
		}
		amounts.add(ps.Template.Spec.Overhead, ps.Count)
		if r := ps.Template.Spec.Resources; r != nil {
			amounts.add(r.Requests, ps.Count)
			amounts.add(r.Limits, ps.Count)
		}
	}
	return faults(w, amounts.beyond())
}

func faults(w *kueue.Workload, bad []string) error {
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return fmt.Errorf("workload %s/%s: %s", w.Namespace, w.Name, strings.Join(bad, "; "))
}

// uncountable names the resources whose amount overflows 64 bits. Kueue treats such an amount as unlimited, so
// no answer is possible.
func uncountable(a *kueue.Admission) []string {
	if a == nil {
		return nil
	}
	amounts := sums{}
	for i := range a.PodSetAssignments {
		amounts.add(a.PodSetAssignments[i].ResourceUsage, 1)
	}
	return amounts.beyond()
}

// sums adds amounts up, requests and limits alike: too much, but far below the end
// for anything there is.
type sums map[corev1.ResourceName]float64

func (s sums) add(list corev1.ResourceList, count int32) {
	for name, q := range list {
		n := q.AsApproximateFloat64() * float64(count)
		if name == corev1.ResourceCPU {
			n *= 1000
		}
		s[name] += n
	}
}

func (s sums) beyond() []string {
	var bad []string
	for name, n := range s {
		if n >= math.MaxInt64 {
			bad = append(bad, fmt.Sprintf("more %s than can be counted", name))
		}
	}
	return bad
}

// misplaced says what is wrong with the form of a topology assignment, "" for
// nothing: Kueue takes a value of each level for each domain without a check.
func misplaced(t *kueue.TopologyAssignment) string {
	if t == nil {
		return ""
	}
	if len(t.Levels) == 0 && len(t.Slices) > 0 {
		return "it has no levels"
	}
	for i := range t.Slices {
		s := &t.Slices[i]
		n := int(s.DomainCount)
		if s.PodCounts.Universal == nil && len(s.PodCounts.Individual) < n {
			return fmt.Sprintf("slice %d counts the pods of %d of %d domains", i, len(s.PodCounts.Individual), n)
		}
		if len(s.ValuesPerLevel) != len(t.Levels) {
			return fmt.Sprintf("slice %d has values of %d of %d levels", i, len(s.ValuesPerLevel), len(t.Levels))
		}
		same := true // all domains have the same values
		for k := range s.ValuesPerLevel {
			v := &s.ValuesPerLevel[k]
			same = same && v.Universal != nil
			if v.Universal == nil && (v.Individual == nil || len(v.Individual.Roots) < n) {
				return fmt.Sprintf("slice %d has no values of level %s", i, t.Levels[k])
			}
		}
		if same && n > 1 {
			return fmt.Sprintf("slice %d names one domain %d times", i, n)
		}
	}
	return ""
}
