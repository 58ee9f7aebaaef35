package api

import (
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// deleteOptions reads DeleteOptions from the body and the query.
func (c *call) deleteOptions() (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	body, err := c.readBody()
	if err != nil {
		return o, err
	}
	if len(body) > 0 {
		if _, err := json.UnmarshalStrict(body, &o); err != nil {
			return o, badRequest("unable to decode DeleteOptions: " + err.Error())
		}
	}
	if p := c.URL.Query().Get("propagationPolicy"); p != "" {
		v := metav1.DeletionPropagation(p)
		o.PropagationPolicy = &v
	}
	for _, v := range o.DryRun {
		if v != metav1.DryRunAll {
			return o, badRequest(`dryRun: Unsupported value: "` + v + `": supported values: "All"`)
		}
		c.dryRun = true
	}
	if p := o.PropagationPolicy; p != nil {
		switch *p {
		case metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan:
		default:
			return o, badRequest(fmt.Sprintf("invalid propagationPolicy %q", *p))
		}
	}
	return o, nil
}

func (s *Server) delete(c *call) error {
	opts, err := c.deleteOptions()
	if err != nil {
		return err
	}
	f, err := c.format()
	if err != nil {
		return err
	}
	var gone, left *store.Object
	warnings, err := s.backend.Update(c.Context(), c.dryRun, func(st *store.Store) error {
		old := st.Get(c.res.FullName(), c.namespace, c.name)
		if old == nil {
			return notFound(c)
		}
		if err := precondition(c, opts, old); err != nil {
			return err
		}
		left, err = s.remove(c.res, st, old, opts)
		gone = old
		return err
	})
	warn(c.w, warnings)
	if err != nil {
		return err
	}
	if left != nil {
		return s.writeObject(c, f, http.StatusOK, left)
	}
	writeJSON(c.w, http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: gone.Name, Group: c.res.Group, Kind: c.res.Plural, UID: apiUID(gone.UID)},
	})
	return nil
}

func precondition(c *call, opts metav1.DeleteOptions, old *store.Object) error {
	p := opts.Preconditions
	if p == nil {
		return nil
	}
	if p.UID != nil && string(*p.UID) != old.UID {
		return apierrors.NewConflict(c.res.groupResource(), c.name,
			fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", *p.UID, old.UID))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != rvOf(old) {
		return apierrors.NewConflict(c.res.groupResource(), c.name,
			fmt.Errorf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", *p.ResourceVersion, rvOf(old)))
	}
	return nil
}

var protected = []string{"default", "kube-system", "kube-public"}

// remove deletes an object and the objects that it owns. An object with finalizers gets
// a deletion timestamp and stays; remove then returns it.
func (s *Server) remove(r *resource, st *store.Store, old *store.Object, opts metav1.DeleteOptions) (*store.Object, error) {
	if r.Kind == "Namespace" && slices.Contains(protected, old.Name) {
		return nil, apierrors.NewForbidden(r.groupResource(), old.Name, fmt.Errorf("this namespace may not be deleted"))
	}
	if len(object.List(old.Map(), "metadata", "finalizers")) > 0 {
		if object.Text(old.Map(), "metadata", "deletionTimestamp") != "" {
			return old, nil
		}
		m := old.Copy()
		meta := object.Child(m, "metadata")
		meta["deletionTimestamp"] = object.Stamp(s.backend.Now())
		meta["deletionGracePeriodSeconds"] = int64(0)
		return st.Put(r.FullName(), m)
	}
	if p := opts.PropagationPolicy; p != nil && *p == metav1.DeletePropagationOrphan {
		if err := orphan(st, old.UID); err != nil {
			return nil, err
		}
	}
	st.Collect(r.FullName(), old)
	return nil, nil
}

// orphan removes an owner from the objects that it owns.
func orphan(st *store.Store, uid string) error {
	for _, r := range st.Resources() {
		for _, d := range st.List(r, "") {
			if !d.OwnedBy(uid) {
				continue
			}
			m := d.Copy()
			refs := slices.DeleteFunc(object.List(m, "metadata", "ownerReferences"), func(v any) bool { return object.Text(v, "uid") == uid })
			meta := object.Child(m, "metadata")
			if meta["ownerReferences"] = refs; len(refs) == 0 {
				delete(meta, "ownerReferences")
			}
			if _, err := st.Put(r, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Server) deleteCollection(c *call) error {
	if c.res.Namespaced && c.namespace == "" {
		return notAllowed(c)
	}
	opts, err := c.deleteOptions()
	if err != nil {
		return err
	}
	f, err := c.format()
	if err != nil {
		return err
	}
	sel, err := selectorOf(c, c.URL.Query())
	if err != nil {
		return err
	}
	var p page
	warnings, err := s.backend.Update(c.Context(), c.dryRun, func(st *store.Store) error {
		if p, err = readPage(st, c, sel, nil); err != nil {
			return err
		}
		for _, o := range p.objects {
			if st.Get(c.res.FullName(), o.Namespace, o.Name) == nil {
				continue // deleted with its owner
			}
			if _, err := s.remove(c.res, st, o, opts); err != nil {
				return err
			}
		}
		return nil
	})
	warn(c.w, warnings)
	if err != nil {
		return err
	}
	return s.writeList(c, f, p)
}
