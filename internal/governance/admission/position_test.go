package admission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/priority"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestQueuePosition compares the order that commands show with Kueue's own
// workload.Ordering, on random workloads and each configuration that changes it.
func TestQueuePosition(t *testing.T) {
	for _, timestamp := range []string{"", "Eviction", "Creation"} {
		for _, gate := range []bool{true, false} {
			text := fmt.Sprintf("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {PrioritySortingWithinCohort: %v}\n", gate)
			if timestamp != "" {
				text += "waitForPodsReady: {requeuingStrategy: {timestamp: " + timestamp + "}}\n"
			}
			t.Run(fmt.Sprintf("%s %v", cmp.Or(timestamp, "default"), gate), func(t *testing.T) {
				config, err := ConfigFrom([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if warnings := embedded.SetGates(config.Gates); len(warnings) > 0 {
					t.Fatal(warnings)
				}
				t.Cleanup(func() { embedded.SetGates(nil) })
				rules, err := order.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				r, moved := rand.New(rand.NewPCG(7, 7)), 0
				for range 300 {
					moved += compareOrders(t, r, config, rules)
				}
				if moved == 0 {
					t.Error("no eviction changed an order")
				}
			})
		}
	}
}

// compareOrders sorts random workloads both ways and returns how many are ordered by
// something else than their creation.
func compareOrders(t *testing.T, r *rand.Rand, config Config, rules order.Rules) (moved int) {
	t.Helper()
	ordering := config.ordering()
	var theirs []*kueue.Workload
	var ours []state.Workload
	for i := range 2 + r.IntN(20) {
		w := randomWaiting(r, i)
		theirs = append(theirs, w)
		if !ordering.GetQueueOrderTimestamp(w).Time.Equal(w.CreationTimestamp.Time) {
			moved++
		}
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		x, err := state.DecodeWorkload(data)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, x)
	}
	slices.SortFunc(theirs, func(a, b *kueue.Workload) int {
		return cmp.Or(cmp.Compare(priority.Priority(b), priority.Priority(a)),
			ordering.GetQueueOrderTimestamp(a).Compare(ordering.GetQueueOrderTimestamp(b).Time), cmp.Compare(a.UID, b.UID))
	})
	for i, w := range theirs {
		at := slices.IndexFunc(ours, func(x state.Workload) bool { return x.Name == w.Name })
		if position, of := rules.Position(&ours[at], ours); position != i+1 || of != len(theirs) {
			t.Fatalf("%s: position %d of %d, Kueue has it at %d of %d", w.Name, position, of, i+1, len(theirs))
		}
	}
	return moved
}

// randomWaiting is a workload that waits, with conditions of earlier evictions.
func randomWaiting(r *rand.Rand, i int) *kueue.Workload {
	at := func() metav1.Time { return metav1.NewTime(noon.Add(-time.Duration(r.IntN(6)) * time.Minute)) }
	name := fmt.Sprintf("w%d", i)
	w := &kueue.Workload{TypeMeta: metav1.TypeMeta{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "n", UID: types.UID(fmt.Sprint(r.IntN(100), name)), CreationTimestamp: at()},
		Spec:       kueue.WorkloadSpec{QueueName: "lq", Active: ptr.To(true)}}
	if r.IntN(4) > 0 {
		w.Spec.Priority = ptr.To(int32(r.IntN(3) - 1))
	}
	put := func(kind, reason string) {
		status := metav1.ConditionTrue
		if r.IntN(4) == 0 {
			status = metav1.ConditionFalse
		}
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: at()})
	}
	if r.IntN(2) == 0 {
		put(kueue.WorkloadEvicted, []string{kueue.WorkloadEvictedByPodsReadyTimeout, kueue.WorkloadEvictedByAdmissionCheck,
			kueue.WorkloadEvictedByPreemption, kueue.WorkloadEvictedByClusterQueueStopped, kueue.WorkloadEvictedByLocalQueueStopped}[r.IntN(5)])
	}
	if r.IntN(2) == 0 {
		put(kueue.WorkloadPreempted, []string{kueue.InClusterQueueReason, kueue.InCohortReclamationReason, kueue.InCohortFairSharingReason,
			kueue.InCohortReclaimWhileBorrowingReason}[r.IntN(4)])
	}
	return w
}
