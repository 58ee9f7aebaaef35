package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
)

// A change makes another input of one. It returns what it did, "" if there is nothing to do.
type alteration func(r *rand.Rand, in *input, list *[]client.Object) string

func of[T client.Object](list []client.Object) []T {
	var out []T
	for _, o := range list {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

func pending(list []client.Object) []*kueue.Workload {
	return slices.DeleteFunc(of[*kueue.Workload](list), func(w *kueue.Workload) bool { return w.Status.Admission != nil })
}

// any returns a random element, false if there is none.
func anyOf[T any](r *rand.Rand, from []T) (T, bool) {
	var none T
	if len(from) == 0 {
		return none, false
	}
	return pick(r, from), true
}

var alterations = map[string]alteration{
	"swapPriorities": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		all := of[*kueue.Workload](*list)
		if len(all) < 2 {
			return ""
		}
		a, b := pick(r, all), pick(r, all)
		a.Spec.Priority, b.Spec.Priority = b.Spec.Priority, a.Spec.Priority
		return a.Name + " " + b.Name
	},
	"priority": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		w, ok := anyOf(r, of[*kueue.Workload](*list))
		if !ok {
			return ""
		}
		w.Spec.Priority = ptr.To(ptr.Deref(w.Spec.Priority, 0) + pick(r, []int32{-1, 1, 100, -100}))
		return w.Name
	},
	"quota": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		var all []*kueue.ResourceQuota
		add := func(groups []kueue.ResourceGroup) {
			for g := range groups {
				for f := range groups[g].Flavors {
					for q := range groups[g].Flavors[f].Resources {
						all = append(all, &groups[g].Flavors[f].Resources[q])
					}
				}
			}
		}
		for _, cq := range of[*kueue.ClusterQueue](*list) {
			add(cq.Spec.ResourceGroups)
		}
		for _, c := range of[*kueue.Cohort](*list) {
			add(c.Spec.ResourceGroups)
		}
		q, ok := anyOf(r, all)
		if !ok {
			return ""
		}
		n := pick(r, []int{-1, -1, -3, 1, 1, 3})
		switch {
		case q.BorrowingLimit != nil && chance(r, 30):
			q.BorrowingLimit = more(*q.BorrowingLimit, n)
		case q.LendingLimit != nil && chance(r, 40):
			q.LendingLimit = more(*q.LendingLimit, n)
		case q.BorrowingLimit != nil && chance(r, 10):
			q.BorrowingLimit = nil
		case chance(r, 10):
			q.NominalQuota = *qty(0)
		default:
			q.NominalQuota = *more(q.NominalQuota, n)
		}
		return fmt.Sprint(q.Name, " ", n)
	},
	"preemption": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		cq, ok := anyOf(r, of[*kueue.ClusterQueue](*list))
		if !ok {
			return ""
		}
		p := cq.Spec.Preemption
		switch r.IntN(3) {
		case 0:
			p.WithinClusterQueue = pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority})
		case 1:
			p.ReclaimWithinCohort = pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny})
		default:
			p.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: pick(r, []kueue.BorrowWithinCohortPolicy{kueue.BorrowWithinCohortPolicyNever, kueue.BorrowWithinCohortPolicyLowerPriority})}
			if p.BorrowWithinCohort.Policy == kueue.BorrowWithinCohortPolicyLowerPriority && chance(r, 40) {
				p.BorrowWithinCohort.MaxPriorityThreshold = ptr.To(int32(r.IntN(4) - 1))
			}
		}
		if p.ReclaimWithinCohort == kueue.PreemptionPolicyNever { // else the API server refuses it
			p.BorrowWithinCohort = &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever}
		}
		return cq.Name
	},
	"fungibility": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		cq, ok := anyOf(r, of[*kueue.ClusterQueue](*list))
		if !ok {
			return ""
		}
		words := []kueue.FlavorFungibilityPolicy{kueue.MayStopSearch, kueue.TryNextFlavor}
		cq.Spec.FlavorFungibility = &kueue.FlavorFungibility{WhenCanBorrow: pick(r, words), WhenCanPreempt: pick(r, words)}
		if chance(r, 30) {
			cq.Spec.FlavorFungibility.Preference = ptr.To(pick(r, []kueue.FlavorFungibilityPreference{kueue.BorrowingOverPreemption, kueue.PreemptionOverBorrowing}))
		}
		return cq.Name
	},
	"strategy": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		cq, ok := anyOf(r, of[*kueue.ClusterQueue](*list))
		if !ok {
			return ""
		}
		cq.Spec.QueueingStrategy = pick(r, []kueue.QueueingStrategy{kueue.StrictFIFO, kueue.BestEffortFIFO})
		return cq.Name
	},
	"flavorOrder": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		cq, ok := anyOf(r, of[*kueue.ClusterQueue](*list))
		if !ok || len(cq.Spec.ResourceGroups) == 0 {
			return ""
		}
		f := pick(r, cq.Spec.ResourceGroups).Flavors
		r.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
		return cq.Name
	},
	"weight": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		if c, ok := anyOf(r, of[*kueue.Cohort](*list)); ok && chance(r, 30) {
			c.Spec.FairSharing = &kueue.FairSharing{Weight: qty(r.IntN(4))}
			return c.Name
		}
		cq, ok := anyOf(r, of[*kueue.ClusterQueue](*list))
		if !ok {
			return ""
		}
		cq.Spec.FairSharing = &kueue.FairSharing{Weight: qty(r.IntN(4))}
		return cq.Name
	},
	"cohort": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		queues := of[*kueue.ClusterQueue](*list)
		if len(queues) < 2 {
			return ""
		}
		a, b := pick(r, queues), pick(r, queues)
		a.Spec.CohortName = b.Spec.CohortName
		putRight(a)
		return a.Name + " " + b.Name
	},
	"drop": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		w, ok := anyOf(r, of[*kueue.Workload](*list))
		if !ok {
			return ""
		}
		*list = slices.DeleteFunc(*list, func(o client.Object) bool { return o == client.Object(w) })
		return w.Name
	},
	"double": func(r *rand.Rand, in *input, list *[]client.Object) string {
		w, ok := anyOf(r, of[*kueue.Workload](*list))
		if !ok {
			return ""
		}
		c := w.DeepCopy()
		c.Name, c.UID = fmt.Sprintf("%s-%d", w.Name, len(*list)), types.UID(fmt.Sprintf("%s-%d", w.UID, len(*list)))
		c.CreationTimestamp = metav1.NewTime(in.start.Add(time.Duration(len(*list)-1000) * time.Second))
		c.Status = kueue.WorkloadStatus{}
		*list = append(*list, c)
		return w.Name
	},
	"late": func(_ *rand.Rand, in *input, list *[]client.Object) string {
		for _, w := range pending(*list) {
			*list = slices.DeleteFunc(*list, func(o client.Object) bool { return o == client.Object(w) })
			c := w.DeepCopy()
			c.Status = kueue.WorkloadStatus{}
			in.late = append(in.late, c)
		}
		return fmt.Sprint(len(in.late))
	},
	"slice": func(r *rand.Rand, in *input, list *[]client.Object) string {
		w, ok := anyOf(r, of[*kueue.Workload](*list))
		if !ok || slices.ContainsFunc(*list, func(o client.Object) bool { _, ok := o.(*corev1.Node); return ok }) || len(w.Annotations) > 0 || len(w.OwnerReferences) > 0 {
			return ""
		}
		c := grown(r, w, len(*list)+100)
		c.CreationTimestamp = metav1.NewTime(in.start)
		c.Status = kueue.WorkloadStatus{}
		in.late = append(in.late, c)
		return w.Name
	},
	"check": func(r *rand.Rand, in *input, list *[]client.Object) string {
		cq, ok := anyOf(r, of[*kueue.ClusterQueue](*list))
		if !ok || cq.Spec.AdmissionChecksStrategy != nil || len(of[*kueue.AdmissionCheck](*list)) > 0 {
			return ""
		}
		*list = append([]client.Object{&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "added"}, Spec: kueue.AdmissionCheckSpec{ControllerName: "example.com/check"},
			Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"}}}}}, *list...)
		cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "added"}}}
		in.checks = true
		return cq.Name
	},
	"twins": func(r *rand.Rand, in *input, list *[]client.Object) string {
		suffix := fmt.Sprintf("-t%d", r.IntN(1_000_000))
		twins := map[kueue.ClusterQueueReference]kueue.ClusterQueueReference{}
		locals := map[string]string{}
		for _, cq := range of[*kueue.ClusterQueue](*list) {
			if chance(r, 70) {
				c := cq.DeepCopy()
				c.Name += suffix
				twins[kueue.ClusterQueueReference(cq.Name)] = kueue.ClusterQueueReference(c.Name)
				*list = append(*list, c)
			}
		}
		for _, lq := range of[*kueue.LocalQueue](*list) {
			if to := twins[lq.Spec.ClusterQueue]; to != "" {
				c := lq.DeepCopy()
				c.Name, c.Spec.ClusterQueue = c.Name+suffix, to
				locals[lq.Namespace+"/"+lq.Name] = c.Name
				*list = append(*list, c)
			}
		}
		if len(*list) > 150 {
			return "queues"
		}
		for _, w := range of[*kueue.Workload](*list) {
			lq := locals[w.Namespace+"/"+string(w.Spec.QueueName)]
			if lq == "" || len(w.OwnerReferences) > 0 || chance(r, 10) {
				continue
			}
			c := w.DeepCopy()
			c.Name, c.UID, c.Spec.QueueName = w.Name+suffix, w.UID+types.UID(suffix), kueue.LocalQueueName(lq)
			c.CreationTimestamp = metav1.NewTime(w.CreationTimestamp.Add(time.Duration(len(*list)) * time.Second))
			if c.Status.Admission != nil {
				if c.Status.Admission.PodSetAssignments[0].TopologyAssignment != nil || twins[c.Status.Admission.ClusterQueue] == "" {
					continue
				}
				c.Status.Admission.ClusterQueue = twins[c.Status.Admission.ClusterQueue]
			}
			*list = append(*list, c)
		}
		slices.SortStableFunc(*list, func(a, b client.Object) int { return rankOf(a) - rankOf(b) })
		return suffix
	},
	"queue": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		w, ok := anyOf(r, pending(*list))
		lq, found := anyOf(r, of[*kueue.LocalQueue](*list))
		if !ok || !found {
			return ""
		}
		w.Namespace, w.Spec.QueueName = lq.Namespace, kueue.LocalQueueName(lq.Name)
		return w.Name + " " + lq.Name
	},
	"request": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		w, ok := anyOf(r, pending(*list))
		if !ok {
			return ""
		}
		ps := &w.Spec.PodSets[r.IntN(len(w.Spec.PodSets))]
		if chance(r, 40) {
			ps.Count = max(1, ps.Count+pick(r, []int32{-1, 1, 2}))
			if ps.MinCount != nil && *ps.MinCount > ps.Count {
				ps.MinCount = nil
			}
			return fmt.Sprint(w.Name, " count ", ps.Count)
		}
		for name, q := range ps.Template.Spec.Containers[0].Resources.Requests {
			ps.Template.Spec.Containers[0].Resources.Requests[name] = *more(q, pick(r, []int{-1, 1}))
			return fmt.Sprint(w.Name, " ", name)
		}
		return ""
	},
	"partial": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		w, ok := anyOf(r, pending(*list))
		if !ok || slices.ContainsFunc(w.Spec.PodSets, func(ps kueue.PodSet) bool { return ps.TopologyRequest != nil }) {
			return ""
		}
		ps := &w.Spec.PodSets[0]
		if ps.Count < 2 {
			return ""
		}
		ps.MinCount = ptr.To(1 + r.Int32N(ps.Count-1))
		return w.Name
	},
	"topology": func(r *rand.Rand, _ *input, list *[]client.Object) string {
		w, ok := anyOf(r, pending(*list))
		topo, found := anyOf(r, of[*kueue.Topology](*list))
		if !ok || !found {
			return ""
		}
		ps := &w.Spec.PodSets[r.IntN(len(w.Spec.PodSets))]
		t := &kueue.PodSetTopologyRequest{}
		level := pick(r, topo.Spec.Levels).NodeLabel
		switch r.IntN(4) {
		case 0:
			t.Required = &level
		case 1:
			t.Preferred = &level
		case 2:
			t.Unconstrained = ptr.To(true)
		default:
			t.Required, t.PodSetSliceRequiredTopology, t.PodSetSliceSize = &topo.Spec.Levels[0].NodeLabel, &level, ptr.To(int32(1))
			if ps.Count%2 == 0 {
				t.PodSetSliceSize = ptr.To(int32(2))
			}
		}
		ps.TopologyRequest, ps.MinCount = t, nil
		return fmt.Sprint(w.Name, " ", asJSON(t))
	},
	"node": func(r *rand.Rand, in *input, list *[]client.Object) string {
		n, ok := anyOf(r, of[*corev1.Node](*list))
		if !ok {
			return ""
		}
		switch r.IntN(3) {
		case 0:
			*list = slices.DeleteFunc(*list, func(o client.Object) bool { return o == client.Object(n) })
			in.nodes = of[*corev1.Node](*list)
			in.failing = len(in.nodes) > 0
		case 1:
			for name, q := range n.Status.Allocatable {
				n.Status.Allocatable[name] = *more(q, pick(r, []int{-1, 1, 2}))
				break
			}
		default:
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule})
		}
		return n.Name
	},
	"sharing": func(r *rand.Rand, in *input, _ *[]client.Object) string {
		if in.byUse != nil {
			return ""
		}
		if in.fair == nil {
			in.fair = &config.FairSharing{PreemptionStrategies: pick(r, [][]config.PreemptionStrategy{nil, {config.LessThanOrEqualToFinalShare}, {config.LessThanInitialShare}})}
		} else {
			in.fair = nil
		}
		return fmt.Sprint(in.fair)
	},
	"gates": func(r *rand.Rand, in *input, _ *[]client.Object) string {
		gates := map[string]bool{}
		for name, on := range in.gates {
			gates[name] = on
		}
		for name, on := range pick(r, gateSets) {
			gates[name] = on
		}
		in.gates = gates
		return fmt.Sprint(gates)
	},
}

// more is an amount with n more of its size: of the last decimal place that is not 0.
func more(q resource.Quantity, n int) *resource.Quantity {
	unit := int64(1000)
	if q.MilliValue()%1000 != 0 {
		unit = 100
	}
	if q.Format == resource.BinarySI {
		unit = 1000 << 30
		if q.Value() < 1<<30 {
			unit = 1000 << 20
		}
	}
	v := max(0, q.MilliValue()+int64(n)*unit)
	return resource.NewMilliQuantity(v, q.Format)
}

// varied returns an input with one to three changes, and their names; nil if an API server refuses it.
func varied(c *unitCase, seed int) (*input, string) {
	in := c.anyInput()
	if in == nil {
		return nil, ""
	}
	r := rand.New(rand.NewPCG(uint64(seed), 4711))
	in.seed = seed
	list := in.objects()
	in.nodes = of[*corev1.Node](list)
	names := make([]string, 0, len(alterations))
	for name := range alterations {
		names = append(names, name)
	}
	slices.Sort(names)
	var done []string
	most := 4
	if seed%3 == 0 {
		most = 12
	}
	for range 1 + r.IntN(most) {
		name := pick(r, names)
		if what := alterations[name](r, in, &list); what != "" {
			done = append(done, name+" "+what)
		}
	}
	for _, cq := range of[*kueue.ClusterQueue](list) {
		if len(admission.ClusterQueueFaults(cq)) > 0 {
			return nil, ""
		}
	}
	for _, w := range of[*kueue.Workload](list) {
		if admission.CheckWorkload(w) != nil {
			return nil, ""
		}
	}
	keys := map[string]bool{}
	for _, w := range append(of[*kueue.Workload](list), in.late...) {
		key := string(workload.Key(w))
		if keys[key] {
			return nil, ""
		}
		keys[key] = true
	}
	if len(done) == 0 {
		return nil, ""
	}
	in.replace(list)
	return in, strings.Join(done, "; ")
}
