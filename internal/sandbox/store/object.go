// Package store keeps the sandbox's API objects in memory: by kind and key,
// with resource versions and a history of changes for watches. It knows nothing
// of HTTP, files or controllers.
package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Key names an object within its kind.
type Key = types.NamespacedName

// Compare orders keys by namespace, then name.
func Compare(a, b Key) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Object is one stored object. It never changes: a change makes a new Object.
type Object struct {
	Key
	UID    string
	RV     int64
	Labels map[string]string
	// Owners are the UIDs of the object's owners.
	Owners []string
	// Raw is the object as JSON.
	Raw json.RawMessage

	decode  sync.Once
	decoded map[string]any

	typing sync.Mutex
	typed  any
}

// Typed returns what decode makes of the object, which it calls once. The value is shared; callers must not change it.
func (o *Object) Typed(decode func(json.RawMessage) (any, error)) (any, error) {
	o.typing.Lock()
	defer o.typing.Unlock()
	if o.typed != nil {
		return o.typed, nil
	}
	v, err := decode(o.Raw)
	if err == nil {
		o.typed = v
	}
	return v, err
}

// Map returns the decoded object. It is shared; callers must not change it.
func (o *Object) Map() map[string]any {
	o.decode.Do(func() {
		if o.decoded != nil {
			return
		}
		var m map[string]any
		if err := kjson.Unmarshal(o.Raw, &m); err != nil {
			m = map[string]any{} // unreachable: Raw was decoded or encoded before
		}
		o.decoded = m
	})
	return o.decoded
}

// Copy returns a decoded copy that the caller can change.
func (o *Object) Copy() map[string]any { return CopyMap(o.Map()) }

// CopyMap returns a deep copy of a decoded JSON object. Unlike runtime.DeepCopyJSON it
// takes the numbers of Go code too.
func CopyMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = copyValue(v)
	}
	return out
}

func copyValue(v any) any {
	switch c := v.(type) {
	case map[string]any:
		return CopyMap(c)
	case []any:
		out := make([]any, len(c))
		for i := range c {
			out[i] = copyValue(c[i])
		}
		return out
	}
	return v
}

// Equal reports whether decoded JSON values are equal, much faster than reflect.DeepEqual. Numbers of different types differ.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && (x == nil) == (y == nil) && slices.EqualFunc(x, y, Equal)
	case string, int64, float64, bool, nil:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// partial is the part of an object's metadata that the store needs.
type partial struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	UID             string            `json:"uid"`
	ResourceVersion string            `json:"resourceVersion"`
	Labels          map[string]string `json:"labels"`
	OwnerReferences []struct {
		UID string `json:"uid"`
	} `json:"ownerReferences"`
}

// parse returns the Object of stored JSON. It reads only the metadata.
func parse(raw json.RawMessage) (*Object, error) {
	var m partial
	if text := member(raw, "metadata"); text != nil {
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, err
		}
	}
	rv, err := strconv.ParseInt(m.ResourceVersion, 10, 64)
	if err != nil || m.Name == "" || m.UID == "" {
		return nil, fmt.Errorf("an object without name, uid or resourceVersion (name %q)", m.Name)
	}
	o := &Object{Key: Key{Namespace: m.Namespace, Name: m.Name}, UID: m.UID, RV: rv, Labels: m.Labels, Raw: raw}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, r.UID)
	}
	return o, nil
}

// fromMap returns the Object of a decoded object, which it owns afterwards.
func fromMap(m map[string]any) (*Object, error) {
	raw, err := Encode(m)
	if err != nil {
		return nil, err
	}
	meta, _ := m["metadata"].(map[string]any)
	o := &Object{Raw: raw, decoded: m}
	o.Namespace, _ = meta["namespace"].(string)
	o.Name, _ = meta["name"].(string)
	o.UID, _ = meta["uid"].(string)
	if s, ok := meta["resourceVersion"].(string); ok {
		o.RV, _ = strconv.ParseInt(s, 10, 64)
	}
	if labels, ok := meta["labels"].(map[string]any); ok {
		o.Labels = make(map[string]string, len(labels))
		for k, v := range labels {
			o.Labels[k], _ = v.(string)
		}
	}
	if owners, ok := meta["ownerReferences"].([]any); ok {
		for _, r := range owners {
			if ref, ok := r.(map[string]any); ok {
				uid, _ := ref["uid"].(string)
				o.Owners = append(o.Owners, uid)
			}
		}
	}
	return o, nil
}

// OwnedBy reports whether uid is one of the object's owners.
func (o *Object) OwnedBy(uid string) bool { return slices.Contains(o.Owners, uid) }

// Encode returns v as one line of JSON with sorted keys, without HTML escaping.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
