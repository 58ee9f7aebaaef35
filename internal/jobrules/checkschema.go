package jobrules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// schema checks a value and what is below it. Values of a wrong type are not checked, as the Go types of the kinds find them.
func (c *checker) schema(s *schema, p at, v any) {
	if s = s.full(); s == nil {
		return
	}
	switch v := v.(type) {
	case string:
		if c.Open(v) {
			return
		}
		c.textFits(s, p, v)
	case int64, int, float64:
		c.numberFits(s, p, v)
	case []any:
		c.listFits(s, p, v)
	case map[string]any:
		c.mapFits(s, p, v)
	}
	for _, r := range s.Rules {
		if judge := rules[r.Rule]; judge != nil && v != nil && !judge(c, v) {
			if len(p) == 0 { // the rules about whole objects are about their names
				p = at{"metadata", "name"}
			}
			c.Invalid(p, plain(v), r.Message)
		}
	}
}

func (c *checker) textFits(s *schema, p at, v string) {
	n := utf8.RuneCountInString(v)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, v):
		c.Add(p, field.ErrorTypeNotSupported, v, "", s.Enum...)
	case s.Not != "" && v == s.Not:
		c.Invalid(p, v, "this name is reserved")
	case s.MaxLength != nil && n > *s.MaxLength:
		c.Invalid(p, v, fmt.Sprintf("must have at most %d characters", *s.MaxLength))
	case s.MinLength != nil && n < *s.MinLength:
		c.Invalid(p, v, fmt.Sprintf("must have at least %d characters", *s.MinLength))
	case s.Pattern != "" && !matches(s.Pattern, v):
		c.Invalid(p, v, "must match "+s.Pattern)
	}
}

// matches compiles a pattern for each value: the few values with a pattern are checked once in a run.
func matches(pattern, v string) bool {
	r, err := regexp.Compile(pattern)
	return err != nil || r.MatchString(v)
}

func (c *checker) numberFits(s *schema, p at, v any) {
	n, whole := faults.Number(v)
	switch {
	case !whole:
	case s.Minimum != nil && n < *s.Minimum:
		c.Invalid(p, n, fmt.Sprintf("must be greater than or equal to %d", *s.Minimum))
	case s.Maximum != nil && n > *s.Maximum:
		c.Invalid(p, n, fmt.Sprintf("must be less than or equal to %d", *s.Maximum))
	}
}

func (c *checker) listFits(s *schema, p at, v []any) {
	switch {
	case s.MaxItems != nil && len(v) > *s.MaxItems:
		c.Invalid(p, len(v), fmt.Sprintf("must have at most %d items", *s.MaxItems))
	case s.MinItems != nil && len(v) < *s.MinItems:
		c.Invalid(p, len(v), fmt.Sprintf("must have at least %d items", *s.MinItems))
	}
	c.differ(s, p, v)
	for i, item := range v {
		c.schema(s.Items, p.To(i), item)
	}
}

// differ reports items of a list with the keys of an earlier one.
func (c *checker) differ(s *schema, p at, v []any) {
	if len(s.Keys) == 0 && !s.Set {
		return
	}
	seen := map[string]bool{}
	for i, item := range v {
		id, path := c.identity(s, p.To(i), item)
		if id == "" {
			continue
		}
		if seen[id] {
			c.Add(path, field.ErrorTypeDuplicate, id, "")
		}
		seen[id] = true
	}
}

// identity returns what an item of a list is known by, "" if that is not known, and where it is.
func (c *checker) identity(s *schema, p at, item any) (id string, path at) {
	if s.Set {
		id = fmt.Sprint(item)
		if text, ok := item.(string); ok && c.Open(text) {
			return "", p
		}
		return id, p
	}
	m, _ := item.(map[string]any)
	var parts []string
	for _, key := range s.Keys {
		v := m[key]
		if items := s.Items.full(); v == nil && items != nil && items.Properties[key] != nil {
			v = items.Properties[key].full().Default
		}
		text, isText := v.(string)
		if v == nil || isText && c.Open(text) {
			return "", p
		}
		parts = append(parts, fmt.Sprint(v))
	}
	if len(s.Keys) == 1 {
		p = p.To(s.Keys[0])
	}
	return strings.Join(parts, "/"), p
}

func (c *checker) mapFits(s *schema, p at, v map[string]any) {
	for _, name := range s.Required {
		if v[name] == nil {
			c.Required(p.To(name), "")
		}
	}
	if s.MaxProperties != nil && len(v) > *s.MaxProperties {
		c.Invalid(p, len(v), fmt.Sprintf("must have at most %d entries", *s.MaxProperties))
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch child := s.Properties[name]; {
		case child != nil:
			c.schema(child, p.To(name), v[name])
		case s.Additional != nil:
			c.schema(s.Additional, p.To(name), v[name])
		}
	}
}

// plain returns a value as a message shows it: objects and lists are left out.
func plain(v any) any {
	switch v.(type) {
	case map[string]any, []any:
		return nil
	}
	return v
}
