// Package slim decodes the items of a Kubernetes list from a stream, and of
// every item only the fields that a Go type has a place for. Most of a list is
// never looked at (managedFields alone is about half of it): passing over the
// rest in one go makes a list several times cheaper than decoding it, and
// nothing larger than one value is ever in memory.
package slim

import (
	"cmp"
	"errors"
	"io"
	"reflect"
	"strings"
)

// Meta is the metadata of a list.
type Meta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"` // where the next page begins; "" at the end
}

// ErrNull is returned for null in place of an object.
var ErrNull = errors.New("null in place of an object")

// ErrNotList is returned for JSON that is not a Kubernetes list.
var ErrNotList = errors.New("not a list of the Kubernetes API")

// List reads a list to the end of r and calls item with every item; the value
// pointed to is used again for the next one (what it points to is not). Fields
// match by their exact json names; a value of another type than the field's
// leaves it zero, so that one odd field does not hide an object. A list that
// breaks off is io.ErrUnexpectedEOF or r's own error: items seen before an error
// are incomplete.
func List[T any](r io.Reader, item func(*T)) (Meta, error) {
	t := new(T)
	return list(r, reflect.ValueOf(t).Elem(), func() { item(t) })
}

// list is List for a value of any type, so that its code exists once.
func list(r io.Reader, v reflect.Value, item func()) (Meta, error) {
	s := newScanner(r)
	var meta Meta
	var kind string
	found := false
	read := compile(v.Type(), nil)
	readMeta := compile(reflect.TypeFor[Meta](), nil)
	c, err := s.peek()
	if err != nil {
		return Meta{}, err
	}
	if c != '{' {
		return Meta{}, ErrNotList
	}
	err = s.members(func(name []byte) error {
		switch string(name) {
		case "items":
			found = true
			if c, err := s.peek(); err != nil || c != '[' && c != 'n' { // null is no items
				return cmp.Or(err, ErrNotList)
			}
			return s.elements(func() error {
				if c, err := s.peek(); err != nil || c == 'n' {
					return cmp.Or(err, ErrNull)
				}
				v.SetZero()
				if err := read(s, v); err != nil {
					return err
				}
				item()
				return nil
			})
		case "metadata":
			return readMeta(s, reflect.ValueOf(&meta).Elem())
		case "kind":
			return readString(s, reflect.ValueOf(&kind).Elem())
		}
		return s.pass()
	})
	if err == nil && !found && !strings.HasSuffix(kind, "List") {
		err = ErrNotList
	}
	if err == nil {
		err = s.drain()
	}
	if err != nil {
		return Meta{}, err
	}
	return meta, nil
}

// elements calls f at every element of a list; f takes it. null has none.
func (s *scanner) elements(f func() error) error {
	ok, err := s.is('[')
	if err != nil || !ok {
		return err
	}
	s.pos++
	for first := true; ; first = false {
		ok, err := s.next(']', first)
		if err != nil || !ok {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
}

// drain reads to the end, so that a checksum behind the text is checked and the
// connection can be used again.
func (s *scanner) drain() error {
	_, err := s.peek()
	switch {
	case err == nil:
		return s.syntax("text after the list")
	case s.readErr == io.EOF:
		return nil
	}
	return err
}
