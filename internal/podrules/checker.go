package podrules

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// checker collects the faults of a pod, or of an object that makes pods.
type checker struct {
	faults.List
	options Options
}

func newChecker(o Options) *checker {
	return &checker{List: faults.NewList(o.Open), options: o}
}

// at is a place in the pod's spec.
type at = faults.Path

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
		c.Required(p.To(key), "")
	case check != nil:
		c.Invalid(p.To(key), s, check(s)...)
	}
}

// optional reports a text that is not as check wants it.
func (c *checker) optional(p at, m map[string]any, key string, check func(string) []string) {
	if s, ok := c.text(m, key); ok && s != "" {
		c.Invalid(p.To(key), s, check(s)...)
	}
}

// within reports a number outside of a range, if there is one.
func (c *checker) within(p at, m map[string]any, key string, check func(int) []string) {
	if n, ok := faults.Number(m[key]); ok {
		c.Invalid(p.To(key), n, check(int(n))...)
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
