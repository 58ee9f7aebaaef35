package control

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// Pods of a group have one Workload with the name of the group. All of them own it, none
// controls it. Source: pkg/controller/jobs/pod/pod_controller.go of Kueue v0.19.

// Annotations of the group's pods.
const (
	groupServes  = "kueue.x-k8s.io/pod-group-serving"
	groupRetries = "kueue.x-k8s.io/retriable-in-group"
)

// podGroup is a group with its pods at the present moment.
type podGroup struct {
	kinds.PodGroup
	members []job
}

// grouped returns the group of a pod that is a job.
func (j job) grouped() (kinds.PodGroup, bool) {
	if !j.kind.Itself {
		return kinds.PodGroup{}, false
	}
	return kinds.PodGroupOf(j.o.Map())
}

func (j job) annotation(name string) string {
	return object.Text(j.o.Map(), "metadata", "annotations", name)
}

// eachGroup calls f once for each group with a queue, and alone for every other job.
func (s *sim) eachGroup(alone func(job) error, f func(podGroup) error) error {
	seen := map[store.Key]bool{}
	for _, j := range s.jobs() {
		g, ok := j.grouped()
		key := store.Key{Namespace: j.o.Namespace, Name: g.Name}
		var err error
		switch {
		case !ok:
			err = alone(j)
		case j.queued() && !seen[key]:
			seen[key] = true
			err = f(s.group(j, g))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group returns a pod's group. The pods that Kueue would keep come first: those that run,
// then the older ones.
func (s *sim) group(j job, g kinds.PodGroup) podGroup {
	out := podGroup{PodGroup: g}
	for _, o := range s.st.List(kinds.Pod.FullName(), j.o.Namespace) {
		m := s.job(j.kind, o)
		if of, ok := m.grouped(); ok && of.Name == g.Name && acts(m) {
			out.members = append(out.members, m)
		}
	}
	gated := func(j job) int {
		if j.held {
			return 1
		}
		return 0
	}
	slices.SortFunc(out.members, func(a, b job) int {
		made := func(j job) string { return object.Text(j.o.Map(), "metadata", "creationTimestamp") }
		return cmp.Or(cmp.Compare(gated(a), gated(b)), cmp.Compare(made(a), made(b)), cmp.Compare(a.o.Name, b.o.Name))
	})
	return out
}

// active returns the pods that have not failed.
func (g podGroup) active() []job {
	return slices.DeleteFunc(slices.Clone(g.members), func(j job) bool { return outcome(j) == "Failed" })
}

func (g podGroup) count(result string) (n int) {
	for _, j := range g.members {
		if outcome(j) == result {
			n++
		}
	}
	return n
}

// done reports whether all pods have succeeded. A failed pod can be replaced, unless one of
// the group says that none is.
func (g podGroup) done() bool {
	final := slices.ContainsFunc(g.members, func(j job) bool { return j.annotation(groupRetries) == "false" })
	return g.count("Succeeded") >= g.Pods || final && !slices.ContainsFunc(g.members, func(j job) bool { return !finished(j) })
}

// mismatch returns why Kueue makes no Workload of the group. short: pods are still missing.
func (g podGroup) mismatch() (why string, short bool) {
	var pods []map[string]any
	for _, j := range g.active() {
		pods = append(pods, j.o.Map())
	}
	fault := g.Fault(pods)
	if fault.Missing > 0 {
		return fmt.Sprintf("'%s' group has fewer runnable pods than expected", g.Name), true
	}
	if fault.Mismatch != nil {
		why = fault.Mismatch.Kueue()
	}
	return why, false
}

// prepareGroup creates the Workload of a complete group and keeps it up to date.
func (s *sim) prepareGroup(ctx context.Context, g podGroup) error {
	if g.done() {
		return nil
	}
	w := s.workloadOf(g.members[0])
	if w == nil {
		return s.newGroup(ctx, g)
	}
	room := map[string]int64{}
	for _, ps := range object.List(w.Map(), "spec", "podSets") {
		room[object.Text(ps, "name")], _ = object.Int(ps, "count")
	}
	kept, alike := podGroup{PodGroup: g.PodGroup}, false
	for _, j := range g.members {
		role, err := integration.RoleOf(j.o.Raw)
		if err != nil {
			return err
		}
		n, known := room[role]
		if alike = alike || known; !known || outcome(j) == "Failed" {
			continue // Kueue never starts a pod of an unknown role
		}
		if room[role]--; n <= 0 {
			s.dropExcess(j)
		} else {
			kept.members = append(kept.members, j)
		}
	}
	if !alike { // the group is no longer what the Workload says
		s.st.Remove(kinds.Workload.FullName(), w.Namespace, w.Name)
	}
	if len(kept.members) == 0 {
		return nil
	}
	next := w.Copy()
	own(next, kept.members)
	w, err := s.put(kinds.Workload.FullName(), next)
	if err != nil {
		return err
	}
	return s.followJob(ctx, kept.members[0], w)
}

// newGroup creates the Workload of a group that has all its pods.
func (s *sim) newGroup(ctx context.Context, g podGroup) error {
	first := g.members[0]
	stopped := false
	for _, j := range g.members {
		if !finished(j) && !j.held {
			if _, err := s.stop(ctx, j, nil, "missing workload"); err != nil {
				return err
			}
			stopped = true
		}
	}
	if stopped {
		return nil
	}
	if s.st.Get(kinds.Workload.FullName(), first.o.Namespace, g.Name) != nil {
		s.event(first.o, "Warning", "WorkloadNameConflict",
			fmt.Sprintf("A Workload named %q already exists but is not a pod group workload; this pod group cannot be admitted", g.Name))
		return nil
	}
	why, short := g.mismatch()
	var wanted map[string]any
	if why == "" {
		for _, j := range g.active()[min(g.Pods, len(g.active())):] {
			s.dropExcess(j)
		}
		var err error
		if wanted, err = s.workloadFor(ctx, g.active()[0]); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		if s.event(first.o, "Warning", "ErrWorkloadCompose", why) && !short {
			s.warnf("pod group %s/%s stays suspended: %s", first.o.Namespace, g.Name, why)
		}
		return nil
	}
	w, err := s.create(kinds.Workload.FullName(), wanted)
	if err != nil {
		return err
	}
	s.event(first.o, "Normal", "CreatedWorkload", fmt.Sprintf("Created Workload: %s/%s", w.Namespace, w.Name))
	return nil
}

// dropExcess deletes a pod that the group has no place for.
func (s *sim) dropExcess(j job) {
	s.event(j.o, "Normal", "ExcessPodDeleted", "Excess pod deleted")
	s.st.Collect(kinds.Pod.FullName(), j.o)
}

// groupWorkload returns the Workload that Kueue would create for a group.
func (s *sim) groupWorkload(ctx context.Context, g podGroup, lookup integration.Lookup) (map[string]any, error) {
	active := g.active()
	raws := make([][]byte, len(active))
	for i, j := range active {
		raws[i] = j.o.Raw
	}
	w, err := integration.WorkloadFor(ctx, raws[0], lookup)
	if err == nil {
		w, err = integration.PodGroup(ctx, w, g.PodGroup, raws, lookup)
	}
	if err != nil {
		return nil, err
	}
	m, err := bare(w)
	if err == nil {
		own(m, active)
	}
	return m, err
}

// own makes pods owners of the Workload of their group.
func own(w map[string]any, members []job) {
	refs := slices.Clone(object.List(w, "metadata", "ownerReferences"))
	for _, j := range members {
		if !slices.ContainsFunc(refs, func(r any) bool { return object.Text(r, "uid") == j.o.UID }) {
			ref := ownerRef(j.m())
			delete(ref, "controller")
			delete(ref, "blockOwnerDeletion")
			refs = append(refs, ref)
		}
	}
	object.Set(w, refs, "metadata", "ownerReferences")
}

// groupStatus updates the Workload of a group from its pods: finished, ready, and the quota
// that pods which succeeded give back.
func (s *sim) groupStatus(g podGroup) error {
	w := s.workloadOf(g.members[0])
	if w == nil {
		return nil
	}
	succeeded := g.count("Succeeded")
	if g.done() {
		return s.finishWorkload(g.members[0], "Succeeded", fmt.Sprintf("Pods succeeded: %d/%d.", succeeded, g.Pods))
	}
	t := tally{all: roleCount{wanted: int64(g.Pods)}}
	for _, j := range g.members {
		if object.Text(j.m(), "status", "phase") == "Running" {
			t.all.running++
		}
	}
	if err := s.podsReadyStatus(w, t); err != nil || succeeded == 0 || g.members[0].annotation(groupServes) == "true" {
		return err
	}
	var free []any
	for _, j := range g.members {
		if outcome(j) != "Succeeded" {
			continue
		}
		role, err := integration.RoleOf(j.o.Raw)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(free, func(v any) bool { return object.Text(v, "name") == role })
		if at < 0 {
			free, at = append(free, map[string]any{"name": role, "count": int64(0)}), len(free)
		}
		n, _ := object.Int(free[at], "count")
		object.Map(free[at])["count"] = n + 1
	}
	m := s.workloadOf(g.members[0]).Copy()
	if reflect.DeepEqual(object.List(m, "status", "reclaimablePods"), free) {
		return nil
	}
	object.Set(m, free, "status", "reclaimablePods")
	_, err := s.put(kinds.Workload.FullName(), m)
	return err
}
