package prerequisite

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Found is what a cluster has of what the pods of a job need.
type Found struct {
	// Absent are the references to objects that do not exist.
	Absent []Reference
	// Quotas are the ResourceQuotas of the namespace.
	Quotas []*corev1.ResourceQuota
	// Runtime is the object with the templates of the pods, for kinds that name one; nil
	// if it does not exist or could not be read.
	Runtime map[string]any
	// RuntimeUnread means that the runtime could not be read.
	RuntimeUnread bool
	// Volumes are the claims whose volumes only some nodes can use.
	Volumes []Volume
}

// With returns what was found about the pods of two objects of one namespace, each thing once. Either may be nil.
func (f *Found) With(other *Found) *Found {
	if f == nil || other == nil {
		return cmp.Or(f, other)
	}
	out := *f
	out.Absent, out.Volumes = slices.Clone(f.Absent), slices.Clone(f.Volumes)
	for _, ref := range other.Absent {
		if !slices.ContainsFunc(out.Absent, func(r Reference) bool {
			return r.Resource.FullName() == ref.Resource.FullName() && r.Name == ref.Name && r.Pull == ref.Pull
		}) {
			out.Absent = append(out.Absent, ref)
		}
	}
	for _, v := range other.Volumes {
		if !slices.ContainsFunc(out.Volumes, func(o Volume) bool { return o.Claim == v.Claim }) {
			out.Volumes = append(out.Volumes, v)
		}
	}
	return &out
}

// Volume is a claim whose volume only the selected nodes can use.
type Volume struct {
	Claim string
	Nodes corev1.NodeSelector
}

// Bind returns a pod spec that only the nodes of its volumes can run, and the first of its
// claims that limits them, "" for none. The given spec does not change.
func Bind(spec *corev1.PodSpec, volumes []Volume) (bound *corev1.PodSpec, claim string) {
	bound = spec.DeepCopy()
	for _, v := range spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		i := slices.IndexFunc(volumes, func(o Volume) bool { return o.Claim == v.PersistentVolumeClaim.ClaimName })
		if i < 0 {
			continue
		}
		if claim == "" {
			claim = volumes[i].Claim
		}
		if bound.Affinity == nil {
			bound.Affinity = &corev1.Affinity{}
		}
		if bound.Affinity.NodeAffinity == nil {
			bound.Affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		n := bound.Affinity.NodeAffinity
		n.RequiredDuringSchedulingIgnoredDuringExecution = both(n.RequiredDuringSchedulingIgnoredDuringExecution, &volumes[i].Nodes)
	}
	return bound, claim
}

// both returns the selector of the nodes that both selectors select. The terms of a
// selector are alternatives.
func both(a, b *corev1.NodeSelector) *corev1.NodeSelector {
	if a == nil {
		return b.DeepCopy()
	}
	out := &corev1.NodeSelector{}
	for _, x := range a.NodeSelectorTerms {
		for _, y := range b.NodeSelectorTerms {
			out.NodeSelectorTerms = append(out.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchExpressions: slices.Concat(x.MatchExpressions, y.MatchExpressions),
				MatchFields:      slices.Concat(x.MatchFields, y.MatchFields),
			})
		}
	}
	return out
}
