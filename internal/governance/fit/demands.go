package fit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// namedValues is how many values of a requirement are named.
const namedValues = 3

// demand is one requirement of pods on a node: in the form of kubectl's selectors, and the selector that tests it.
type demand struct {
	text     string
	selector *nodeaffinity.NodeSelector
}

// demandsOf returns the requirements of pods on nodes that must all hold: those of the node selector, by name, and those of
// the required affinity unless it has alternatives.
func demandsOf(spec *corev1.PodSpec) (out []demand) {
	add := func(text string, term corev1.NodeSelectorTerm) {
		if s, err := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}); err == nil {
			out = append(out, demand{text, s})
		}
	}
	keys := make([]string, 0, len(spec.NodeSelector))
	for k := range spec.NodeSelector {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		v := spec.NodeSelector[k]
		add(k+"="+v, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: k, Operator: corev1.NodeSelectorOpIn, Values: []string{v}}}})
	}
	a := spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return out
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 {
		return out
	}
	for _, r := range terms[0].MatchExpressions {
		add(requirementText(r), corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}})
	}
	for _, r := range terms[0].MatchFields {
		add(requirementText(r), corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{r}})
	}
	return out
}

// requirementText writes a requirement as kubectl's selectors do.
func requirementText(r corev1.NodeSelectorRequirement) string {
	values := r.Values
	if len(values) > namedValues {
		values = append(slices.Clone(values[:namedValues]), "...")
	}
	list := strings.Join(values, ", ")
	switch r.Operator {
	case corev1.NodeSelectorOpExists:
		return r.Key
	case corev1.NodeSelectorOpDoesNotExist:
		return "!" + r.Key
	case corev1.NodeSelectorOpGt:
		return r.Key + ">" + list
	case corev1.NodeSelectorOpLt:
		return r.Key + "<" + list
	case corev1.NodeSelectorOpNotIn:
		return r.Key + " notin (" + list + ")"
	}
	if len(values) == 1 {
		return r.Key + "=" + list
	}
	return r.Key + " in (" + list + ")"
}

// unmet names the requirements that a node does not meet, "" where none alone rules it out.
func unmet(demands []demand, n *corev1.Node) string {
	var names []string
	for _, d := range demands {
		if !d.selector.Match(n) {
			names = append(names, d.text)
		}
	}
	return strings.Join(names, ", ")
}
