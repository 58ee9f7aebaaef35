package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workloadslicing"
)

// The types of testdata/casebook/placement.go.
type (
	placement struct {
		Levels      []string
		NodeLabels  map[string]string
		Own, Others map[string]corev1.ResourceList
		PodSets     []placed
		Workload    *kueue.Workload
	}
	placed struct {
		PodSet   *kueue.PodSet
		Group    *string
		Requests corev1.ResourceList
		Count    int32
		Previous *kueue.TopologyAssignment
	}
	placeAnswer struct {
		Assignment *kueue.TopologyAssignment
		Reason     string
	}
)

// TestPlacementCases makes a cluster of each case of Kueue's tests of placements in a topology: its nodes and pods, a queue with
// more quota than the workload needs, workloads that use what the case says is in use. The workload must get the places that the
// case gives it, or wait with its reason.
func TestPlacementCases(t *testing.T) {
	counts := map[string]int{}
	for _, u := range slices.Concat(readUnits(t, "TestFindTopologyAssignments"), readUnits(t, "TestFindTopologyAssignmentsMultiLayerReplacement")) {
		var result string
		diffs := guarded(func() (diffs []string) { result, diffs = u.comparePlacement(t); return diffs })
		if len(diffs) > 0 && result == usesNothing {
			diffs = u.throughLoop()
		}
		if len(diffs) > 0 {
			t.Errorf("%s\n  %s", u.Given, strings.Join(diffs, "\n  "))
			result = "differ"
		}
		counts[result]++
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d: %s", counts[k], k)
	}
}

// throughLoop returns how the engine differs from Kueue's loop in the cluster of a case.
func (u *unit) throughLoop() []string {
	var p placement
	must(json.Unmarshal(u.Given, &p))
	in := (&unitCase{}).input(u.settings, u.Objects, p.cluster(u.Now)...)
	in.length = 2
	_, diffs := goOn(in, newEffects())
	return diffs
}

// name is the name of a pod set in a cluster, where none is empty.
func (p *placed) name() kueue.PodSetReference { return cmp.Or(p.PodSet.Name, "main") }

// usesNothing is a case about a workload that has a place, which does not count as use: it does in a cluster. If another place
// comes of it, Kueue's loop has to find it, too.
const usesNothing = "as in Kueue's loop, because what the workload uses counts"

const (
	placedFlavor  = "tas"
	siblingFlavor = "sibling"
)

// comparePlacement returns how a case agrees, and what differs.
func (u *unit) comparePlacement(t *testing.T) (result string, diffs []string) {
	var p placement
	must(json.Unmarshal(u.Given, &p))
	want := map[kueue.PodSetReference]placeAnswer{}
	must(json.Unmarshal(u.Result, &want))
	u.Now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	list := p.cluster(u.Now)
	c := &unitCase{}
	e, notes, err := c.open(t, u.settings, slices.Concat(u.Objects, raws(list))).Engine(context.Background())
	must(err)
	for _, n := range notes {
		if n.Err != nil {
			return fmt.Sprintf("the API server refuses an object: %v", n.Err), nil
		}
	}
	_, err = e.Run(context.Background(), 1)
	must(err)
	w := e.Workload("default", "placed")
	reasons, places := "", map[kueue.PodSetReference]*kueue.TopologyAssignment{}
	for i := range p.PodSets {
		a := want[p.PodSets[i].PodSet.Name]
		reasons = cmp.Or(reasons, a.Reason)
		places[p.PodSets[i].name()] = a.Assignment
	}
	told := ""
	if cond := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadQuotaReserved); cond != nil {
		told = cond.Message
	}
	has := workload.HasQuotaReservation(w)
	if p.Workload != nil { // it had its quota
		evicted := apimeta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
		if has = evicted == nil; !has {
			told = evicted.Message
		}
	}
	switch {
	case reasons != "" && has:
		return "", []string{fmt.Sprintf("Kueue: %s\n   engine: %s", reasons, asJSON(w.Status.Admission))}
	case reasons == "" || strings.Contains(told, reasons):
	case strings.HasPrefix(told, "Workload was evicted as there was no replacement for unhealthy node(s)"):
		return "agree, and the workload is evicted", nil
	case strings.HasSuffix(told, "does not contain the requested level") && strings.HasPrefix(reasons, "no requested topology level"):
		return "agree, and the flavor is ruled out before", nil
	default:
		return "", []string{fmt.Sprintf("Kueue: %s\n   engine: %s", reasons, told)}
	}
	switch {
	case reasons != "":
		return "agree", nil
	case !has:
		return "", []string{fmt.Sprintf("Kueue: %s\n   engine: %s", asJSON(places), asJSON(w.Status.Conditions))}
	}
	for _, a := range w.Status.Admission.PodSetAssignments {
		if got, want := asJSON(a.TopologyAssignment), asJSON(places[a.Name]); got != want {
			diffs = append(diffs, fmt.Sprintf("%s\n   Kueue:  %s\n   engine: %s", a.Name, want, got))
		}
	}
	if len(diffs) > 0 && (p.Workload != nil || slices.ContainsFunc(p.PodSets, func(ps placed) bool { return ps.Previous != nil })) {
		return usesNothing, diffs
	}
	return "agree", diffs
}

// cluster returns what the cluster of a case has beside nodes and pods.
func (p *placement) cluster(now time.Time) (list []client.Object) {
	topology := &kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	for _, l := range p.Levels {
		topology.Spec.Levels = append(topology.Spec.Levels, kueue.TopologyLevel{NodeLabel: l})
	}
	list = append(list, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, topology)
	resources := map[corev1.ResourceName]bool{corev1.ResourceCPU: true}
	for _, ps := range p.PodSets {
		for r := range ps.Requests {
			resources[r] = true
		}
	}
	for _, use := range []map[string]corev1.ResourceList{p.Own, p.Others} {
		for _, amounts := range use {
			for r := range amounts {
				resources[r] = true
			}
		}
	}
	delete(resources, corev1.ResourcePods)
	for _, name := range []string{placedFlavor, siblingFlavor} {
		f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ResourceFlavorSpec{NodeLabels: p.NodeLabels, TopologyName: ptr.To(kueue.TopologyReference("default"))}}
		if len(f.Spec.NodeLabels) == 0 {
			f.Spec.NodeLabels = nil
		}
		group := kueue.ResourceGroup{Flavors: []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(name)}}}
		for _, r := range slices.Sorted(maps.Keys(resources)) {
			group.CoveredResources = append(group.CoveredResources, r)
			group.Flavors[0].Resources = append(group.Flavors[0].Resources, kueue.ResourceQuota{Name: r, NominalQuota: resource.MustParse("1P")})
		}
		cq := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}, ResourceGroups: []kueue.ResourceGroup{group}}}
		putRight(cq)
		list = append(list, f, cq, &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}})
	}
	for flavor, use := range map[string]map[string]corev1.ResourceList{placedFlavor: p.Own, siblingFlavor: p.Others} {
		for i, domain := range slices.Sorted(maps.Keys(use)) {
			w := p.holder(fmt.Sprint("uses-", flavor, i), flavor, domain, use[domain], now)
			list = append(list, w)
		}
	}
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "placed", UID: "placed", CreationTimestamp: metav1.NewTime(now)},
		Spec: kueue.WorkloadSpec{QueueName: placedFlavor, Active: ptr.To(true)}}
	for i := range p.PodSets {
		w.Spec.PodSets = append(w.Spec.PodSets, p.PodSets[i].podSet())
	}
	switch {
	case p.Workload != nil:
		p.running(w, now)
	case slices.ContainsFunc(p.PodSets, func(ps placed) bool { return ps.Previous != nil }):
		list = append(list, p.replaced(w, now))
	}
	return append(list, w)
}

// podSet is a pod set of the workload.
func (p *placed) podSet() kueue.PodSet {
	ps := *p.PodSet.DeepCopy()
	ps.Name, ps.Count = p.name(), p.Count
	if p.Group != nil && ps.TopologyRequest != nil {
		ps.TopologyRequest.PodSetGroupName = p.Group
	}
	ps.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	ps.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "i", Resources: corev1.ResourceRequirements{Requests: p.Requests}}}
	return ps
}

// assigned are the assignments of pod sets that run on a flavor.
func assigned(flavor string, sets []kueue.PodSet) []kueue.PodSetAssignment {
	var out []kueue.PodSetAssignment
	for _, ps := range sets {
		a := kueue.PodSetAssignment{Name: ps.Name, Count: ptr.To(ps.Count), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{}}
		for r, q := range ps.Template.Spec.Containers[0].Resources.Requests {
			q.Mul(int64(ps.Count))
			a.Flavors[r], a.ResourceUsage[r] = kueue.ResourceFlavorReference(flavor), q
		}
		out = append(out, a)
	}
	return out
}

// admit gives a workload quota.
func admit(w *kueue.Workload, flavor string, now time.Time) {
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(flavor), PodSetAssignments: assigned(flavor, w.Spec.PodSets)}
	for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c, LastTransitionTime: metav1.NewTime(now)})
	}
}

// holder is a workload that uses a domain.
func (p *placement) holder(name, flavor, domain string, use corev1.ResourceList, now time.Time) *kueue.Workload {
	pods := int32(1)
	if q, ok := use[corev1.ResourcePods]; ok {
		pods = int32(q.Value())
	}
	one := corev1.ResourceList{}
	for r, q := range use {
		if r != corev1.ResourcePods {
			one[r] = *resource.NewMilliQuantity(q.MilliValue()/int64(pods), q.Format)
		}
	}
	w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Spec: kueue.WorkloadSpec{QueueName: kueue.LocalQueueName(flavor), Active: ptr.To(true)}}
	ps := placed{PodSet: &kueue.PodSet{TopologyRequest: &kueue.PodSetTopologyRequest{Unconstrained: ptr.To(true)}}, Requests: one, Count: pods}
	w.Spec.PodSets = []kueue.PodSet{ps.podSet()}
	admit(w, flavor, now)
	values, levels := strings.Split(domain, ","), p.Levels
	if len(values) < len(levels) {
		levels = levels[len(levels)-len(values):]
	}
	w.Status.Admission.PodSetAssignments[0].TopologyAssignment = utiltas.V1Beta2From(&utiltas.TopologyAssignment{Levels: levels, Domains: []utiltas.TopologyDomainAssignment{{Values: values, Count: pods}}})
	return w
}

// running makes the workload one that holds quota and lost a node.
func (p *placement) running(w *kueue.Workload, now time.Time) {
	w.OwnerReferences, w.Annotations = p.Workload.OwnerReferences, p.Workload.Annotations
	for i := range w.Spec.PodSets {
		for _, a := range p.Workload.Status.Admission.PodSetAssignments {
			if cmp.Or(a.Name, "main") == w.Spec.PodSets[i].Name || len(w.Spec.PodSets) == 1 {
				w.Spec.PodSets[i].Count = ptr.Deref(a.Count, w.Spec.PodSets[i].Count)
			}
		}
	}
	admit(w, placedFlavor, now)
	for i := range w.Status.Admission.PodSetAssignments {
		for _, a := range p.Workload.Status.Admission.PodSetAssignments {
			if cmp.Or(a.Name, "main") == w.Spec.PodSets[i].Name || len(w.Spec.PodSets) == 1 {
				w.Status.Admission.PodSetAssignments[i].TopologyAssignment = a.TopologyAssignment
			}
		}
	}
	w.Status.UnhealthyNodes = p.Workload.Status.UnhealthyNodes
}

// replaced returns the old slice of an elastic job, and makes the workload its new one.
func (p *placement) replaced(w *kueue.Workload, now time.Time) *kueue.Workload {
	old := w.DeepCopy()
	old.Name, old.UID, old.CreationTimestamp = "old", "old", metav1.NewTime(now.Add(-time.Hour))
	counts := map[int]int32{}
	for i := range p.PodSets {
		if prev := p.PodSets[i].Previous; prev != nil {
			for n := range utiltas.PodCounts(prev) {
				counts[i] += n
			}
			old.Spec.PodSets[i].Count = counts[i]
		}
	}
	admit(old, placedFlavor, now)
	for i := range p.PodSets {
		old.Status.Admission.PodSetAssignments[i].TopologyAssignment = p.PodSets[i].Previous
	}
	w.Annotations = map[string]string{workloadslicing.WorkloadSliceReplacementFor: string(workload.Key(old))}
	for _, s := range []*kueue.Workload{old, w} {
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[workloadslicing.EnabledAnnotationKey] = workloadslicing.EnabledAnnotationValue
	}
	return old
}
