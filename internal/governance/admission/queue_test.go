package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestQueueOrder judges the order that package queue computes by Kueue's own
// queue manager: random priorities, times that are equal, evictions.
func TestQueueOrder(t *testing.T) {
	queues := 300
	if testing.Short() {
		queues = 60
	}
	compared := 0
	for seed := range uint64(queues) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := newFixture().team("a", "", "0")
		s := &state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{{Meta: state.Meta{Name: "a"}}},
			LocalQueues: []state.LocalQueue{{Meta: state.Meta{Name: "queue", Namespace: "a"}, ClusterQueue: "a"}}}
		for i := range 2 + r.IntN(20) {
			w := f.job("a", fmt.Sprint("w", i), 1, prio(int32(r.IntN(3))))
			w.CreationTimestamp = metav1.NewTime(noon.Add(-time.Duration(1+r.IntN(6)) * time.Minute))
			if reasons := []string{"Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped"}; r.IntN(2) == 0 {
				w.Status.Conditions = append(w.Status.Conditions,
					metav1.Condition{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionFalse, Reason: "Pending", LastTransitionTime: metav1.NewTime(noon)},
					metav1.Condition{Type: kueue.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: reasons[r.IntN(4)],
						LastTransitionTime: metav1.NewTime(noon.Add(-time.Duration(r.IntN(300)) * time.Second))})
			}
			f.add(w)
			data, err := json.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			slim, err := state.DecodeWorkload(data)
			if err != nil {
				t.Fatal(err)
			}
			s.Workloads = append(s.Workloads, slim)
		}
		var theirs, ours []string
		e := f.engine(t, Config{})
		quick := names(e.Pending("a"))
		e.flush(context.Background()) // from here on Kueue's queue is asked
		for i, p := range e.Pending("a") {
			theirs = append(theirs, p.Name)
			if d := probe(t, e, e.Workload("a", p.Name)); d.Ahead != i {
				t.Fatalf("seed %d: %d are ahead of %s, Kueue has %v", seed, d.Ahead, p.Name, theirs)
			}
		}
		if strings.Join(quick, " ") != strings.Join(theirs, " ") {
			t.Fatalf("seed %d, without queueing:\n ours %v\nKueue %v", seed, quick, theirs)
		}
		report := quota.Build(s)
		for _, it := range queue.Build(s, report, report.Teams, order.Rules{}, nil) {
			ours = append(ours, it.Workload)
		}
		if strings.Join(ours, " ") != strings.Join(theirs, " ") {
			t.Fatalf("seed %d:\n ours %v\nKueue %v", seed, ours, theirs)
		}
		compared += len(ours)
	}
	if compared < queues*6 {
		t.Errorf("only %d places compared", compared)
	}
}
