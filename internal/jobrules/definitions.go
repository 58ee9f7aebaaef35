package jobrules

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// definitionsFile has what the CustomResourceDefinitions of the operators demand besides types.
// Test TestDefinitions writes it.
//
//go:embed definitions.json
var definitionsFile []byte

// definitions are the schemas of kinds, by their full names (with /VERSION for another version than the kind's), and the schemas that several others refer to. They have neither
// types, as the Go types of the kinds find values of wrong ones, nor defaults but those of the keys of lists. The required
// fields have no default.
type definitions struct {
	Kinds map[string]*struct {
		Source string             `json:"source"`
		Schema *structural.Schema `json:"schema"`
	} `json:"kinds"`
	Shared map[string]*structural.Schema `json:"shared"`
}

var loaded = sync.OnceValue(func() *definitions {
	var d definitions
	if err := json.Unmarshal(definitionsFile, &d); err != nil {
		panic("definitions.json: " + err.Error()) // embedded
	}
	for _, s := range d.Shared {
		s.Link(d.Shared)
	}
	for _, k := range d.Kinds {
		k.Schema = k.Schema.Link(d.Shared)
	}
	return &d
})
