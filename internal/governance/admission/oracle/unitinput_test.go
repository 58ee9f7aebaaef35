package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/features"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
)

// This file makes inputs of the cases of Kueue's tests, so that Kueue's loop and the engine go on from them.

// input returns the cluster of a case, as an API server has one: without what it would refuse, with times and UIDs.
func (c *unitCase) input(s settings, raw []json.RawMessage, more ...client.Object) *input {
	in := &input{fair: s.Fair, gates: s.Gates, byUse: s.ByUse, undeclared: cmp.Or(s.QuotaCheck, config.QuotaCheckBlockUndeclared),
		transformations: c.Transformations, excluded: c.Excluded, leaving: true, length: 12, start: s.Now.Truncate(time.Second).UTC()}
	if on, set := s.Gates[string(features.AdmissionFairSharing)]; set && !on {
		in.byUse = nil
	}
	var list []client.Object
	for _, o := range raw {
		objs, err := decode.Objects(c.used(s, o))
		must(err)
		list = append(list, objs...)
	}
	list = append(list, more...)
	known, queues := map[string]bool{}, map[string]kueue.ClusterQueueReference{}
	for _, o := range list {
		switch o := o.(type) {
		case *corev1.Namespace:
			known["namespace "+o.Name] = true
		case *kueue.ResourceFlavor:
			known["flavor "+o.Name] = true
		}
	}
	for _, o := range list {
		switch o := o.(type) {
		case *kueue.ClusterQueue:
			putRight(o)
			known["queue "+o.Name] = active(o, known)
		case *kueue.AdmissionCheck:
			in.checks = true
		case *corev1.Node:
			in.nodes = append(in.nodes, o)
			in.tas, in.failing = true, true
		}
	}
	for _, o := range list {
		if lq, ok := o.(*kueue.LocalQueue); ok {
			queues[lq.Namespace+"/"+lq.Name] = lq.Spec.ClusterQueue
		}
	}
	for _, o := range slices.Clone(list) {
		w, ok := o.(*kueue.Workload)
		if !ok || w.Status.Admission == nil {
			continue
		}
		w.Namespace = cmp.Or(w.Namespace, "default")
		if key := w.Namespace + "/" + string(w.Spec.QueueName); queues[key] == "" {
			w.Spec.QueueName = kueue.LocalQueueName("lq-" + string(w.Status.Admission.ClusterQueue))
			key = w.Namespace + "/" + string(w.Spec.QueueName)
			if queues[key] == "" {
				queues[key] = w.Status.Admission.ClusterQueue
				list = append(list, &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: string(w.Spec.QueueName)}, Spec: kueue.LocalQueueSpec{ClusterQueue: queues[key]}})
			}
		}
	}
	for _, o := range slices.Clone(list) {
		w, ok := o.(*kueue.Workload)
		if !ok {
			continue
		}
		w.Namespace = cmp.Or(w.Namespace, "default")
		if !known["namespace "+w.Namespace] {
			known["namespace "+w.Namespace] = true
			list = append(list, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}})
		}
		if w.UID == "" {
			w.UID = types.UID("uid-" + w.Namespace + "-" + w.Name)
		}
		if w.CreationTimestamp.IsZero() { // before all others
			w.CreationTimestamp = metav1.NewTime(in.start.Add(-24 * time.Hour))
		}
	}
	// What waits for a queue that is not there, the controllers know and not the scheduler.
	list = slices.DeleteFunc(list, func(o client.Object) bool {
		w, ok := o.(*kueue.Workload)
		return ok && w.Status.Admission == nil && !known["queue "+string(queues[w.Namespace+"/"+string(w.Spec.QueueName)])]
	})
	list = slices.DeleteFunc(list, func(o client.Object) bool {
		switch o := o.(type) {
		case *kueue.ClusterQueue:
			return !known["queue "+o.Name]
		case *kueue.LocalQueue:
			return !known["queue "+string(o.Spec.ClusterQueue)]
		}
		return false
	})
	slices.SortStableFunc(list, func(a, b client.Object) int { return rankOf(a) - rankOf(b) })
	in.replace(list)
	return in
}

func rankOf(o client.Object) int {
	for i, k := range []client.Object{&corev1.Namespace{}, &corev1.LimitRange{}, &corev1.Node{}, &kueue.Topology{}, &kueue.ResourceFlavor{}, &kueue.AdmissionCheck{},
		&kueue.Cohort{}, &kueue.ClusterQueue{}, &kueue.LocalQueue{}, &corev1.Pod{}, &kueue.Workload{}} {
		if fmt.Sprintf("%T", k) == fmt.Sprintf("%T", o) {
			return i
		}
	}
	return 0
}

// active reports that all flavors of a queue exist.
func active(cq *kueue.ClusterQueue, known map[string]bool) bool {
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			if !known["flavor "+string(f.Name)] {
				return false
			}
		}
	}
	return true
}

// withoutLimits removes the limits of a queue without a cohort. The API server refuses them, and they have no effect.
func withoutLimits(cq *kueue.ClusterQueue) {
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			for i := range f.Resources {
				if cq.Spec.CohortName == "" {
					f.Resources[i].BorrowingLimit, f.Resources[i].LendingLimit = nil, nil
				}
			}
		}
	}
}

// putRight removes what an API server refuses, and sets its defaults.
func putRight(cq *kueue.ClusterQueue) {
	withoutLimits(cq)
	cq.Spec.QueueingStrategy = cmp.Or(cq.Spec.QueueingStrategy, kueue.BestEffortFIFO)
	if cq.Spec.Preemption == nil {
		cq.Spec.Preemption = &kueue.ClusterQueuePreemption{}
	}
	p := cq.Spec.Preemption
	p.ReclaimWithinCohort = cmp.Or(p.ReclaimWithinCohort, kueue.PreemptionPolicyNever)
	p.WithinClusterQueue = cmp.Or(p.WithinClusterQueue, kueue.PreemptionPolicyNever)
	if p.BorrowWithinCohort == nil {
		p.BorrowWithinCohort = &kueue.BorrowWithinCohort{}
	}
	p.BorrowWithinCohort.Policy = cmp.Or(p.BorrowWithinCohort.Policy, kueue.BorrowWithinCohortPolicyNever)
}

// raws are objects as a file has them.
func raws(list []client.Object) []json.RawMessage {
	s := runtime.NewScheme()
	must(corev1.AddToScheme(s))
	must(kueue.AddToScheme(s))
	var out []json.RawMessage
	for _, o := range list {
		gvk, err := apiutil.GVKForObject(o, s)
		must(err)
		o.GetObjectKind().SetGroupVersionKind(gvk)
		out = append(out, json.RawMessage(asJSON(o)))
	}
	return out
}

// anyInput is the input of a case, with the workload that preempts in a case of preemption; nil if there is none.
func (c *unitCase) anyInput() *input {
	switch {
	case c.PodsReady:
		return nil
	case len(c.Cycles) > 0:
		return c.input(c.Cycles[0].settings, c.Cycles[0].Objects)
	case len(c.Direct) > 0:
		d := c.Direct[0]
		w := &kueue.Workload{}
		must(json.Unmarshal(d.Incoming, w))
		w.Spec.QueueName, w.Status = "preempting", kueue.WorkloadStatus{}
		lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(w.Namespace, "default"), Name: "preempting"}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(d.Queue)}}
		return c.input(d.settings, d.covered(), lq, w)
	}
	return nil
}

// covered are the objects of a case in which the queue has no quota of its own, and with that no resources: now it has 0.
func (d *direct) covered() []json.RawMessage {
	out := slices.Clone(d.Objects)
	for i, o := range out {
		var cq kueue.ClusterQueue
		if json.Unmarshal(o, &cq) != nil || cq.Kind != "ClusterQueue" || cq.Name != d.Queue || len(cq.Spec.ResourceGroups) > 1 {
			continue
		}
		if len(cq.Spec.ResourceGroups) == 0 {
			flavor, _, _ := strings.Cut(d.Flavors[0][slices.Min(slices.Collect(maps.Keys(d.Flavors[0])))], " ")
			cq.Spec.ResourceGroups = []kueue.ResourceGroup{{Flavors: []kueue.FlavorQuotas{{Name: kueue.ResourceFlavorReference(flavor)}}}}
		}
		g := &cq.Spec.ResourceGroups[0]
		if len(g.CoveredResources) > 0 || len(g.Flavors) != 1 {
			continue
		}
		for _, res := range slices.Sorted(maps.Keys(d.Flavors[0])) {
			g.CoveredResources = append(g.CoveredResources, corev1.ResourceName(res))
			g.Flavors[0].Resources = append(g.Flavors[0].Resources, kueue.ResourceQuota{Name: corev1.ResourceName(res)})
		}
		out[i] = json.RawMessage(asJSON(cq))
	}
	return out
}

// replace gives the input other objects.
func (in *input) replace(list []client.Object) {
	in.make = func() []client.Object {
		out := make([]client.Object, len(list))
		for i, o := range list {
			out[i] = o.DeepCopyObject().(client.Object)
		}
		return out
	}
}
