package structural

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// Code says what is wrong with a value.
type Code int

// Codes of faults, with the fields of the schema that they are about.
const (
	WrongType      Code = iota + 1
	Missing             // a required field is absent
	NotSupported        // the text is not in Enum
	TooLong             // MaxLength
	TooShort            // MinLength
	NoMatch             // Pattern
	Below               // Minimum
	Above               // Maximum
	TooMany             // MaxItems
	TooFew              // MinItems
	TooManyEntries      // MaxProperties
	Duplicate           // an item of a list equals an earlier one
	Broken              // Rule
)

// Fault is a value that a schema refuses.
type Fault struct {
	Path faults.Path
	Code Code
	// Value is what was found; of a Duplicate in a list with keys, a map of these.
	Value any
	// Schema refuses the value.
	Schema *Schema
	// Rule is the one that is broken, and Lacks the field that it reads and that the value does not have.
	Rule  Rule
	Lacks string
}

// Values returns the values that do not fit the schema. What is below a value of a wrong type is not checked.
func (s *Schema) Values(v any) []Fault {
	var w walk
	w.values(s, nil, v)
	return w.found
}

// Duplicates returns the items of sets, and of lists with keys, that equal an earlier one.
func (s *Schema) Duplicates(v any) []Fault {
	var w walk
	w.duplicates(s, nil, v)
	return w.found
}

// Broken returns the rules that a value breaks. old is the value before a change, nil for a new one; rules about changes need
// it. A rule without a judge is not checked.
func (s *Schema) Broken(judges Judges, v, old any) []Fault {
	w := walk{judges: judges}
	w.rules(s, nil, v, old)
	return w.found
}

type walk struct {
	judges Judges
	found  []Fault
}

func (w *walk) values(s *Schema, p faults.Path, v any) {
	if s == nil {
		return
	}
	if len(s.Types(v)) > 0 {
		w.add(s, p, WrongType, v)
		return
	}
	switch v := v.(type) {
	case string:
		w.text(s, p, v)
	case []any:
		switch n := int64(len(v)); {
		case s.MaxItems != nil && n > *s.MaxItems:
			w.add(s, p, TooMany, len(v))
		case s.MinItems != nil && n < *s.MinItems:
			w.add(s, p, TooFew, len(v))
		}
	case map[string]any:
		for _, name := range s.Required { // null stands for an absent value where its type is not known
			if value, given := v[name]; !given || value == nil && !s.Properties[name].typed() {
				w.add(s, p.To(name), Missing, nil)
			}
		}
		if s.MaxProperties != nil && int64(len(v)) > *s.MaxProperties {
			w.add(s, p, TooManyEntries, len(v))
		}
	default:
		n, whole := faults.Number(v)
		switch {
		case !whole:
		case s.Minimum != nil && n < *s.Minimum:
			w.add(s, p, Below, n)
		case s.Maximum != nil && n > *s.Maximum:
			w.add(s, p, Above, n)
		}
	}
	s.below(v, func(child *Schema, step, item any) { w.values(child, p.To(step), item) })
}

func (w *walk) text(s *Schema, p faults.Path, v string) {
	switch n := int64(utf8.RuneCountInString(v)); {
	case s.MaxLength != nil && n > *s.MaxLength:
		w.add(s, p, TooLong, v)
	case s.MinLength != nil && n < *s.MinLength:
		w.add(s, p, TooShort, v)
	case !s.matches(v):
		w.add(s, p, NoMatch, v)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		w.add(s, p, NotSupported, v)
	}
}

func (w *walk) duplicates(s *Schema, p faults.Path, v any) {
	if items, _ := v.([]any); s.ListType == "map" || s.ListType == "set" {
		seen := map[string]bool{}
		for i, item := range items {
			id := s.identity(item)
			text := fmt.Sprint(id)
			if seen[text] {
				w.add(s, p.To(i), Duplicate, id)
			}
			seen[text] = true
		}
	}
	s.below(v, func(child *Schema, step, item any) { w.duplicates(child, p.To(step), item) })
}

// identity returns what an item of a list is known by. An absent key has its default, if there is one.
func (s *Schema) identity(item any) any {
	if s.ListType == "set" {
		return item
	}
	keys := map[string]any{}
	if m, ok := item.(map[string]any); ok {
		for _, k := range s.MapKeys {
			keys[k] = m[k]
			if m[k] == nil && s.Items != nil && s.Items.Properties[k] != nil {
				keys[k] = s.Items.Properties[k].Default
			}
		}
	}
	return keys
}

func (w *walk) rules(s *Schema, p faults.Path, v, old any) {
	for _, r := range s.Rules {
		judge := w.judges[r.Rule]
		if judge == nil || v == nil || strings.Contains(r.Rule, "oldSelf") && old == nil {
			continue
		}
		if kept, lacks := judge(v, old); !kept || lacks != "" {
			w.found = append(w.found, Fault{Path: p, Code: Broken, Value: v, Schema: s, Rule: r, Lacks: lacks})
		}
	}
	before, _ := old.(map[string]any)
	s.below(v, func(child *Schema, step, item any) {
		name, _ := step.(string) // items of lists have no counterpart
		w.rules(child, p.To(step), item, before[name])
	})
}

func (w *walk) add(s *Schema, p faults.Path, code Code, v any) {
	w.found = append(w.found, Fault{Path: p, Code: code, Value: v, Schema: s})
}

// below calls f for the values below another one that have a schema.
func (s *Schema) below(v any, f func(child *Schema, step, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			child := s.Properties[name]
			if child == nil {
				child = s.Additional
			}
			if child != nil {
				f(child, name, v[name])
			}
		}
	case []any:
		for i, item := range v {
			if s.Items != nil {
				f(s.Items, i, item)
			}
		}
	}
}

// Types returns the types that a value should have, nothing if it has one. The API server lists those of an int-or-string twice.
func (s *Schema) Types(v any) []string {
	have := TypeOf(v)
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

// TypeOf returns the name of a value's type in schemas.
func TypeOf(v any) string {
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
