package overlay

import (
	"reflect"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

// Annotations by which Kueue places the pods of a job close together (Kueue,
// "Topology Aware Scheduling"); the value is the node label of a level.
const (
	preferredTopologyAnnotation = "kueue.x-k8s.io/podset-preferred-topology"
	requiredTopologyAnnotation  = "kueue.x-k8s.io/podset-required-topology"
)

func (s *job) applyTolerations(pod map[string]any) {
	for _, t := range s.Tolerations {
		body := t.Object()
		if list := jobobject.MapsIn(pod["tolerations"]); slices.ContainsFunc(list, func(have map[string]any) bool { return reflect.DeepEqual(have, body) }) {
			continue
		}
		pod["tolerations"] = append(jobobject.Without(pod["tolerations"], func(map[string]any) bool { return false }), body)
	}
}

// applyTopology requests a topology on the pod templates, where Kueue reads it. A required topology replaces a
// preferred one, and the reverse.
func (s *job) applyTopology(r jobobject.Role) {
	if s.PreferredTopology == "" && s.RequiredTopology == "" {
		return
	}
	annotations := jobobject.Child(jobobject.Child(r.Template, "metadata"), "annotations")
	delete(annotations, preferredTopologyAnnotation)
	delete(annotations, requiredTopologyAnnotation)
	if s.RequiredTopology != "" {
		annotations[requiredTopologyAnnotation] = s.RequiredTopology
	} else {
		annotations[preferredTopologyAnnotation] = s.PreferredTopology
	}
}
