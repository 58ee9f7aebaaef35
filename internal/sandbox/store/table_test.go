package store

import (
	"fmt"
	"slices"
	"testing"
)

// TestTableOrder: lists are sorted by key whatever the order of the writes, and a clone is apart from its original.
func TestTableOrder(t *testing.T) {
	s := New()
	put := func(namespace, name string) {
		if _, err := s.Put("pods", map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name, "uid": namespace + name}}); err != nil {
			t.Fatal(err)
		}
	}
	names := func(s *Store, namespace string) (out []string) {
		for _, o := range s.List("pods", namespace) {
			out = append(out, o.Namespace+"/"+o.Name)
		}
		return out
	}
	for _, n := range []int{3, 1, 4, 1, 5, 2} {
		put("b", fmt.Sprint(n))
		put("a", fmt.Sprint(n))
	}
	put("ab", "1")
	c := s.Clone()
	c.Remove("pods", "a", "3")
	c.List("pods", "")[0] = nil
	if got := names(s, ""); !slices.Equal(got, []string{"a/1", "a/2", "a/3", "a/4", "a/5", "ab/1", "b/1", "b/2", "b/3", "b/4", "b/5"}) {
		t.Error(got)
	}
	if got := names(c, "a"); !slices.Equal(got, []string{"a/1", "a/2", "a/4", "a/5"}) {
		t.Error(got)
	}
	if got := names(s, "aa"); got != nil {
		t.Error(got)
	}
}

// TestEqual: values are equal as decoded JSON.
func TestEqual(t *testing.T) {
	of := func(v any) any {
		return map[string]any{"a": []any{v, "x", true, nil, 1.5, int64(2)}, "b": map[string]any{"c": v}}
	}
	if !Equal(of(int64(1)), of(int64(1))) || Equal(of(int64(1)), of(int64(2))) || Equal(of(int64(1)), of("1")) || Equal(of(nil), map[string]any{"a": nil}) {
		t.Error("equal")
	}
	if Equal(map[string]any{"a": nil}, map[string]any{"b": nil}) || Equal([]any{}, []any{"x"}) || !Equal([]string{"x"}, []string{"x"}) {
		t.Error("equal")
	}
}
