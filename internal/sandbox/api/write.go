package api

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/limits"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// save runs a change in the backend and answers with the object it results in.
func (s *Server) save(c *call, code int, change func(*store.Store) (*store.Object, error)) error {
	f, err := c.format()
	if err != nil {
		return err
	}
	var result *store.Object
	warnings, err := s.backend.Update(c.Context(), c.dryRun, func(st *store.Store) error {
		var err error
		result, err = change(st)
		return err
	})
	warn(c.w, warnings)
	if err != nil {
		return err
	}
	return s.writeObject(c, f, code, result)
}

// warn adds warnings to the answer, as RFC 7234 and client-go have them.
func warn(w http.ResponseWriter, warnings []string) {
	if w == nil {
		return // not a request: Insert
	}
	for _, text := range warnings {
		w.Header().Add("Warning", `299 - `+strconv.Quote(strings.ReplaceAll(text, "\n", "; ")))
	}
}

func (s *Server) create(c *call) error {
	m, err := c.object()
	if err != nil {
		return err
	}
	if err := c.identify(m); err != nil {
		return err
	}
	if c.res.Namespaced && c.namespace == "" {
		return badRequest("an empty namespace may not be set during creation")
	}
	warnings, err := s.checkTypes(c, m)
	if err != nil {
		return err
	}
	warn(c.w, warnings)
	return s.save(c, http.StatusCreated, func(st *store.Store) (*store.Object, error) { return s.insert(c, st, m) })
}

// insert stores a new object. It generates its name, sets the fields that the API server
// sets, and validates it.
func (s *Server) insert(c *call, st *store.Store, m map[string]any) (*store.Object, error) {
	meta := object.Child(m, "metadata")
	name, _ := meta["name"].(string)
	if prefix, _ := meta["generateName"].(string); name == "" && prefix != "" {
		name = st.GenerateName(c.res.FullName(), c.namespace, prefix)
		meta["name"] = name
	}
	if c.res.Namespaced && st.Get("namespaces", "", c.namespace) == nil {
		return nil, apierrors.NewNotFound(s.find("", "v1", "namespaces").groupResource(), c.namespace)
	}
	prune(m)
	if s.dropsStatus(c.res) {
		delete(m, "status")
	}
	if c.res.generation {
		meta["generation"] = int64(1)
	}
	meta["uid"] = uuid.NewString()
	meta["creationTimestamp"] = object.Stamp(s.backend.Now())
	delete(meta, "resourceVersion")
	delete(meta, "deletionTimestamp")
	delete(meta, "selfLink")
	meta["managedFields"] = []any{map[string]any{"manager": manager(c), "operation": "Update", "apiVersion": c.res.GroupVersion(),
		"time": meta["creationTimestamp"], "fieldsType": "FieldsV1", "fieldsV1": map[string]any{}}}
	setDefaults(c.res, m)
	if err := mutate(st, c.res, m); err != nil {
		return nil, err
	}
	if err := validate(c.res, m, true); err != nil {
		return nil, err
	}
	if err := checkPolicy(c.Context(), st, c.res, nil, m); err != nil {
		return nil, err
	}
	if why, err := limits.Check(st, c.res.Resource, m); err != nil {
		return nil, err
	} else if why != "" {
		return nil, apierrors.NewForbidden(c.res.groupResource(), name, errors.New(why))
	}
	if st.Get(c.res.FullName(), c.namespace, name) != nil {
		return nil, apierrors.NewAlreadyExists(c.res.groupResource(), name)
	}
	warn(c.w, ungoverned(st, c.res, m))
	return st.Put(c.res.FullName(), m)
}

// manager returns the creator of an object: the request's fieldManager, else the first
// part of its user agent, like the API server. The sandbox records only the creator, not
// the owners of single fields.
func manager(c *call) string {
	if m := c.URL.Query().Get("fieldManager"); m != "" {
		return m
	}
	agent, _, _ := strings.Cut(c.UserAgent(), "/")
	return agent
}

// dropsStatus reports whether the status of a new object is ignored, because it is a
// subresource. Nodes are an exception: a sandbox has no kubelets to report capacity.
func (s *Server) dropsStatus(r *resource) bool { return r.status && r.Kind != "Node" }

func (s *Server) update(c *call) error {
	m, err := c.object()
	if err != nil {
		return err
	}
	if err := c.identify(m); err != nil {
		return err
	}
	if name := object.Text(m, "metadata", "name"); name != c.name {
		return badRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, c.name))
	}
	warnings, err := s.checkTypes(c, m)
	if err != nil {
		return err
	}
	warn(c.w, warnings)
	return s.save(c, http.StatusOK, func(st *store.Store) (*store.Object, error) {
		old := st.Get(c.res.FullName(), c.namespace, c.name)
		if old == nil {
			return nil, notFound(c)
		}
		return s.replace(c, st, old, m)
	})
}

// content returns what the generation of an object counts changes of: all but the metadata and the status.
func content(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for _, k := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(out, k)
	}
	return out
}

// replace stores a new version of an object. It keeps the fields that clients cannot
// change, and does not write an unchanged object.
func (s *Server) replace(c *call, st *store.Store, old *store.Object, m map[string]any) (*store.Object, error) {
	meta, before := object.Child(m, "metadata"), object.Child(old.Copy(), "metadata")
	if rv, _ := meta["resourceVersion"].(string); rv != "" && rv != rvOf(old) {
		return nil, apierrors.NewConflict(c.res.groupResource(), c.name,
			fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if uid, _ := meta["uid"].(string); uid != "" && uid != old.UID {
		return nil, apierrors.NewConflict(c.res.groupResource(), c.name,
			fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", uid, old.UID))
	}
	for _, k := range []string{"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion", "generateName"} {
		keep(meta, before, k)
	}
	switch {
	case c.sub == "status":
		// Only the status changes.
		next := old.Copy()
		keep(next, m, "status")
		m = next
	case c.res.status && !(c.res.Kind == "Node"):
		keep(m, old.Copy(), "status")
	}
	prune(m)
	setDefaults(c.res, m)
	if err := validate(c.res, m, c.sub == "" && !reflect.DeepEqual(content(m), content(old.Map()))); err != nil {
		return nil, err
	}
	if err := immutable(c.res, old.Map(), m); err != nil {
		return nil, err
	}
	if c.sub == "" {
		if err := checkPolicy(c.Context(), st, c.res, old, m); err != nil {
			return nil, err
		}
	}
	if c.res.generation && c.sub == "" && !reflect.DeepEqual(content(m), content(old.Map())) {
		n, _ := object.Int(old.Map(), "metadata", "generation")
		object.Child(m, "metadata")["generation"] = n + 1
	}
	raw, err := store.Encode(m)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(raw, old.Raw) {
		return old, nil
	}
	if object.Text(m, "metadata", "deletionTimestamp") != "" && len(object.List(m, "metadata", "finalizers")) == 0 {
		return st.Collect(c.res.FullName(), old), nil
	}
	if c.res.FullName() == kinds.WorkloadPriorityClass.FullName() {
		if err := revalue(st, old, m); err != nil {
			return nil, err
		}
	}
	return st.Put(c.res.FullName(), m)
}

// keep copies key from one map to another, or deletes it.
func keep(m, from map[string]any, key string) {
	if v, ok := from[key]; ok {
		m[key] = v
	} else {
		delete(m, key)
	}
}

// prune removes nulls in the metadata and an empty status, which clients send for empty
// times and maps.
func prune(m map[string]any) {
	meta := object.Child(m, "metadata")
	for k, v := range meta {
		if v == nil {
			delete(meta, k)
		}
	}
	if m["status"] == nil {
		delete(m, "status")
	}
}

// Insert stores an object without a request, for scenarios and controllers. The same
// defaults and checks apply. An object that exists is merged with m.
func (s *Server) Insert(st *store.Store, m map[string]any) (*store.Object, error) {
	gv, err := schema.ParseGroupVersion(object.Text(m, "apiVersion"))
	if err != nil {
		return nil, err
	}
	for _, r := range s.resources {
		if r.Group == gv.Group && r.Version == gv.Version && r.Kind == object.Text(m, "kind") && !r.virtual {
			if old := st.Get(r.FullName(), object.Text(m, "metadata", "namespace"), object.Text(m, "metadata", "name")); old != nil {
				next := old.Copy()
				merge(next, m)
				return st.Put(r.FullName(), next)
			}
			status := m["status"]
			c := &call{res: r, namespace: object.Text(m, "metadata", "namespace"), Request: &http.Request{URL: &url.URL{}}}
			if _, err := s.checkTypes(c, m); err != nil {
				return nil, err
			}
			o, err := s.insert(c, st, m)
			if err != nil || status == nil || !s.dropsStatus(r) {
				return o, err
			}
			next := o.Copy()
			next["status"] = status
			return st.Put(r.FullName(), next)
		}
	}
	return nil, fmt.Errorf("the sandbox does not serve %s %s", object.Text(m, "apiVersion"), object.Text(m, "kind"))
}

// merge adds the members of from to the maps of into. Lists and other values replace.
func merge(into, from map[string]any) {
	for k, v := range from {
		old, isMap := into[k].(map[string]any)
		if more, both := v.(map[string]any); isMap && both {
			merge(old, more)
			continue
		}
		into[k] = v
	}
}
