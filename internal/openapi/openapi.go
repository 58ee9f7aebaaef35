// Package openapi reads from an API server's OpenAPI documents which fields its kinds have.
package openapi

import "encoding/json"

// Document is the OpenAPI document (version 3) of an API version.
type Document struct {
	kinds map[string]*schema // by group, version and kind
	parts map[string]*schema // by reference
}

// schema is the part of a schema that describes fields.
type schema struct {
	Ref        string             `json:"$ref"`
	AllOf      []*schema          `json:"allOf"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
	Properties map[string]*schema `json:"properties"`
	Additional *others            `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Open       bool               `json:"x-kubernetes-preserve-unknown-fields"`
	Kinds      []kind             `json:"x-kubernetes-group-version-kind"`
}

type kind struct{ Group, Version, Kind string }

// others describes the fields of a map: a schema, or whether there can be any.
type others struct {
	schema
	none bool
}

func (o *others) UnmarshalJSON(data []byte) error {
	var open bool
	if json.Unmarshal(data, &open) == nil {
		o.none, o.Open = !open, open
		return nil
	}
	return json.Unmarshal(data, &o.schema)
}

// Read reads the document of an API version.
func Read(data []byte) (*Document, error) {
	var in struct {
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	d := &Document{kinds: map[string]*schema{}, parts: map[string]*schema{}}
	for name, s := range in.Components.Schemas {
		if s == nil {
			continue
		}
		d.parts["#/components/schemas/"+name] = s
		for _, k := range s.Kinds {
			d.kinds[key(k)] = s
		}
	}
	return d, nil
}

func key(k kind) string { return k.Group + "/" + k.Version + "/" + k.Kind }

// Has reports whether a kind has a field. The path leads to it by the names of fields, keys of maps and indices of lists. known is
// false for a kind that the document does not describe.
func (d *Document) Has(group, version, name string, path []string) (has, known bool) {
	s, known := d.kinds[key(kind{group, version, name})]
	left := most
	return known && d.has(s, path, &left), known
}

// most limits how many schemas are visited for a field: references can be circular.
const most = 10_000

func (d *Document) has(s *schema, path []string, left *int) bool {
	if s == nil || *left == 0 {
		return false
	}
	*left--
	switch {
	case len(path) == 0, s.Open:
		return true
	case s.Items != nil && d.has(s.Items, path[1:], left):
		return true
	case s.Properties[path[0]] != nil:
		return d.has(s.Properties[path[0]], path[1:], left)
	case s.Additional != nil && !s.Additional.none && d.has(&s.Additional.schema, path[1:], left):
		return true
	case s.Ref != "" && d.has(d.parts[s.Ref], path, left):
		return true
	}
	for _, all := range [][]*schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range all {
			if d.has(part, path, left) {
				return true
			}
		}
	}
	return false
}
