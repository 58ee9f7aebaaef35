package control

import (
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// With concurrent admission the scheduler makes variants of a workload, one for each flavor. They are stored like other
// workloads, and go with their workload.

// parentOf returns the workload that a workload is a variant of, nil for any other.
func (s *sim) parentOf(w *store.Object) *store.Object {
	for _, ref := range object.List(w.Map(), "metadata", "ownerReferences") {
		if object.Text(ref, "kind") == kinds.Workload.Kind {
			return s.st.Get(kinds.Workload.FullName(), w.Namespace, object.Text(ref, "name"))
		}
	}
	return nil
}

// dropVariants removes the variants of finished workloads.
func (s *sim) dropVariants() {
	for _, w := range s.st.List(kinds.Workload.FullName(), "") {
		if p := s.parentOf(w); p != nil && object.True(p.Map(), "Finished") {
			s.st.Remove(kinds.Workload.FullName(), w.Namespace, w.Name)
		}
	}
}

// dropVariant removes a variant that the scheduler does not have any more: its flavor is not in the queue. o may be nil.
func (s *sim) dropVariant(e *admission.Engine, o *store.Object) {
	if o == nil {
		return
	}
	if p := s.parentOf(o); p != nil && e.Stored(p.Namespace, p.Name) != nil {
		s.st.Remove(kinds.Workload.FullName(), o.Namespace, o.Name)
		delete(s.loaded, o.Key)
	}
}

// writeVariants stores the variants of a workload as the scheduler has them.
func (s *sim) writeVariants(e *admission.Engine, namespace, name string) error {
	for _, v := range e.Variants(namespace, name) {
		if err := s.writeVariant(v); err != nil {
			return err
		}
	}
	return nil
}

func (s *sim) writeVariant(v *kueue.Workload) error {
	wanted, err := decodeMap(v)
	if err != nil {
		return err
	}
	wanted["apiVersion"], wanted["kind"] = kueue.SchemeGroupVersion.String(), kinds.Workload.Kind
	o := s.st.Get(kinds.Workload.FullName(), v.Namespace, v.Name)
	if o == nil {
		o, err = s.create(kinds.Workload.FullName(), wanted)
	} else {
		m := o.Copy()
		m["spec"], m["status"] = wanted["spec"], wanted["status"]
		o, err = s.put(kinds.Workload.FullName(), m)
	}
	if err != nil {
		return err
	}
	s.loaded[o.Key] = o.RV
	return nil
}
