package admission

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/metrics"
)

// crowdOf returns a cluster with n teams in a cohort without an object, and n in one with a parent.
func crowdOf(n int) *fixture {
	f := newFixture()
	cohort := func(name, parent string) {
		f.add(&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}})
	}
	cohort("root", "")
	cohort("child", "root")
	f.team("lender", "root", "3")
	for i := range n {
		f.team(fmt.Sprintf("implicit-%04d", i), "pool", "1")
		f.team(fmt.Sprintf("explicit-%04d", i), "child", "1")
	}
	return f
}

func loaded(t *testing.T, loads ...[]client.Object) *Engine {
	t.Helper()
	e, err := New(Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	for _, objs := range loads {
		if err := e.Load(context.Background(), objs...); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// TestACrowdIsDecidedLikeAFew: queues that are loaded together have the quota of queues that are loaded one by one.
func TestACrowdIsDecidedLikeAFew(t *testing.T) {
	f := crowdOf(crowd + 6)
	queues := f.objs
	// All of a cohort's quota and one more; the quota of child and of its parent, and one more.
	f.objs = nil
	f.add(f.job("implicit-0001", "all", crowd+6), f.job("implicit-0002", "one-more", 1),
		f.job("explicit-0001", "own", crowd+6), f.job("explicit-0002", "parent", 3), f.job("explicit-0003", "none", 1))
	run := func(e *Engine) []string {
		trace, err := e.Run(context.Background(), 20)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, ev := range trace.Events {
			out = append(out, fmt.Sprint(ev.Kind, ev.Namespace, ev.Name, ev.Message))
		}
		return out
	}
	together := run(loaded(t, append(queues[:len(queues):len(queues)], f.objs...)))
	apart := run(loaded(t, queues[:6], queues[6:], f.objs)) // a later load adds them one by one
	if diff := cmp.Diff(apart, together); diff != "" {
		t.Error(diff)
	}
	admitted := 0
	for _, line := range together {
		if len(line) > 8 && line[:8] == string(EventAdmitted)[:8] {
			admitted++
		}
	}
	if admitted != 3 {
		t.Errorf("%d admitted: %q", admitted, together)
	}
}

// TestACrowdIsLoadedInProportion: four times as many queues of a cohort allocate about four times as much.
func TestACrowdIsLoadedInProportion(t *testing.T) {
	cost := func(n int) uint64 {
		f := crowdOf(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		loaded(t, f.objs)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	cost(100) // what is made once
	if few, many := cost(250), cost(1000); many > 6*few {
		t.Errorf("500 queues: %d bytes, 2000 queues: %d", few, many)
	}
}

// TestQueuesShareOneGauge: the metrics of Kueue do not grow with the number of ClusterQueues. A search in them takes time but
// allocates nothing, so TestACrowdIsLoadedInProportion does not see it.
func TestQueuesShareOneGauge(t *testing.T) {
	loaded(t, crowdOf(20).objs)
	for name, m := range map[string]*prometheus.GaugeVec{"cluster_queue_info": metrics.ClusterQueueInfo, "cluster_queue_status": metrics.ClusterQueueByStatus,
		"pending_workloads": metrics.PendingWorkloads, "finished_workloads": metrics.FinishedWorkloads,
		"reserving_active_workloads": metrics.ReservingActiveWorkloads, "admitted_active_workloads": metrics.AdmittedActiveWorkloads} {
		entries := make(chan prometheus.Metric)
		go func() {
			m.Collect(entries)
			close(entries)
		}()
		n := 0
		for range entries {
			n++
		}
		if n > 1 {
			t.Errorf("%s: %d gauges of 41 queues", name, n)
		}
	}
}
