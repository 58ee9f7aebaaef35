// Package jsonschema writes JSON Schemas (draft 2020-12) of the files that people
// write for hyperpod, so that their editors complete and check them. It is for
// the documentation's generator; the command itself checks with its own types.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

const draft = "https://json-schema.org/draft/2020-12/schema"

// object is a JSON object; encoding/json writes its keys sorted.
type object = map[string]any

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// Template returns the schema of one document of a template: a header, an object
// of a kind whose fields are known, or any other object. Values may be
// placeholders wherever the field is not text.
func Template() ([]byte, error) {
	w := &writer{defs: object{
		"placeholder": object{"type": "string", "pattern": `^\$(\{[A-Za-z_][A-Za-z0-9_]*(:?-[^${}]*)?\}|[A-Za-z_][A-Za-z0-9_]*)$`,
			"description": "A placeholder that a parameter fills in: ${NAME}, or ${NAME:-DEFAULT}."},
		"quantity": object{"description": "A quantity such as 500m, 4 or 16Gi, or a placeholder.",
			"anyOf": []any{object{"type": []any{"number", "null"}}, object{"type": "string"}}},
		"header":    header(),
		"parameter": parameter(),
	}, names: map[reflect.Type]string{}}
	var kinds []any
	branches := []any{object{
		"if":   object{"not": object{"required": []any{"kind"}}},
		"then": ref("header"),
		"else": object{"required": []any{"apiVersion", "kind"}},
	}}
	shapes := schema.Shapes()
	for _, s := range shapes {
		version := object{"const": s.APIVersion}
		name := s.Kind
		if group, of, found := strings.Cut(s.APIVersion, "/"); found && !s.Only {
			version = object{"type": "string", "pattern": "^" + regexp.QuoteMeta(group) + "/"}
			for _, other := range shapes {
				if other.Only && other.Kind == s.Kind && strings.HasPrefix(other.APIVersion, group+"/") {
					version["not"] = object{"const": other.APIVersion}
				}
			}
		} else if slices.Contains(kinds, any(s.Kind)) {
			name += "-" + of
		}
		w.names[s.Type] = name
		if name == s.Kind {
			kinds = append(kinds, s.Kind)
		}
		branches = append(branches, object{
			"if":   object{"required": []any{"apiVersion", "kind"}, "properties": object{"apiVersion": version, "kind": object{"const": s.Kind}}},
			"then": w.of(s.Type),
		})
	}
	return encode(object{
		"$schema": draft, "$id": "template.schema.json",
		"title":       "Template of hyperpod",
		"description": "One document of a template: its header, or a Kubernetes object with ${PLACEHOLDERS}.",
		"type":        "object",
		"properties":  object{"apiVersion": object{"type": "string"}, "kind": object{"type": "string", "examples": kinds}},
		"allOf":       branches,
		"$defs":       w.defs,
	})
}

func header() object {
	properties := object{}
	for _, f := range parse.HeaderFields() {
		p := object{"description": f.Help}
		switch f.Type {
		case "map":
			p["type"] = []any{"object", "null"}
			p["propertyNames"] = object{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
			p["additionalProperties"] = ref("parameter")
		case "list":
			p["type"], p["items"] = "array", object{"type": "string"}
		default:
			p["type"] = "string"
		}
		properties[f.Name] = p
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false,
		"anyOf": []any{object{"required": []any{"parameters"}}, object{"required": []any{"fixed"}}}}
}

func parameter() object {
	properties := object{}
	scalar := []any{"string", "number", "boolean", "null"}
	for _, f := range parse.ParamFields() {
		p := object{"description": f.Help}
		switch f.Type {
		case "bool":
			p["type"] = "boolean"
		case "list":
			p["type"], p["items"], p["minItems"] = "array", object{"type": scalar}, 1
		case "any":
			p["type"], p["items"] = append(scalar, "array"), object{"type": scalar}
		default:
			p["type"] = "string"
		}
		if len(f.Enum) > 0 {
			p["enum"] = f.Enum
		}
		properties[f.Name] = p
	}
	return object{"anyOf": []any{
		object{"type": "object", "properties": properties, "additionalProperties": false},
		object{"type": append(scalar, "array"), "items": object{"type": scalar}, "description": "The default alone."},
	}}
}

// writer turns Go types into schemas; structs become definitions.
type writer struct {
	defs  object
	names map[reflect.Type]string
}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
	textTypes    = map[reflect.Type]bool{reflect.TypeFor[metav1.Time](): true, reflect.TypeFor[metav1.MicroTime](): true, reflect.TypeFor[metav1.Duration](): true}
	fieldsType   = reflect.TypeFor[metav1.FieldsV1]()
	objectType   = reflect.TypeFor[runtime.RawExtension]()
)

// of returns the schema of a type. Null is allowed everywhere: fields without a
// value are left out of what is sent.
func (w *writer) of(t reflect.Type) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	orPlaceholder := func(o object) object { return object{"anyOf": []any{o, ref("placeholder")}} }
	switch {
	case t == fieldsType || t.Kind() == reflect.Interface:
		return object{}
	case t == objectType: // an object of any kind
		return orPlaceholder(object{"type": "object", "required": []any{"apiVersion", "kind"}})
	case t == quantityType:
		return ref("quantity")
	case t == intOrString:
		return object{"type": []any{"integer", "string", "null"}}
	case textTypes[t]:
		return object{"type": []any{"string", "null"}}
	}
	switch t.Kind() {
	case reflect.Struct:
		return orPlaceholder(ref(w.define(t)))
	case reflect.Map:
		return orPlaceholder(object{"type": []any{"object", "null"}, "additionalProperties": w.of(t.Elem())})
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return orPlaceholder(object{"type": []any{"array", "null"}, "items": w.of(t.Elem())})
		}
	case reflect.Bool:
		return orPlaceholder(object{"type": []any{"boolean", "null"}})
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return orPlaceholder(object{"type": []any{"integer", "null"}})
	}
	return object{"type": []any{"string", "null"}}
}

// define writes a struct's definition once and returns its name.
func (w *writer) define(t reflect.Type) string {
	name, named := w.names[t]
	if !named {
		name = t.Name()
		for n := 2; w.defs[name] != nil; n++ {
			name = fmt.Sprintf("%s%d", t.Name(), n)
		}
		w.names[t] = name
	}
	if w.defs[name] != nil {
		return name
	}
	properties := object{}
	definition := object{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": false}
	w.defs[name] = definition
	w.fields(t, properties)
	if text := firstSentence(docs(t)[""]); text != "" {
		definition["description"] = text
	}
	return name
}

// fields adds the fields of a struct. Its own fields come first: they hide those of the
// structs that are embedded in it.
func (w *writer) fields(t reflect.Type, properties object) {
	help := docs(t)
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (tag == "" || strings.Contains(options, "inline")):
			inline := f.Type
			if inline.Kind() == reflect.Pointer {
				inline = inline.Elem()
			}
			embedded = append(embedded, inline)
		case tag != "" && tag != "-" && properties[tag] == nil:
			p := w.of(f.Type)
			if text := firstSentence(help[tag]); text != "" {
				p["description"] = text
			}
			properties[tag] = p
		}
	}
	for _, inline := range embedded {
		w.fields(inline, properties)
	}
}

// docs returns the texts that Kubernetes' types have about their fields.
func docs(t reflect.Type) map[string]string {
	if d, ok := reflect.New(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return d.SwaggerDoc()
	}
	return nil
}

func firstSentence(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\n", " "))
	if i := strings.Index(s, ". "); i > 0 {
		s = s[:i+1]
	}
	return s
}

func encode(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", " ")
	return append(data, '\n'), err
}
