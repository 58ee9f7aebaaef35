// Package crd checks Kueue's objects against the schemas of its CustomResourceDefinitions
// and sets their defaults, like an API server. The library of the API server would do the
// same, but makes the binary 1 MB larger. Tests compare with it.
package crd

import (
	"embed"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// schemas are the schemas of Kueue's CustomResourceDefinitions, by kind. Descriptions and
// the status are left out.
//
//go:embed schemas/*.json
var schemaFiles embed.FS

// schema is the part of a structural schema that Kueue's definitions use.
type schema struct {
	Type          string             `json:"type"`
	Properties    map[string]*schema `json:"properties"`
	Items         *schema            `json:"items"`
	Additional    *schema            `json:"additionalProperties"`
	Required      []string           `json:"required"`
	Enum          []string           `json:"enum"`
	Pattern       string             `json:"pattern"`
	Minimum       *int64             `json:"minimum"`
	MinLength     *int64             `json:"minLength"`
	MaxLength     *int64             `json:"maxLength"`
	MinItems      *int64             `json:"minItems"`
	MaxItems      *int64             `json:"maxItems"`
	MaxProperties *int64             `json:"maxProperties"`
	IntOrString   bool               `json:"x-kubernetes-int-or-string"`
	ListType      string             `json:"x-kubernetes-list-type"`
	MapKeys       []string           `json:"x-kubernetes-list-map-keys"`
	Default       any                `json:"default"`
	Rules         []rule             `json:"x-kubernetes-validations"`
}

// rule is a validation rule, whose text is in CEL. Package crd has a function for each.
type rule struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

var loaded = sync.OnceValue(func() map[string]*schema {
	out := map[string]*schema{}
	entries, err := schemaFiles.ReadDir("schemas")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		data, err := schemaFiles.ReadFile("schemas/" + e.Name())
		if err != nil {
			panic(err) // embedded
		}
		var s schema
		if err := json.Unmarshal(data, &s); err != nil {
			panic(e.Name() + ": " + err.Error())
		}
		out[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = &s
	}
	return out
})

// Known reports whether the package has a schema for a kind of Kueue.
func Known(kind string) bool { return loaded()[kind] != nil }

// Default sets the defaults of a kind's schema.
func Default(kind string, m map[string]any) {
	if s := loaded()[kind]; s != nil {
		s.setDefaults(m)
	}
}

func (s *schema) setDefaults(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if _, given := v[name]; !given && p.Default != nil {
				v[name] = copied(p.Default)
			}
			if c, given := v[name]; given {
				p.setDefaults(c)
			}
		}
	case []any:
		if s.Items != nil {
			for _, c := range v {
				s.Items.setDefaults(c)
			}
		}
	}
}

// copied returns a copy of a default. Defaults are objects without members, or scalars.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, c := range v {
			out[k] = copied(c)
		}
		return out
	case float64:
		return int64(v)
	}
	return v
}

// Validate returns what the API server would refuse in an object, which has its defaults.
// old is the object before a change, nil for a new one.
func Validate(kind string, m, old map[string]any) field.ErrorList {
	s := loaded()[kind]
	if s == nil {
		return nil
	}
	all := s.check(nil, m)
	all = append(all, s.duplicates(nil, m)...)
	if slices.ContainsFunc(all, blocking) {
		if s.hasRules() {
			all = append(all, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
		return all
	}
	var before any
	if old != nil {
		before = old
	}
	return append(all, s.obey(nil, m, before)...)
}

// blocking reports whether a fault keeps the API server from checking rules, which rely on
// the structure.
func blocking(e *field.Error) bool {
	return slices.Contains([]field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}, e.Type)
}

func (s *schema) hasRules() bool {
	if s == nil {
		return false
	}
	for _, p := range s.Properties {
		if p.hasRules() {
			return true
		}
	}
	return len(s.Rules) > 0 || s.Items.hasRules() || s.Additional.hasRules()
}
