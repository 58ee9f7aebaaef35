package kube

import (
	"errors"
	"maps"
	"reflect"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// errNameless is the error of a list with an object that has no name. Other objects could not refer to it: a queue, for example,
// would seem not to exist.
var errNameless = errors.New("an object without a name")

// identity is what tells the objects of a list apart.
type identity struct{ namespace, name string }

// identifier reads the identity of a list's items of one type.
type identifier struct{ namespace, name []int }

// identifierOf finds where a type has its name; false for one that has none.
func identifierOf(t reflect.Type) (identifier, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	metadata, inner, ok := member(t, "metadata")
	if !ok {
		return identifier{}, false
	}
	name, of, ok := member(inner, "name")
	if !ok || of.Kind() != reflect.String {
		return identifier{}, false
	}
	at := identifier{name: append(metadata[:len(metadata):len(metadata)], name...)}
	if namespace, of, ok := member(inner, "namespace"); ok && of.Kind() == reflect.String {
		at.namespace = append(metadata[:len(metadata):len(metadata)], namespace...)
	}
	return at, true
}

// member finds the field of a struct with a JSON name.
func member(t reflect.Type, name string) ([]int, reflect.Type, bool) {
	if t.Kind() != reflect.Struct {
		return nil, nil, false
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Index, f.Type, true
		}
	}
	return nil, nil, false
}

// of returns the identity of an item.
func (i identifier) of(item reflect.Value) (id identity) {
	for item.Kind() == reflect.Pointer {
		if item.IsNil() {
			return id
		}
		item = item.Elem()
	}
	id.name = item.FieldByIndex(i.name).String()
	if i.namespace != nil {
		id.namespace = item.FieldByIndex(i.namespace).String()
	}
	return id
}

// identityOf returns the identity of an untyped object.
func identityOf(object map[string]any) (id identity) {
	metadata, _ := object["metadata"].(map[string]any)
	id.name, _ = metadata["name"].(string)
	id.namespace, _ = metadata["namespace"].(string)
	return id
}

// seen finds the objects that a list brings twice, as on two pages.
type seen struct {
	r     kinds.Resource
	where identifier
	named bool             // the objects have a name, and where says where
	mixed bool             // the objects have no namespace, and are from several: equal names tell nothing
	at    map[identity]int // places in the list
}

// seenOf returns a seen for the objects of a Go type.
func seenOf(t reflect.Type, r kinds.Resource, namespace string) seen {
	s := seen{r: r, at: map[identity]int{}}
	s.where, s.named = identifierOf(t)
	s.mixed = s.named && s.where.namespace == nil && r.Namespaced && namespace == ""
	return s
}

// place returns where in a list of n objects the object belongs that the pointer points to: in the place of an earlier one with
// its identity, or at n.
func (s *seen) place(object any, n int) (int, error) {
	var id identity
	untyped, ok := object.(*map[string]any)
	switch {
	case ok:
		// Items of lists need not have their kind.
		if item := *untyped; item != nil && item["kind"] == nil {
			item["apiVersion"], item["kind"] = s.r.GroupVersion(), s.r.Kind
		}
		id = identityOf(*untyped)
	case s.named:
		id = s.where.of(reflect.ValueOf(object).Elem())
	default:
		return n, nil
	}
	if id.name == "" {
		return 0, errNameless
	}
	if at, twice := s.at[id]; twice && !s.mixed {
		return at, nil
	}
	s.at[id] = n
	return n, nil
}

// keep forgets all objects but the first n.
func (s *seen) keep(n int) {
	maps.DeleteFunc(s.at, func(_ identity, at int) bool { return at >= n })
}
