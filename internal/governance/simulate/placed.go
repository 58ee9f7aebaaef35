package simulate

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
)

// podSetLabel is the label that Kueue gives pods with the name of their pod set.
const podSetLabel = "kueue.x-k8s.io/podset"

// place finds the jobs with quota whose pods no node takes. Pods stay where they are;
// those of jobs that have just got their quota, and those without a node, are put on
// the nodes first-fit, in the order in which the jobs got their quota. Nodes are not
// looked at when there are none.
func (r *result) place() {
	nodes := all[*corev1.Node](r.world)
	if len(nodes) == 0 || r.world.NoPods {
		return
	}
	fresh := maps.Clone(r.world.started)
	if fresh == nil {
		fresh = map[types.NamespacedName]bool{}
	}
	for _, e := range r.events {
		switch e.Kind {
		case admission.EventAdmitted, admission.EventQuotaReserved:
			fresh[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = true
		}
	}
	var bound []*corev1.Pod
	unbound := map[podHolder][]*corev1.Pod{}
	jobs, stays := r.world.podJobs(), map[podHolder]bool{}
	for k, s := range r.states {
		if s.reserves() && !fresh[k] {
			stays[jobs.holder(s.object)] = true
		}
	}
	for _, p := range all[*corev1.Pod](r.world) {
		job, known := jobs.of(p)
		switch {
		case known && !stays[job]: // its pods end, or are created again
		case p.Spec.NodeName != "":
			bound = append(bound, p)
		case known:
			unbound[job] = append(unbound[job], p)
		}
	}
	var todo []types.NamespacedName
	for k, s := range r.states {
		if s.State == Admitted && (fresh[k] || len(unbound[jobs.holder(s.object)]) > 0) {
			todo = append(todo, k)
		}
	}
	r.sortByReservation(todo)
	cluster := fit.New(nodes, bound, nil)
	for _, k := range todo {
		s := r.states[k]
		var lost []*corev1.Pod
		if !fresh[k] {
			lost = unbound[jobs.holder(s.object)]
		}
		groups := r.groups(s.object, lost)
		got := cluster.Bind(groups)
		if got.Fits {
			continue
		}
		s.State, s.Reason, s.Placements = WaitsForNodes, fit.NodesFull, got.Groups
		if !cluster.Place(groups, true).Fits {
			s.Reason = fit.NodesTooSmall
		}
	}
}

// groups returns the pods to place of a workload with quota: all, or as many as are lost.
func (r *result) groups(w *kueue.Workload, lost []*corev1.Pod) []fit.Group {
	left := map[kueue.PodSetReference]int{}
	for _, p := range lost {
		left[podSetOf(w, p)]++
	}
	var out []fit.Group
	for i := range w.Status.Admission.PodSetAssignments {
		psa := &w.Status.Admission.PodSetAssignments[i]
		at := slices.IndexFunc(w.Spec.PodSets, func(ps kueue.PodSet) bool { return ps.Name == psa.Name })
		if at < 0 {
			continue
		}
		ps := &w.Spec.PodSets[at]
		g := fit.Group{Name: string(ps.Name), Count: int(ps.Count), Spec: ps.Template.Spec, NodeLabels: map[string]string{}}
		if psa.Count != nil {
			g.Count = int(*psa.Count)
		}
		for _, name := range psa.Flavors {
			f := find[*kueue.ResourceFlavor](r.world, string(name))
			if f == nil {
				continue
			}
			maps.Copy(g.NodeLabels, f.Spec.NodeLabels)
			g.Tolerations = append(g.Tolerations, f.Spec.Tolerations...)
		}
		if lost != nil {
			g.Count = min(g.Count, left[ps.Name])
		} else {
			r.assign(&g, psa)
		}
		if g.Count > 0 {
			out = append(out, g)
		}
	}
	return out
}

// assign adds the topology domains of an assignment.
func (r *result) assign(g *fit.Group, psa *kueue.PodSetAssignment) {
	var flavors []string
	for _, f := range psa.Flavors {
		flavors = append(flavors, string(f))
	}
	levels := r.levelKeys(flavors)
	for _, d := range admission.Placed(psa) {
		n := min(len(levels), len(d.Levels))
		if n == 0 {
			continue
		}
		// An assignment may name the lowest levels only (a host name is enough).
		keys, values := levels[len(levels)-n:], d.Levels[len(d.Levels)-n:]
		if keys[n-1] == corev1.LabelHostname {
			if g.Hosts == nil {
				g.Hosts = map[string]int{}
			}
			g.Hosts[r.nodeNamed(values[n-1])] += int(d.Count)
			continue
		}
		at := map[string]string{}
		for i := range n {
			at[keys[i]] = values[i]
		}
		g.Domain = append(g.Domain, at)
	}
}

// nodeNamed returns the name of the node with a host name.
func (r *result) nodeNamed(host string) string {
	for _, n := range all[*corev1.Node](r.world) {
		if n.Labels[corev1.LabelHostname] == host {
			return n.Name
		}
	}
	return host
}

// levelKeys returns the node labels of a topology's levels.
func levelKeys(w World, topology string) []string {
	var out []string
	if t := find[*kueue.Topology](w, topology); t != nil {
		for _, l := range t.Spec.Levels {
			out = append(out, l.NodeLabel)
		}
	}
	return out
}

// podSetOf returns the pod set of a pod: by Kueue's label, else one with the same requests,
// else the first.
func podSetOf(w *kueue.Workload, p *corev1.Pod) kueue.PodSetReference {
	if name := p.Labels[podSetLabel]; name != "" {
		return kueue.PodSetReference(name)
	}
	wants := fit.Requests(&p.Spec)
	for i := range w.Spec.PodSets {
		requests := fit.Requests(&w.Spec.PodSets[i].Template.Spec)
		if maps.EqualFunc(wants, requests, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }) {
			return w.Spec.PodSets[i].Name
		}
	}
	return w.Spec.PodSets[0].Name
}

// sortByReservation orders workloads with quota by when they got it: first those that
// had it before the run, then those of the run.
func (r *result) sortByReservation(list []types.NamespacedName) {
	if r.rank == nil {
		r.rank = map[types.NamespacedName]int{}
		for i, e := range r.events {
			if e.Kind == admission.EventAdmitted || e.Kind == admission.EventQuotaReserved {
				r.rank[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = i + 1
			}
		}
	}
	slices.SortFunc(list, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(r.rank[a], r.rank[b]), r.states[a].reservedAt().Compare(r.states[b].reservedAt()), cmp.Compare(a.String(), b.String()))
	})
}
