package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

// The clusters of some cases lack what every cluster has. This file adds it.

// asClusters returns a case as clusters have it. Workloads of the same time are tried by their UIDs: where they have none, there
// are several, one for each order.
func (c *unitCase) asClusters() []*unitCase {
	switch {
	case strings.Contains(c.Name, "localqueue_was_deleted"), strings.Contains(c.Name, "another_LQ_is_deleted"):
		return c.withQueues().withUIDs()
	case strings.Contains(c.Name, "schedules_normally_when_queues_have_equal_usage"):
		return c.withUIDs()
	}
	return []*unitCase{c}
}

// withQueues is a case with the LocalQueues that its scheduler still has, and that no controller has found to be deleted.
func (c *unitCase) withQueues() *unitCase {
	queues := map[string]string{} // ClusterQueues of workloads
	for _, cy := range c.Cycles {
		for _, lists := range []map[string][]string{cy.Active, cy.Inadmissible} {
			for queue, keys := range lists {
				for _, key := range keys {
					queues[key] = queue
				}
			}
		}
		for k, w := range decoded(cy.After) {
			if w.Status.Admission != nil {
				queues[k.String()] = string(w.Status.Admission.ClusterQueue)
			}
		}
	}
	out := *c
	out.Cycles = nil
	for _, cy := range c.Cycles {
		known := map[string]bool{}
		for _, o := range cy.Objects {
			var lq kueue.LocalQueue
			if json.Unmarshal(o, &lq) == nil && lq.Kind == "LocalQueue" {
				known[lq.Namespace+"/"+lq.Name] = true
			}
		}
		more := *cy
		more.Objects = slices.Clone(cy.Objects)
		for k, w := range decoded(cy.Objects) {
			if key := k.Namespace + "/" + string(w.Spec.QueueName); !known[key] && queues[k.String()] != "" {
				known[key] = true
				more.Objects = append(more.Objects, json.RawMessage(asJSON(&kueue.LocalQueue{TypeMeta: metav1.TypeMeta{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "LocalQueue"},
					ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: string(w.Spec.QueueName)},
					Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(queues[k.String()])}})))
			}
		}
		out.Cycles = append(out.Cycles, &more)
	}
	return &out
}

// withUIDs is a case with UIDs for the workloads that have none, once for each order.
func (c *unitCase) withUIDs() (out []*unitCase) {
	var without []client.ObjectKey
	for k, w := range decoded(c.Cycles[0].Objects) {
		if w.UID == "" {
			without = append(without, k)
		}
	}
	slices.SortFunc(without, compareKeys)
	for _, order := range orders(len(without)) {
		one, first := *c, *c.Cycles[0]
		first.Objects = nil
		for _, o := range c.Cycles[0].Objects {
			var w kueue.Workload
			if json.Unmarshal(o, &w) == nil && w.Kind == "Workload" && w.UID == "" {
				w.UID = types.UID(fmt.Sprint("uid-", order[slices.Index(without, client.ObjectKeyFromObject(&w))]))
				if w.CreationTimestamp.IsZero() {
					w.CreationTimestamp = metav1.NewTime(first.Now)
				}
				o = json.RawMessage(asJSON(&w))
			}
			first.Objects = append(first.Objects, o)
		}
		one.Cycles = slices.Concat([]*caseCycle{&first}, c.Cycles[1:])
		out = append(out, &one)
	}
	return out
}

// orders are all orders of the numbers below n.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, o := range orders(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(o), i, n-1))
		}
	}
	return out
}

// queues are the ClusterQueues of a cycle.
func (cy *caseCycle) queues() map[kueue.ClusterQueueReference]*kueue.ClusterQueue {
	out := map[kueue.ClusterQueueReference]*kueue.ClusterQueue{}
	for _, o := range cy.Objects {
		var cq kueue.ClusterQueue
		if json.Unmarshal(o, &cq) == nil && cq.Kind == "ClusterQueue" {
			out[kueue.ClusterQueueReference(cq.Name)] = &cq
		}
	}
	return out
}

// checked is a workload once Kueue's controller has removed the admission checks that its ClusterQueue does not have.
func checked(w *kueue.Workload, queues map[kueue.ClusterQueueReference]*kueue.ClusterQueue) *kueue.Workload {
	if !workload.HasQuotaReservation(w) || len(w.Status.AdmissionChecks) == 0 || queues[w.Status.Admission.ClusterQueue] == nil {
		return w
	}
	want := workload.AdmissionChecksForWorkload(logr.Discard(), w, queues[w.Status.Admission.ClusterQueue])
	c := w.DeepCopy()
	c.Status.AdmissionChecks = slices.DeleteFunc(c.Status.AdmissionChecks, func(s kueue.AdmissionCheckState) bool { return !want.Has(s.Name) })
	if len(c.Status.AdmissionChecks) < len(w.Status.AdmissionChecks) {
		workload.SyncAdmittedCondition(c, metav1.Now().Time)
	}
	return c
}
