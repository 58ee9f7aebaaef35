package control

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/limits"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// usage holds amounts by flavor and resource.
type usage map[string]map[string]resource.Quantity

func (u usage) add(flavor, name string, q resource.Quantity) {
	if u[flavor] == nil {
		u[flavor] = map[string]resource.Quantity{}
	}
	have := u[flavor][name]
	have.Add(q)
	u[flavor][name] = have
}

// load holds the counts and resources of a queue's workloads.
type load struct {
	pending, reserving, admitted int64
	reserved, used               usage
}

func newLoad() *load { return &load{reserved: usage{}, used: usage{}} }

// writeQueues updates the status of queues, like Kueue's controllers.
func (s *sim) writeQueues() error {
	byCluster, byLocal, err := s.loads()
	if err != nil {
		return err
	}
	flavors := map[string]bool{}
	for _, f := range s.st.List(kinds.ResourceFlavor.FullName(), "") {
		flavors[f.Name] = true
	}
	active := map[string]bool{}
	queues := map[string]*kueue.ClusterQueue{}
	for _, o := range s.st.List(kinds.ClusterQueue.FullName(), "") {
		cq, err := typed[kueue.ClusterQueue](o)
		if err != nil {
			return err
		}
		queues[o.Name] = cq
		l := byCluster[o.Name]
		if l == nil {
			l = newLoad()
		}
		m := o.Copy()
		active[o.Name] = s.clusterQueueStatus(m, cq, l, flavors)
		if _, err := s.put(kinds.ClusterQueue.FullName(), m); err != nil {
			return err
		}
	}
	for _, o := range s.st.List(kinds.LocalQueue.FullName(), "") {
		l := byLocal[o.Key]
		if l == nil {
			l = newLoad()
		}
		m := o.Copy()
		s.localQueueStatus(m, queues, active, l)
		if _, err := s.put(kinds.LocalQueue.FullName(), m); err != nil {
			return err
		}
	}
	return nil
}

// loads adds up the workloads by ClusterQueue and by LocalQueue.
func (s *sim) loads() (map[string]*load, map[store.Key]*load, error) {
	cluster, local := map[string]*load{}, map[store.Key]*load{}
	for _, o := range s.st.List(kinds.Workload.FullName(), "") {
		if object.True(o.Map(), "Finished") || s.parentOf(o) != nil {
			continue
		}
		lq := store.Key{Namespace: o.Namespace, Name: object.Text(o.Map(), "spec", "queueName")}
		cq := ""
		if q := s.st.Get(kinds.LocalQueue.FullName(), lq.Namespace, lq.Name); q != nil {
			cq = object.Text(q.Map(), "spec", "clusterQueue")
		}
		reserved := object.True(o.Map(), "QuotaReserved")
		if reserved {
			cq = object.Text(o.Map(), "status", "admission", "clusterQueue")
		}
		if cluster[cq] == nil {
			cluster[cq] = newLoad()
		}
		if local[lq] == nil {
			local[lq] = newLoad()
		}
		for _, l := range []*load{cluster[cq], local[lq]} {
			if err := l.count(o, reserved); err != nil {
				return nil, nil, err
			}
		}
	}
	return cluster, local, nil
}

func (l *load) count(o *store.Object, reserved bool) error {
	if !reserved {
		if active, ok := object.At(o.Map(), "spec", "active").(bool); !ok || active {
			l.pending++
		}
		return nil
	}
	l.reserving++
	w, err := typed[kueue.Workload](o)
	if err != nil {
		return err
	}
	admitted := object.True(o.Map(), "Admitted")
	if admitted {
		l.admitted++
	}
	for _, ps := range w.Status.Admission.PodSetAssignments {
		for name, flavor := range ps.Flavors {
			q := ps.ResourceUsage[name]
			l.reserved.add(string(flavor), string(name), q)
			if admitted {
				l.used.add(string(flavor), string(name), q)
			}
		}
	}
	return nil
}

func (s *sim) clusterQueueStatus(m map[string]any, cq *kueue.ClusterQueue, l *load, flavors map[string]bool) bool {
	status := object.Child(m, "status")
	status["pendingWorkloads"], status["reservingWorkloads"], status["admittedWorkloads"] = l.pending, l.reserving, l.admitted
	status["flavorsReservation"], status["flavorsUsage"] = flavorUsage(cq, l.reserved, true), flavorUsage(cq, l.used, true)
	value, reason, message := "True", "Ready", "Can admit new workloads"
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			if !flavors[string(f.Name)] {
				value, reason, message = "False", "FlavorNotFound", "Can't admit new workloads: references missing ResourceFlavor(s): "+string(f.Name)+"."
			}
		}
	}
	if p := cq.Spec.StopPolicy; p != nil && *p != kueue.None {
		value, reason, message = "False", "Stopped", "Can't admit new workloads: is stopped."
	}
	if cq.DeletionTimestamp != nil {
		value, reason, message = "False", "Terminating", "Can't admit new workloads; clusterQueue is terminating"
	}
	s.condition(status, "Active", value, reason, message)
	return value == "True"
}

func (s *sim) localQueueStatus(m map[string]any, queues map[string]*kueue.ClusterQueue, active map[string]bool, l *load) {
	status := object.Child(m, "status")
	status["pendingWorkloads"], status["reservingWorkloads"], status["admittedWorkloads"] = l.pending, l.reserving, l.admitted
	name := object.Text(m, "spec", "clusterQueue")
	value, reason, message := "True", "Ready", "Can submit new workloads to localQueue"
	cq := queues[name]
	stop := object.Text(m, "spec", "stopPolicy")
	switch {
	case stop != "" && stop != string(kueue.None):
		value, reason, message = "False", "Stopped", "LocalQueue is stopped"
	case cq == nil:
		value, reason, message = "False", "ClusterQueueDoesNotExist", "Can't submit new workloads to clusterQueue"
	case !active[name]:
		value, reason, message = "False", "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue"
	}
	if cq != nil {
		status["flavorsReservation"], status["flavorsUsage"] = flavorUsage(cq, l.reserved, false), flavorUsage(cq, l.used, false)
	}
	s.condition(status, "Active", value, reason, message)
}

// flavorUsage returns every flavor and resource of a queue with its total and, for a
// ClusterQueue, the borrowed amount beyond the nominal quota.
func flavorUsage(cq *kueue.ClusterQueue, u usage, borrowed bool) []any {
	out := []any{}
	for _, g := range cq.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			resources := []any{}
			for _, r := range f.Resources {
				total := u[string(f.Name)][string(r.Name)]
				entry := map[string]any{"name": string(r.Name), "total": total.String()}
				if borrowed {
					over := total.DeepCopy()
					over.Sub(r.NominalQuota)
					if over.Sign() < 0 || cq.Spec.CohortName == "" {
						over = resource.Quantity{}
					}
					entry["borrowed"] = over.String()
				}
				resources = append(resources, entry)
			}
			out = append(out, map[string]any{"name": string(f.Name), "resources": resources})
		}
	}
	return out
}

// writeQuotas updates the status of ResourceQuotas.
func (s *sim) writeQuotas() error {
	for _, o := range s.st.List(kinds.ResourceQuota.FullName(), "") {
		q, err := typed[corev1.ResourceQuota](o)
		if err != nil {
			return err
		}
		m, hard, used := o.Copy(), map[string]any{}, map[string]any{}
		for name, have := range limits.Used(s.st, q) {
			limit := q.Spec.Hard[name]
			hard[string(name)], used[string(name)] = limit.String(), have.String()
		}
		m["status"] = map[string]any{"hard": hard, "used": used}
		if _, err := s.put(kinds.ResourceQuota.FullName(), m); err != nil {
			return err
		}
	}
	return nil
}
