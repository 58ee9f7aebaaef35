package jsonschema

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// Governance returns the schema of governance files, from the tags of policy.Document.
func Governance() ([]byte, error) {
	root := governanceOf(reflect.TypeFor[policy.Document]())
	root["$schema"], root["$id"] = draft, "governance.schema.json"
	root["title"], root["description"] = "Governance file of hyperpod", "Teams, quota and policy of a cluster."
	root["properties"].(object)["version"].(object)["const"] = policy.Version
	return encode(root)
}

func governanceOf(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return governanceOf(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": governanceOf(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": governanceOf(t.Elem())}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
	default:
		return object{"type": "string"}
	}
	properties, required := object{}, []any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := governanceOf(f.Type)
		p["description"] = f.Tag.Get("doc")
		if words := f.Tag.Get("enum"); words != "" {
			p["enum"] = manifest.AnyList(strings.Split(words, ","))
		}
		if least, most, ok := strings.Cut(f.Tag.Get("range"), ","); ok {
			p["minimum"], p["maximum"] = number(least), number(most)
		}
		if name == "instanceType" {
			p["examples"] = instanceTypes()
		}
		if rest == "" {
			required = append(required, name)
		}
		properties[name] = p
	}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("the range of a field is not a number: " + text)
	}
	return n
}

func instanceTypes() []any {
	var out []any
	for _, t := range instances.All() {
		out = append(out, t.Name)
	}
	return out
}
