package control

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// admission returns Kueue's scheduler with all objects except the workloads.
func (s *sim) admission(ctx context.Context) (*admission.Engine, error) {
	if s.engine != nil {
		return s.engine, nil
	}
	rules := s.rules()
	s.podsFirst = rules.BlockAdmission
	e, err := admission.New(rules)
	if err != nil {
		return nil, err
	}
	e.DelayRequeues()
	var objects []client.Object
	for _, load := range []func() ([]client.Object, error){
		loader[corev1.Namespace](s, kinds.Namespace), loader[corev1.LimitRange](s, kinds.LimitRange), loader[corev1.Node](s, kinds.Node),
		loader[nodev1.RuntimeClass](s, kinds.RuntimeClass), loader[resourcev1.DeviceClass](s, kinds.DeviceClass),
		loader[resourcev1.ResourceClaimTemplate](s, kinds.ResourceClaimTemplate), loader[resourcev1.ResourceSlice](s, kinds.ResourceSlice),
		loader[schedulingv1.PriorityClass](s, kinds.PriorityClass), loader[kueue.WorkloadPriorityClass](s, kinds.WorkloadPriorityClass),
		loader[kueue.Topology](s, kinds.Topology), loader[kueue.ResourceFlavor](s, kinds.ResourceFlavor),
		loader[kueue.AdmissionCheck](s, kinds.AdmissionCheck), loader[kueue.Cohort](s, kinds.Cohort),
		loader[kueue.ClusterQueue](s, kinds.ClusterQueue), loader[kueue.LocalQueue](s, kinds.LocalQueue),
	} {
		list, err := load()
		if err != nil {
			return nil, err
		}
		objects = append(objects, list...)
	}
	if err := e.Load(ctx, objects...); err != nil {
		s.warnf("the scheduler ignores objects that it cannot use: %s", notetext.Invalid(err))
	}
	s.engine, s.loaded = e, map[store.Key]int64{}
	return e, nil
}

// rules returns the configuration in the ConfigMap of Kueue's manager. Without one,
// fair sharing is on, like in the task governance add-on.
func (s *sim) rules() admission.Config {
	cfg := admission.Config{FairSharing: true}
	for _, o := range s.st.List(kinds.ConfigMap.FullName(), "kueue-system") {
		config, err := typed[corev1.ConfigMap](o)
		if err != nil || config.Name != "kueue-manager-config" {
			continue
		}
		given, err := admission.ConfigFrom([]byte(config.Data["controller_manager_config.yaml"]))
		if err != nil {
			s.warnf("ignoring the scheduler's configuration: %v", err)
			continue
		}
		cfg = given
	}
	cfg.Now = func() time.Time { return s.now }
	return cfg
}

// pointer is a pointer to an API type.
type pointer[T any] interface {
	*T
	client.Object
}

func loader[T any, P pointer[T]](s *sim, r kinds.Resource) func() ([]client.Object, error) {
	return func() ([]client.Object, error) {
		var out []client.Object
		for _, o := range s.st.List(r.FullName(), "") {
			v, err := typed[T, P](o)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", r.Kind, o.Name, err)
			}
			out = append(out, v)
		}
		return out, nil
	}
}

func typedWorkload(o *store.Object) (*kueue.Workload, error) {
	if o == nil {
		return nil, nil
	}
	return typed[kueue.Workload](o)
}

// schedule gives the scheduler all changes of workloads, runs it until it settles, and
// writes its decisions.
func (s *sim) schedule(ctx context.Context) error {
	e, err := s.admission(ctx)
	if err != nil {
		return err
	}
	if err := s.loadWorkloads(ctx, e); err != nil {
		return err
	}
	line, err := e.Run(ctx, s.cfg.MaxCycles)
	if err != nil {
		return err
	}
	evicted := s.record(line)
	for _, key := range slices.SortedFunc(maps.Keys(s.loaded), store.Compare) {
		w := e.Workload(key.Namespace, key.Name)
		o := s.st.Get(kinds.Workload.FullName(), key.Namespace, key.Name)
		if w == nil || o == nil {
			s.dropVariant(e, o)
			continue
		}
		if why, ok := evicted[key]; ok && object.True(o.Map(), "Admitted") {
			// It may be admitted again already. Its job has to start over anyway.
			if err := s.stopFor(ctx, o, why); err != nil {
				return err
			}
		}
		if s.parentOf(o) != nil {
			continue // with its parent
		}
		if err := s.writeWorkload(o, w); err != nil {
			return err
		}
		if err := s.writeVariants(e, key.Namespace, key.Name); err != nil {
			return err
		}
	}
	return nil
}

// loadWorkloads replaces the engine's workloads with those in the store.
func (s *sim) loadWorkloads(ctx context.Context, e *admission.Engine) error {
	s.dropVariants()
	there := map[store.Key]bool{}
	var changed []client.Object
	for _, o := range s.st.List(kinds.Workload.FullName(), "") {
		if object.True(o.Map(), "Finished") {
			continue
		}
		there[o.Key] = true
		if rv, ok := s.loaded[o.Key]; ok && rv == o.RV {
			continue
		}
		w, err := typedWorkload(o)
		if err != nil {
			return fmt.Errorf("Workload %s/%s: %w", o.Namespace, o.Name, err)
		}
		s.loaded[o.Key] = o.RV
		changed = append(changed, w)
	}
	gone := slices.SortedFunc(maps.Keys(s.loaded), store.Compare)
	gone = slices.DeleteFunc(gone, func(key store.Key) bool { return there[key] })
	for _, variants := range []bool{false, true} { // a workload goes with its variants
		for _, key := range gone {
			w := e.Stored(key.Namespace, key.Name)
			if w == nil || admission.IsVariant(w) != variants {
				continue
			}
			if err := e.Remove(ctx, key.Namespace, key.Name); err != nil {
				return err
			}
		}
	}
	for _, key := range gone {
		delete(s.loaded, key)
	}
	if err := e.Load(ctx, changed...); err != nil {
		s.warnf("the scheduler ignores objects that it cannot use: %s", notetext.Invalid(err))
	}
	return nil
}

// stopFor stops the job, or the pods of the group, of a workload that was evicted.
func (s *sim) stopFor(ctx context.Context, w *store.Object, why string) error {
	for _, j := range s.jobs() {
		if w.OwnedBy(j.o.UID) && !finished(j) {
			if _, err := s.stop(ctx, j, w, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWorkload stores the status from the scheduler. It keeps PodsReady, which the
// scheduler does not own.
func (s *sim) writeWorkload(o *store.Object, w *kueue.Workload) error {
	status, err := decodeMap(w.Status)
	if err != nil {
		return err
	}
	m := o.Copy()
	if ready := object.Condition(m, podsReady); ready != nil {
		conditions := []any{}
		for _, c := range object.List(status, "conditions") {
			if object.Text(c, "type") != podsReady {
				conditions = append(conditions, c)
			}
		}
		status["conditions"] = append(conditions, ready)
	}
	if m["status"] = status; len(status) == 0 {
		delete(m, "status")
	}
	next, err := s.put(kinds.Workload.FullName(), m)
	if err != nil {
		return err
	}
	s.loaded[o.Key] = next.RV
	return nil
}

// record writes the scheduler's actions as events. It returns the preempted workloads
// with the reason.
func (s *sim) record(line admission.Timeline) map[store.Key]string {
	evicted := map[store.Key]string{}
	times := map[store.Key]int{}
	for i, ev := range line.Events {
		key := store.Key{Namespace: ev.Namespace, Name: ev.Name}
		o := s.st.Get(kinds.Workload.FullName(), key.Namespace, key.Name)
		if o == nil {
			continue
		}
		if ev.Kind == admission.EventPreempted || ev.Kind == admission.EventEvicted {
			evicted[key] = ev.Message
			times[key]++
		}
		if !line.Settled && i > unsettledEvents {
			continue
		}
		s.recordOne(o, ev)
	}
	if !line.Settled {
		s.recordUnsettled(line, times)
	}
	return evicted
}

// unsettledEvents is how many entries of an endless timeline become events.
const unsettledEvents = 20

func (s *sim) recordOne(o *store.Object, ev admission.Event) {
	switch ev.Kind {
	case admission.EventAdmitted, admission.EventQuotaReserved:
		s.event(o, "Normal", "QuotaReserved", fmt.Sprintf("Quota reserved in ClusterQueue %s, wait time since queued was %.0fs",
			ev.ClusterQueue, s.now.Sub(queuedAt(o)).Seconds()))
		if ev.Kind == admission.EventAdmitted {
			s.event(o, "Normal", "Admitted", fmt.Sprintf("Admitted by ClusterQueue %s, wait time since reservation was 0s", ev.ClusterQueue))
		}
	case admission.EventEvicted:
		s.event(o, "Normal", "EvictedDueTo"+ev.Reason, ev.Message)
	case admission.EventPreempted:
		s.event(o, "Normal", "Preempted", ev.Message)
		s.event(o, "Normal", "EvictedDueToPreempted", ev.Message)
	case admission.EventPending, admission.EventSkipped, admission.EventPreempting:
		s.event(o, "Warning", "Pending", ev.Message)
	}
}

// queuedAt returns when a workload was last queued.
func queuedAt(o *store.Object) time.Time {
	if t, ok := object.Time(object.Condition(o.Map(), "Requeued"), "lastTransitionTime"); ok {
		return t
	}
	t, _ := object.Time(o.Map(), "metadata", "creationTimestamp")
	return t
}

// recordUnsettled reports a policy that admits and preempts without end. The state
// after the last cycle stays.
func (s *sim) recordUnsettled(line admission.Timeline, preempted map[store.Key]int) {
	var most store.Key
	for key, n := range preempted {
		if n > preempted[most] || n == preempted[most] && store.Compare(key, most) < 0 {
			most = key
		}
	}
	message := fmt.Sprintf("the policy never converges: after %d scheduling cycles Kueue still admits and preempts workloads", line.Cycles)
	if o := s.st.Get(kinds.Workload.FullName(), most.Namespace, most.Name); o != nil {
		s.event(o, "Warning", "DoesNotSettle", message)
	}
	s.warnf("%s; the sandbox stops here", message)
}
