package inputs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// PodsOfGroup returns the pods of a group that exist and can still run, without those that a list replaces.
func PodsOfGroup(pods []*corev1.Pod, namespace, group string, replaced []map[string]any) (out []map[string]any, err error) {
	for _, p := range pods {
		if p.Labels[kinds.PodGroupName] != group || p.Namespace != namespace ||
			p.DeletionTimestamp != nil && p.Spec.NodeName == "" ||
			slices.ContainsFunc(replaced, func(o map[string]any) bool { return kinds.Text(o, "metadata", "name") == p.Name }) {
			continue
		}
		p = p.DeepCopy()
		p.APIVersion, p.Kind = kinds.PodKind.GroupVersion(), kinds.PodKind.Kind
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}
