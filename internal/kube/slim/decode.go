package slim

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

// A reader fills one Go value from the stream. It takes exactly one JSON value;
// one of another type than the Go value leaves it as it is.
type reader func(s *scanner, v reflect.Value) error

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	stringMap       = reflect.TypeFor[map[string]string]()
)

// compile returns the reader of a type, which follows encoding/json: the same
// tags and embedding, and types that decode themselves do so. Names match
// exactly, as the API means them. What is not handled here, types that contain
// themselves among it, is left to sigs.k8s.io/json.
func compile(t reflect.Type, inside []reflect.Type) reader {
	if t == rawMessage {
		return readRaw
	}
	if p := reflect.PointerTo(t); t.Kind() != reflect.Pointer && p.Implements(unmarshaler) {
		return readUnmarshaler
	} else if t.Kind() != reflect.Pointer && p.Implements(textUnmarshaler) {
		return readAny
	}
	for _, outer := range inside {
		if outer == t {
			return readAny
		}
	}
	inside = append(inside, t)
	switch t.Kind() {
	case reflect.Pointer:
		return pointer(t, compile(t.Elem(), inside))
	case reflect.Struct:
		return object(t, inside)
	case reflect.Slice:
		return slice(compile(t.Elem(), inside))
	case reflect.Map:
		if t == stringMap {
			return readStringMap
		}
		if t.Key().Kind() == reflect.String {
			return dictionary(t, compile(t.Elem(), inside))
		}
	case reflect.String:
		return readString
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return readInt
	}
	return readAny
}

// is passes over a value that does not begin with want, which is how a value of
// another type, null among them, leaves what is there.
func (s *scanner) is(want byte) (bool, error) {
	c, err := s.peek()
	if err != nil || c == want {
		return err == nil, err
	}
	return false, s.pass()
}

func readString(s *scanner, v reflect.Value) error {
	ok, err := s.is('"')
	if err != nil || !ok {
		return err
	}
	text, err := s.text()
	v.SetString(text)
	return err
}

func readBool(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	switch string(raw) {
	case "true":
		v.SetBool(true)
	case "false":
		v.SetBool(false)
	}
	return err
}

func readInt(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	if n, bad := strconv.ParseInt(string(raw), 10, v.Type().Bits()); bad == nil {
		v.SetInt(n)
	}
	return err
}

func readRaw(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	if err == nil && !json.Valid(raw) {
		err = s.syntax("expected a value")
	}
	v.SetBytes(append([]byte(nil), raw...))
	return err
}

func readUnmarshaler(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	return s.valid(raw, v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw))
}

func readAny(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	return s.valid(raw, kjson.UnmarshalCaseSensitivePreserveInts(raw, v.Addr().Interface()))
}

// valid turns the error of a type that decodes itself into one about the text,
// if it is: a value that does not suit the type is left.
func (s *scanner) valid(raw []byte, err error) error {
	if err != nil && !json.Valid(raw) {
		return s.syntax("expected a value")
	}
	return nil
}

func pointer(t reflect.Type, elem reader) reader {
	return func(s *scanner, v reflect.Value) error {
		c, err := s.peek()
		if err != nil || c == 'n' {
			if err == nil {
				err = s.pass()
			}
			return err
		}
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		return elem(s, v.Elem())
	}
}

func slice(elem reader) reader {
	return func(s *scanner, v reflect.Value) error {
		ok, err := s.is('[')
		if err != nil || !ok {
			return err
		}
		s.pos++
		v.SetLen(0)
		for n := 0; ; n++ {
			ok, err := s.next(']', n == 0)
			if err != nil {
				return err
			}
			if !ok {
				if n == 0 && v.IsNil() {
					v.Set(reflect.MakeSlice(v.Type(), 0, 0))
				}
				return nil
			}
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
			e := v.Index(n)
			e.SetZero()
			if err := elem(s, e); err != nil {
				return err
			}
		}
	}
}

func readStringMap(s *scanner, v reflect.Value) error {
	ok, err := s.is('{')
	if err != nil || !ok {
		return err
	}
	m := *v.Addr().Interface().(*map[string]string)
	if m == nil {
		m = map[string]string{}
		v.Set(reflect.ValueOf(m))
	}
	return s.members(func(name []byte) error {
		key, text := s.intern(name), ""
		ok, err := s.is('"')
		if ok {
			text, err = s.text()
		}
		m[key] = text
		return err
	})
}

func dictionary(t reflect.Type, elem reader) reader {
	return func(s *scanner, v reflect.Value) error {
		ok, err := s.is('{')
		if err != nil || !ok {
			return err
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(t))
		}
		return s.members(func(name []byte) error {
			key := reflect.ValueOf(s.intern(name)).Convert(t.Key())
			e := reflect.New(t.Elem()).Elem()
			err := elem(s, e)
			v.SetMapIndex(key, e)
			return err
		})
	}
}

// member is one field of a struct.
type member struct {
	index []int
	read  reader
}

func object(t reflect.Type, inside []reflect.Type) reader {
	members := map[string]member{}
	collect(members, t, nil, inside)
	return func(s *scanner, v reflect.Value) error {
		ok, err := s.is('{')
		if err != nil || !ok {
			return err
		}
		return s.members(func(name []byte) error {
			m, ok := members[string(name)]
			if !ok {
				return s.pass()
			}
			if len(m.index) == 1 {
				return m.read(s, v.Field(m.index[0]))
			}
			return m.read(s, v.FieldByIndex(m.index))
		})
	}
}

// collect adds the fields of a struct and then those of its embedded structs,
// which give way.
func collect(into map[string]member, t reflect.Type, at []int, inside []reflect.Type) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			embedded = append(embedded, f)
			continue
		}
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, ok := into[name]; !ok {
			into[name] = member{append(append([]int(nil), at...), i), compile(f.Type, inside)}
		}
	}
	for _, f := range embedded {
		collect(into, f.Type, append(append([]int(nil), at...), f.Index...), inside)
	}
}
