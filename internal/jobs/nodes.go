package jobs

import (
	"cmp"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// OnNodes is a job with pods on certain nodes.
type OnNodes struct {
	Namespace, Name string
	Pods            int
	// Nodes are the names of the nodes, sorted.
	Nodes []string
}

// FindOnNodes returns the jobs that have pods on nodes, those with the most pods first, and the number of other
// pods there. Pods of DaemonSets and pods that ended do not count. The names come from the labels of the pods.
func FindOnNodes(pods []state.Pod, on func(node string) bool) (list []OnNodes, others int) {
	type key struct{ namespace, name string }
	found := map[key]*OnNodes{}
	for _, p := range pods {
		if p.NodeName == "" || Ended(p) || !on(p.NodeName) {
			continue
		}
		name := jobOf(p)
		if name == "" {
			if !slices.ContainsFunc(p.Owners, func(o state.Owner) bool { return o.Kind == "DaemonSet" }) {
				others++
			}
			continue
		}
		j := found[key{p.Namespace, name}]
		if j == nil {
			j = &OnNodes{Namespace: p.Namespace, Name: name}
			found[key{p.Namespace, name}] = j
		}
		j.Pods++
		j.Nodes = append(j.Nodes, p.NodeName)
	}
	for _, j := range found {
		slices.Sort(j.Nodes)
		j.Nodes = slices.Compact(j.Nodes)
		list = append(list, *j)
	}
	slices.SortFunc(list, func(a, b OnNodes) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list, others
}

// Ended reports whether all containers of a pod have ended for good.
func Ended(p state.Pod) bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// jobOf returns the name of a pod's job, "" if it has none.
func jobOf(p state.Pod) string {
	var controller state.Owner
	for _, o := range p.Owners {
		if o.Controller {
			controller = o
		}
	}
	name, _ := kinds.JobOfPod(p.Name, p.Labels, controller.Kind, controller.Name)
	return name
}
