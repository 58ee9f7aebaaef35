package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/metrics"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// Kueue keeps a gauge of each of these metrics for each ClusterQueue, and searches cluster_queue_info for each one that changes.
// Nobody reads them here: each metric has one gauge for all queues. With 20,000 queues that saves 60 MB.
func init() {
	metrics.ClusterQueueInfo = single("cluster_queue_info", "cluster_queue", "parent_cohort", "root_cohort", "replica_role")
	metrics.ClusterQueueByStatus = single("cluster_queue_status", "cluster_queue", "status", "replica_role")
	metrics.PendingWorkloads = single("pending_workloads", "cluster_queue", "status", "replica_role")
	metrics.FinishedWorkloads = single("finished_workloads", "cluster_queue", "replica_role")
	metrics.ReservingActiveWorkloads = single("reserving_active_workloads", "cluster_queue", "replica_role")
	metrics.AdmittedActiveWorkloads = single("admitted_active_workloads", "cluster_queue", "replica_role")
}

// single returns a metric with the labels of InitMetricVectors in Kueue that has one gauge for all values.
func single(name string, labels ...string) *prometheus.GaugeVec {
	one := func(string) string { return "" }
	var variable prometheus.ConstrainedLabels
	for _, label := range labels {
		variable = append(variable, prometheus.ConstrainedLabel{Name: label, Constraint: one})
	}
	return prometheus.V2.NewGaugeVec(prometheus.GaugeVecOpts{GaugeOpts: prometheus.GaugeOpts{Name: name}, VariableLabels: variable})
}

// crowd is the number of new ClusterQueues of a cohort from which loadQueues adds them together.
const crowd = 64

// crowded returns the cohorts to which a first load adds many ClusterQueues.
func (e *Engine) crowded(objs []client.Object) map[string]bool {
	if len(e.cqs)+len(e.store.lqs)+len(e.store.workloads) > 0 {
		return nil
	}
	sizes, out := map[string]int{}, map[string]bool{}
	for _, o := range objs {
		if q, ok := o.(*kueue.ClusterQueue); ok && q.Spec.CohortName != "" {
			name := string(q.Spec.CohortName)
			if sizes[name]++; sizes[name] >= crowd {
				out[name] = true
			}
		}
	}
	return out
}

// gather prepares Kueue's cache for many new ClusterQueues of some cohorts. The cache adds up the whole cohort again for each
// queue that joins it, which takes a time that grows with the square of their number. It does not for a cohort that is its own
// parent (updateCohortTreeResources in Kueue's resource_node.go). join ends this state.
func (e *Engine) gather(cohorts map[string]bool) error {
	for _, name := range sortedKeys(cohorts) {
		loop := &kueue.Cohort{}
		loop.Name, loop.Spec.ParentName = name, kueue.CohortReference(name)
		if err := e.cache.AddOrUpdateCohort(loop); !errors.Is(err, schdcache.ErrCohortHasCycle) {
			return fmt.Errorf("Cohort %s: %w", name, errors.Join(err, errors.New("Kueue accepted a cycle")))
		}
		e.gathering[name] = true
	}
	return nil
}

// join adds up the cohorts of gather, and completes their ClusterQueues. settleCohorts applies the Cohort objects afterwards.
func (e *Engine) join(ctx context.Context) error {
	if len(e.gathering) == 0 {
		return nil
	}
	var errs []error
	cohorts := e.gathering
	e.gathering = map[string]bool{}
	for _, name := range sortedKeys(cohorts) {
		alone := &kueue.Cohort{}
		alone.Name = name
		if err := e.cache.AddOrUpdateCohort(alone); err != nil {
			errs = append(errs, fmt.Errorf("Cohort %s: %w", name, err))
		}
	}
	for _, name := range sortedKeys(e.store.cqs) {
		if q := e.store.cqs[name]; cohorts[string(q.Spec.CohortName)] && e.cqs[name] {
			if err := embedded.Guard("ClusterQueue "+name, func() error { return e.cache.UpdateClusterQueue(e.log, q) }); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for _, name := range sortedKeys(cohorts) {
		if e.store.cohorts[name] == nil {
			e.cache.DeleteCohort(kueue.CohortReference(name)) // it has no object, and its queues stay
		} else {
			e.stale[name] = true
		}
	}
	return errors.Join(errs...)
}
