package jsonschema

import "github.com/hyperpod-cli/hyperpod/internal/templates/v2config"

// reference is ${a.b}, the value of another field of the file.
const reference = `\$\{.+\}`

// Config returns the schema of configuration files of the official CLI v2, whose
// fields are the ones that their reader knows.
func Config() ([]byte, error) {
	root := section(v2config.Fields())
	root["$schema"], root["$id"] = draft, "config-v2.schema.json"
	root["title"], root["description"] = "Configuration file of hyperpod start-job", "A start-job configuration file of the official HyperPod CLI v2."
	root["type"] = "object"
	return encode(root)
}

func section(fields []v2config.Field) object {
	properties, required := object{}, []any{}
	for _, f := range fields {
		o := configField(f)
		if f.Help != "" {
			o["description"] = f.Help
		}
		properties[f.Name] = o
		if f.Required() {
			required = append(required, f.Name)
		}
	}
	out := object{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"], out["type"] = required, "object"
	}
	return out
}

func configField(f v2config.Field) object {
	text := object{"type": []any{"string", "number", "boolean", "null"}}
	texts := object{"anyOf": []any{text, object{"type": "array", "items": text}}}
	textMap := object{"type": []any{"object", "null"}, "additionalProperties": text}
	list := func(items object) object { return object{"type": []any{"array", "null"}, "items": items} }
	switch f.Type {
	case v2config.Text:
		return text
	case v2config.Lines:
		return texts
	case v2config.Number:
		return object{"anyOf": []any{object{"type": []any{"integer", "null"}, "minimum": 1}, object{"type": "string", "pattern": `^([1-9][0-9]*|` + reference + `)$`}}}
	case v2config.OneOf:
		var words []any
		for _, w := range f.Words {
			words = append(words, w)
		}
		return object{"anyOf": []any{object{"enum": append(words, nil)}, object{"type": "string", "pattern": "^" + reference + "$"}}}
	case v2config.Map:
		return textMap
	case v2config.Labels:
		return object{"type": []any{"object", "null"}, "additionalProperties": texts}
	case v2config.Weights:
		return list(object{"type": "integer", "minimum": 1, "maximum": 100})
	case v2config.Arguments:
		return object{"anyOf": []any{text, object{"type": "array", "items": object{"anyOf": []any{text, textMap}}}}}
	case v2config.Section:
		return section(f.Below)
	case v2config.Entries:
		properties, names := object{}, []any{}
		for _, b := range f.Below {
			properties[b.Name] = object{"type": []any{"string", "number", "boolean"}}
			names = append(names, b.Name)
		}
		return list(object{"type": []any{"object", "null"}, "properties": properties, "required": names, "additionalProperties": false})
	case v2config.Absent:
		return object{"type": "null"}
	case v2config.Off:
		return object{"enum": []any{false, nil}}
	}
	return object{} // Anything
}
