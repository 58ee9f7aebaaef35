package output

import (
	"encoding/json"
	"reflect"
	"strings"
)

// withLists returns a document whose lists are never null (docs/output.md): a nil slice in a
// field that is always printed becomes an empty one. Objects of an API, which are maps of any,
// and values that encode themselves stay as they are.
func withLists(document any) any {
	v := reflect.ValueOf(document)
	switch {
	case !v.IsValid():
		return document
	case v.Kind() == reflect.Slice && v.IsNil() && !encodesItself(v.Type()):
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	case !hasLists(v.Type(), map[reflect.Type]bool{}):
		return document
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	l := lists{map[reflect.Type]bool{}}
	l.fill(out)
	return out.Interface()
}

// lists fills values, and remembers which types have lists.
type lists struct{ known map[reflect.Type]bool }

func (l lists) has(t reflect.Type) bool {
	has, ok := l.known[t]
	if !ok {
		has = hasLists(t, map[reflect.Type]bool{})
		l.known[t] = has
	}
	return has
}

// fill fills a value that can be set.
func (l lists) fill(v reflect.Value) {
	if !l.has(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			l.fill(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && l.has(v.Elem().Type()) {
			v.Set(l.copied(v.Elem()))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			l.fill(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, l.copied(v.MapIndex(key)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !printed(field) {
				continue
			}
			f := v.Field(i)
			if f.Kind() == reflect.Slice && f.IsNil() && !omitted(field) && !encodesItself(f.Type()) && f.CanSet() {
				f.Set(reflect.MakeSlice(f.Type(), 0, 0))
			} else {
				l.fill(f)
			}
		}
	}
}

// copied returns a filled copy of a value that cannot be set.
func (l lists) copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	l.fill(out)
	return out
}

// hasLists reports whether a value of a type can have a field that is a list. seen breaks
// circles.
func hasLists(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || encodesItself(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true // a value decides
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return false // an object of an API
		}
		return hasLists(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); printed(f) && (f.Type.Kind() == reflect.Slice && !omitted(f) && !encodesItself(f.Type) || hasLists(f.Type, seen)) {
				return true
			}
		}
	}
	return false
}

func printed(f reflect.StructField) bool {
	return (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-"
}

func omitted(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// encodesItself reports a type that has an encoding of its own: bytes, raw JSON, times.
func encodesItself(t reflect.Type) bool {
	return t.Implements(marshaler) || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}
