package overlay

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// clusterScoped are kinds without a namespace that manifests bring along.
var clusterScoped = map[string]bool{"Namespace": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"StorageClass": true, "PriorityClass": true, "CustomResourceDefinition": true, "Node": true}

// applyObjects sets what concerns every object: the namespace, and the labels that the admission policy
// requires.
func (s *job) applyObjects(objects []map[string]any) {
	queued := false
	for _, o := range objects {
		switch meta := jobobject.Child(o, "metadata"); {
		case s.Namespace != "" && !isClusterScoped(o):
			meta["namespace"] = s.Namespace
		case isNamespaceParam(manifest.TextOf(meta["namespace"])):
			delete(meta, "namespace") // nobody says it, so it is the cluster's to say
		}
		if jobobject.Pods(o) {
			jobobject.InjectLabels(o, s.queueLabels(o))
			queued = true
		}
	}
	if s.Queue != "" && !s.QueueChosen && !queued {
		s.Notef("%s is not applied: Kueue queues no object of the manifest", setting.Queue)
	}
}

func isClusterScoped(o map[string]any) bool {
	kind, group := manifest.TextOf(o["kind"]), manifest.GroupOf(manifest.TextOf(o["apiVersion"]))
	return clusterScoped[kind] || slices.ContainsFunc(kinds.All(), func(r kinds.Resource) bool {
		return r.Kind == kind && r.Group == group && !r.Namespaced
	})
}

func isNamespaceParam(text string) bool {
	m, alone := manifest.Location{}.Whole(text)
	c, _ := setting.OfPlaceholder(m.Name)
	return alone && c == setting.Namespace
}

// queueLabels returns the labels that Kueue reads. An object keeps its own queue unless the user names another
// one.
func (s *job) queueLabels(o map[string]any) map[string]string {
	out := map[string]string{}
	own := jobobject.Queue(o)
	switch {
	case s.Queue == "":
	case own != "" && !manifest.Unfilled(own) && s.QueueChosen:
		out[kinds.QueueLabel] = own
	default:
		if own != "" && own != s.Queue && !manifest.Unfilled(own) {
			s.Notef("replaced the queue %s of %s %s with %s", own, manifest.TextOf(o["kind"]), manifest.TextOf(jobobject.Inner(o, "metadata")["name"]), s.Queue)
		}
		out[kinds.QueueLabel] = s.Queue
	}
	if s.Priority != "" {
		out[kinds.PriorityLabel] = s.Priority
	}
	return out
}
