package mcpcmd

import (
	"encoding/json"
	"maps"

	"github.com/hyperpod-cli/hyperpod/docs"
)

// envelope is the top level of a document's schema: the keys, their types, and which of them are always there. A client that
// starts reads the list of tools, and most give it to the model: whole schemas made it four times as long. They are
// resources, which the description of the tool names.
type envelope struct {
	Type       string         `json:"type"`
	Properties map[string]any `json:"properties"`
	Required   []string       `json:"required,omitempty"`
}

// outputSchema returns what the list of tools says about the documents that a tool answers with. It has no "$schema": clients
// whose validator does not know that name refuse the tool.
func (c command) outputSchema() (any, error) {
	one, err := envelopeOf(c.schema)
	if err != nil || c.other == "" {
		return one, err
	}
	other, err := envelopeOf(c.other)
	return map[string]any{"type": "object", "anyOf": []any{one, other}}, err
}

// envelopeOf returns the top level of the schema of a document.
func envelopeOf(name string) (e envelope, err error) {
	data, err := docs.Files.ReadFile("schema/" + name + ".json")
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, err
	}
	for _, property := range e.Properties {
		if whole, ok := property.(map[string]any); ok { // not true, the schema that everything fits
			maps.DeleteFunc(whole, func(key string, _ any) bool { return key != "type" })
		}
	}
	return e, nil
}
