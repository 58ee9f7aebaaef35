package podrules

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type checker struct {
	Options
	found []Fault
}

// at is a place in the pod's spec.
type at []any

func (p at) to(steps ...any) at { return append(slices.Clone(p), steps...) }

func (c *checker) add(p at, kind field.ErrorType, value any, detail string, allowed ...string) {
	c.found = append(c.found, Fault{p, kind, value, allowed, detail})
}

func (c *checker) required(p at, detail string) {
	c.add(p, field.ErrorTypeRequired, nil, detail)
}

func (c *checker) invalid(p at, value any, details ...string) {
	for _, d := range details {
		c.add(p, field.ErrorTypeInvalid, value, d)
	}
}

func (c *checker) forbidden(p at, detail string) {
	c.add(p, field.ErrorTypeForbidden, nil, detail)
}

// text returns the text under a key; ok is false if it has placeholders or is a value of another type.
func (c *checker) text(m map[string]any, key string) (s string, ok bool) {
	switch v := m[key].(type) {
	case nil:
		return "", true
	case string:
		return v, !c.Open(v)
	}
	return "", false
}

// named reports an absent text, and one that is not as check wants it.
func (c *checker) named(p at, m map[string]any, key string, check func(string) []string) {
	switch s, ok := c.text(m, key); {
	case !ok:
	case s == "":
		c.required(p.to(key), "")
	case check != nil:
		c.invalid(p.to(key), s, check(s)...)
	}
}

// optional reports a text that is not as check wants it.
func (c *checker) optional(p at, m map[string]any, key string, check func(string) []string) {
	if s, ok := c.text(m, key); ok && s != "" {
		c.invalid(p.to(key), s, check(s)...)
	}
}

// oneOf reports a text that is not one of those allowed.
func (c *checker) oneOf(p at, m map[string]any, key string, allowed ...string) {
	if s, ok := c.text(m, key); ok && m[key] != nil && s != "" && !slices.Contains(allowed, s) {
		c.add(p.to(key), field.ErrorTypeNotSupported, s, "", allowed...)
	}
}

// within reports a number outside of a range, if there is one.
func (c *checker) within(p at, m map[string]any, key string, check func(int) []string) {
	if n, ok := number(m[key]); ok {
		c.invalid(p.to(key), n, check(n)...)
	}
}

func number(v any) (int, bool) {
	switch n := v.(type) {
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), n == float64(int(n))
	}
	return 0, false
}

func inner(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// each calls f for the maps of a list.
func each(v any, f func(int, map[string]any)) {
	list, _ := v.([]any)
	for i, item := range list {
		if m, ok := item.(map[string]any); ok {
			f(i, m)
		}
	}
}

func notNegative(n int) []string {
	if n < 0 {
		return []string{"must be greater than or equal to 0"}
	}
	return nil
}

func atLeastOne(n int) []string {
	if n < 1 {
		return []string{"must be greater than zero"}
	}
	return nil
}

func seconds(n int) []string { return validation.IsInRange(n, 1, 1<<31-1) }
