package crd

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check returns the values below a path that do not fit the schema, in the words of the
// API server.
func (s *schema) check(p *field.Path, v any) (all field.ErrorList) {
	for _, name := range s.wrongType(v) {
		all = append(all, field.TypeInvalid(p, typeName(v), fmt.Sprintf("%s in body must be of type %s: %q", p, name, typeName(v))))
	}
	if len(all) > 0 {
		if len(s.Enum) > 0 {
			all = append(all, field.NotSupported(p, v, s.Enum))
		}
		if s.IntOrString {
			all = append(all, field.Invalid(nil, "", fmt.Sprintf("%q must validate at least one schema (anyOf)", p)))
		}
		return all
	}
	invalid := func(v any, format string, args ...any) {
		all = append(all, field.Invalid(p, v, fmt.Sprintf("%s in body ", p)+fmt.Sprintf(format, args...)))
	}
	switch v := v.(type) {
	case string:
		switch n := int64(utf8.RuneCountInString(v)); {
		case s.MaxLength != nil && n > *s.MaxLength:
			all = append(all, field.TooLong(p, "", int(*s.MaxLength)))
		case s.MinLength != nil && n < *s.MinLength:
			invalid(v, "should be at least %d chars long", *s.MinLength)
		case s.Pattern != "" && !compiled(s.Pattern).MatchString(v):
			invalid(v, "should match '%s'", s.Pattern)
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			all = append(all, field.NotSupported(p, v, s.Enum))
		}
	case int64:
		if s.Minimum != nil && v < *s.Minimum {
			invalid(v, "should be greater than or equal to %d", *s.Minimum)
		}
	case []any:
		switch n := int64(len(v)); {
		case s.MinItems != nil && n < *s.MinItems:
			invalid(n, "should have at least %d items", *s.MinItems)
		case s.MaxItems != nil && n > *s.MaxItems:
			all = append(all, field.TooMany(p, int(n), int(*s.MaxItems)))
		}
		for i, c := range v {
			if s.Items != nil {
				all = append(all, s.Items.check(p.Index(i), c)...)
			}
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, given := v[name]; !given {
				all = append(all, field.Required(p.Child(name), ""))
			}
		}
		if s.MaxProperties != nil && int64(len(v)) > *s.MaxProperties {
			all = append(all, field.TooMany(p, len(v), int(*s.MaxProperties)))
		}
		for _, name := range sortedKeys(v) {
			switch child := s.Properties[name]; {
			case child != nil:
				all = append(all, child.check(p.Child(name), v[name])...)
			case s.Additional != nil:
				all = append(all, s.Additional.check(p.Child(name), v[name])...)
			}
		}
	}
	return all
}

// wrongType returns the types that a value should have, or nothing if it has one.
func (s *schema) wrongType(v any) []string {
	have := typeName(v)
	switch {
	case s.IntOrString:
		if have != "integer" && have != "string" {
			return []string{"integer,string", "integer"}
		}
	case s.Type != "" && have != s.Type && (s.Type != "number" || have != "integer"):
		return []string{s.Type}
	}
	return nil
}

func typeName(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64, int:
		return "integer"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

// duplicates returns the elements of sets, and of lists with keys, that occur twice.
func (s *schema) duplicates(p *field.Path, v any) (all field.ErrorList) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if child := s.Properties[name]; child != nil {
				all = append(all, child.duplicates(p.Child(name), v[name])...)
			}
		}
	case []any:
		seen := map[string]bool{}
		for i, c := range v {
			id := any(c)
			if s.ListType == "map" {
				keys := map[string]any{}
				for _, k := range s.MapKeys {
					if m, ok := c.(map[string]any); ok {
						keys[k] = m[k]
					}
				}
				id = keys
			}
			if s.ListType == "map" || s.ListType == "set" {
				text := fmt.Sprint(id)
				if seen[text] {
					all = append(all, field.Duplicate(p.Index(i), id))
				}
				seen[text] = true
			}
			if s.Items != nil {
				all = append(all, s.Items.duplicates(p.Index(i), c)...)
			}
		}
	}
	return all
}

var patterns sync.Map // text → *regexp.Regexp

func compiled(pattern string) *regexp.Regexp {
	if r, ok := patterns.Load(pattern); ok {
		return r.(*regexp.Regexp)
	}
	r := regexp.MustCompile(pattern)
	patterns.Store(pattern, r)
	return r
}
