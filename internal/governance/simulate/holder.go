package simulate

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// podHolder is what pods share that get and lose their quota together: their job, their group, or a single pod
// where each pod of a job has a workload.
type podHolder struct {
	kind            holderKind
	namespace, name string
}

type holderKind byte

const (
	jobHolder   holderKind = iota
	groupHolder            // the name is that of the group and its workload
	singleHolder
)

// podJobs finds the holder of each pod: one with a workload where there is one.
type podJobs struct {
	known  map[podHolder]string // what people call the job, "namespace/name"
	groups map[podHolder]bool   // the groups of all pods
}

func (w World) podJobs() podJobs {
	out := podJobs{known: map[podHolder]string{}, groups: map[podHolder]bool{}}
	for _, p := range all[*corev1.Pod](w) {
		if group := p.Labels[kinds.PodGroupName]; group != "" {
			out.groups[podHolder{groupHolder, p.Namespace, group}] = true
		}
	}
	shown := w.shownNames()
	for _, wl := range all[*kueue.Workload](w) {
		out.known[out.holder(wl)] = wl.Namespace + "/" + shown(wl)
	}
	return out
}

// holder returns what the pods of a workload share.
func (j podJobs) holder(w *kueue.Workload) podHolder {
	if group := (podHolder{groupHolder, w.Namespace, w.Name}); j.groups[group] {
		return group
	}
	name, kind := inputs.JobOf(w)
	if kind == kinds.Pod.Kind {
		return podHolder{singleHolder, w.Namespace, name}
	}
	return podHolder{jobHolder, w.Namespace, name}
}

// of returns the holder of a pod and whether it has a workload.
func (j podJobs) of(p *corev1.Pod) (holder podHolder, known bool) {
	has := func(h podHolder) bool { _, ok := j.known[h]; return ok }
	if group := p.Labels[kinds.PodGroupName]; group != "" {
		holder = podHolder{groupHolder, p.Namespace, group} // its workload has this name
		return holder, has(holder)
	}
	if holder = (podHolder{singleHolder, p.Namespace, p.Name}); has(holder) {
		return holder, true
	}
	name, longer := podLabelOf(p)
	holder = podHolder{jobHolder, p.Namespace, name}
	for at := holder; longer && !has(at); {
		i := strings.LastIndexByte(at.name, '-')
		if i < 0 {
			return holder, false
		}
		if at.name = at.name[:i]; has(at) {
			return at, true
		}
	}
	return holder, has(holder)
}

// label returns what people call the job of a holder.
func (j podJobs) label(h podHolder) string { return cmp.Or(j.known[h], h.namespace+"/"+h.name) }

// podLabelOf returns the name of a pod's job by its labels; longer: the name may be longer
// than the job's, which it begins with (a RayJob's pods have its RayCluster's).
func podLabelOf(p *corev1.Pod) (name string, longer bool) {
	var by metav1.OwnerReference
	if o := metav1.GetControllerOf(p); o != nil {
		by = *o
	}
	name, longer = kinds.JobOfPod(p.Name, p.Labels, by.Kind, by.Name)
	return cmp.Or(name, by.Name, p.Name), longer
}

// unbound returns a pod as its job creates it again: without a node. It is still the pod by which the job of its workload is found.
func unbound(old *corev1.Pod) *corev1.Pod {
	p := *old
	p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
	return &p
}
