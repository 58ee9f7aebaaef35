package kube

import (
	"errors"
	"reflect"
	"strings"
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
