// Package structural checks values against structural schemas, those of CustomResourceDefinitions, like an API server. It
// returns what a schema refuses as values: each kind of objects has its own words for them.
package structural

import (
	"regexp"
	"sync"
)

// Schema is the part of a structural schema that the definitions of Kueue and of the operators use.
type Schema struct {
	// Ref names a schema that takes the place of this one; see [Schema.Link].
	Ref string `json:"ref"`
	// Type is empty if something else checks the types of values.
	Type        string             `json:"type"`
	IntOrString bool               `json:"x-kubernetes-int-or-string"`
	Properties  map[string]*Schema `json:"properties"`
	Items       *Schema            `json:"items"`
	Additional  *Schema            `json:"additionalProperties"`
	Required    []string           `json:"required"`
	Enum        []string           `json:"enum"`
	Pattern     string             `json:"pattern"`
	Minimum     *int64             `json:"minimum"`
	Maximum     *int64             `json:"maximum"`
	MinLength   *int64             `json:"minLength"`
	MaxLength   *int64             `json:"maxLength"`
	MinItems    *int64             `json:"minItems"`
	MaxItems    *int64             `json:"maxItems"`
	// MaxProperties limits the entries of a map.
	MaxProperties *int64 `json:"maxProperties"`
	// ListType is "map" for lists whose items differ in MapKeys, "set" for those whose items differ altogether.
	ListType string   `json:"x-kubernetes-list-type"`
	MapKeys  []string `json:"x-kubernetes-list-map-keys"`
	Default  any      `json:"default"`
	Rules    []Rule   `json:"x-kubernetes-validations"`

	compile sync.Once
	pattern *regexp.Regexp
}

// Rule is a validation rule, whose text is in CEL.
type Rule struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Judge reports whether a value keeps a rule. old is the value before a change, nil for a new one. missing is a field that the
// rule reads and that the value lacks: then the API server refuses the value, too.
type Judge func(v, old any) (kept bool, missing string)

// Judges has a function for each rule, by its text.
type Judges map[string]Judge

// Link puts shared schemas in the place of those below s that refer to them, and returns the one for the place of s. It does not
// link the shared ones, which may refer to each other: link each of them once.
func (s *Schema) Link(shared map[string]*Schema) *Schema {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return shared[s.Ref]
	}
	for name, p := range s.Properties {
		s.Properties[name] = p.Link(shared)
	}
	s.Items, s.Additional = s.Items.Link(shared), s.Additional.Link(shared)
	return s
}

// HasRules reports whether the schema, or one below it, has rules.
func (s *Schema) HasRules() bool {
	if s == nil {
		return false
	}
	for _, p := range s.Properties {
		if p.HasRules() {
			return true
		}
	}
	return len(s.Rules) > 0 || s.Items.HasRules() || s.Additional.HasRules()
}

// typed reports whether the schema knows the type of its values.
func (s *Schema) typed() bool { return s != nil && (s.Type != "" || s.IntOrString) }

// matches reports whether a text has the pattern of the schema. A pattern that Go cannot read matches all texts.
func (s *Schema) matches(v string) bool {
	s.compile.Do(func() {
		if s.Pattern != "" {
			s.pattern, _ = regexp.Compile(s.Pattern)
		}
	})
	return s.pattern == nil || s.pattern.MatchString(v)
}
