package control

import (
	"bytes"
	"encoding/json"

	"github.com/google/uuid"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// create stores a new object with the fields that the API server sets.
func (s *sim) create(resource string, m map[string]any) (*store.Object, error) {
	meta := object.Child(m, "metadata")
	meta["uid"] = uuid.NewString()
	meta["creationTimestamp"] = object.Stamp(s.now)
	if m["spec"] != nil {
		meta["generation"] = int64(1)
	}
	return s.st.Put(resource, m)
}

// put stores a changed object and increments its generation if the spec changed. It
// does not write an unchanged object.
func (s *sim) put(resource string, m map[string]any) (*store.Object, error) {
	old := s.st.Get(resource, object.Text(m, "metadata", "namespace"), object.Text(m, "metadata", "name"))
	if old != nil {
		if store.Equal(old.Map(), m) {
			return old, nil
		}
		if !store.Equal(old.Map()["spec"], m["spec"]) {
			n, _ := object.Int(old.Map(), "metadata", "generation")
			object.Set(m, n+1, "metadata", "generation")
		}
		// Numbers of Go's other types are equal as JSON.
		if raw, err := store.Encode(m); err == nil && bytes.Equal(raw, old.Raw) {
			return old, nil
		}
	}
	return s.st.Put(resource, m)
}

// decodeMap converts JSON or a typed value to a decoded object.
func decodeMap(v any) (map[string]any, error) {
	raw, ok := v.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	m := map[string]any{}
	return m, kjson.Unmarshal(raw, &m)
}

// typed returns a stored object as its Go type. The caller can change it.
func typed[T any, P pointer[T]](o *store.Object) (P, error) {
	v, err := o.Typed(func(raw json.RawMessage) (any, error) {
		v := P(new(T))
		return v, kjson.Unmarshal(raw, v)
	})
	if err != nil {
		return nil, err
	}
	return v.(P).DeepCopyObject().(P), nil
}

// ownerRef returns a controller reference to an object.
func ownerRef(o map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": object.Text(o, "apiVersion"), "kind": object.Text(o, "kind"),
		"name": object.Text(o, "metadata", "name"), "uid": object.Text(o, "metadata", "uid"),
		"controller": true, "blockOwnerDeletion": true,
	}
}
