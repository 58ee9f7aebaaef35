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

	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// schemas are the schemas of Kueue's CustomResourceDefinitions, by kind. Descriptions and
// the status are left out.
//
//go:embed schemas/*.json
var schemaFiles embed.FS

var loaded = sync.OnceValue(func() map[string]*structural.Schema {
	out := map[string]*structural.Schema{}
	entries, err := schemaFiles.ReadDir("schemas")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		data, err := schemaFiles.ReadFile("schemas/" + e.Name())
		if err != nil {
			panic(err) // embedded
		}
		var s structural.Schema
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
		setDefaults(s, m)
	}
}

func setDefaults(s *structural.Schema, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if _, given := v[name]; !given && p.Default != nil {
				v[name] = copied(p.Default)
			}
			if c, given := v[name]; given {
				setDefaults(p, c)
			}
		}
	case []any:
		if s.Items != nil {
			for _, c := range v {
				setDefaults(s.Items, c)
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
	all := said(append(s.Values(m), s.Duplicates(m)...))
	if slices.ContainsFunc(all, blocking) {
		if s.HasRules() {
			all = append(all, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
		return all
	}
	var before any
	if old != nil {
		before = old
	}
	return append(all, said(s.Broken(rules, m, before))...)
}

// blocking reports whether a fault keeps the API server from checking rules, which rely on
// the structure.
func blocking(e *field.Error) bool {
	return slices.Contains([]field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}, e.Type)
}
