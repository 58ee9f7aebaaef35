package control

import (
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// holdPolicies holds ClusterQueues, flavors and admission checks by a finalizer, and lets
// a deleted one go once nothing uses it, like Kueue's controllers: a queue without
// reserving workloads, a flavor or check that no queue names.
func (s *sim) holdPolicies() error {
	if err := s.hold(kinds.ClusterQueue, s.reserving()); err != nil {
		return err
	}
	flavors, checks := s.named()
	if err := s.hold(kinds.ResourceFlavor, flavors); err != nil {
		return err
	}
	return s.hold(kinds.AdmissionCheck, checks)
}

func (s *sim) hold(r kinds.Resource, used map[string]bool) error {
	for _, o := range s.st.List(r.FullName(), "") {
		deleted := object.Text(o.Map(), "metadata", "deletionTimestamp") != ""
		held := slices.Contains(object.List(o.Map(), "metadata", "finalizers"), any(kueue.ResourceInUseFinalizerName))
		if held && (!deleted || used[o.Name]) || !held && deleted {
			continue
		}
		m := o.Copy()
		if deleted {
			object.RemoveFinalizer(m, kueue.ResourceInUseFinalizerName)
		} else {
			object.AddFinalizer(m, kueue.ResourceInUseFinalizerName)
		}
		s.engine, s.loaded = nil, nil // it reads the policy once
		if deleted && len(object.List(m, "metadata", "finalizers")) == 0 {
			s.st.Collect(r.FullName(), o)
			continue
		}
		if _, err := s.put(r.FullName(), m); err != nil {
			return err
		}
	}
	return nil
}

// reserving returns the ClusterQueues in which workloads reserve quota.
func (s *sim) reserving() map[string]bool {
	out := map[string]bool{}
	for _, w := range s.st.List(kinds.Workload.FullName(), "") {
		if object.True(w.Map(), "QuotaReserved") && !object.True(w.Map(), "Finished") {
			out[object.Text(w.Map(), "status", "admission", "clusterQueue")] = true
		}
	}
	return out
}

// named returns the flavors and the admission checks that ClusterQueues name.
func (s *sim) named() (flavors, checks map[string]bool) {
	flavors, checks = map[string]bool{}, map[string]bool{}
	for _, q := range s.st.List(kinds.ClusterQueue.FullName(), "") {
		for _, g := range object.List(q.Map(), "spec", "resourceGroups") {
			for _, f := range object.List(g, "flavors") {
				flavors[object.Text(f, "name")] = true
			}
		}
		for _, c := range object.List(q.Map(), "spec", "admissionChecksStrategy", "admissionChecks") {
			checks[object.Text(c, "name")] = true
		}
	}
	return flavors, checks
}
