package jobrules

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// definitionsFile has what the CustomResourceDefinitions of the operators demand besides types.
// Test TestDefinitions writes it.
//
//go:embed definitions.json
var definitionsFile []byte

// definitions are the schemas of kinds, by their full names, and the schemas that several others refer to.
type definitions struct {
	Kinds map[string]*struct {
		Source string  `json:"source"`
		Schema *schema `json:"schema"`
	} `json:"kinds"`
	Shared map[string]*schema `json:"shared"`
}

// schema is the part of a structural schema that the Go type of a kind does not have.
type schema struct {
	Ref        string             `json:"ref"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Additional *schema            `json:"additional"`
	// Required fields have no default.
	Required []string `json:"required"`
	Enum     []string `json:"enum"`
	Pattern  string   `json:"pattern"`
	Minimum  *int64   `json:"minimum"`
	Maximum  *int64   `json:"maximum"`
	// Not is the only text that is refused.
	Not           string `json:"-"`
	MinLength     *int   `json:"minLength"`
	MaxLength     *int   `json:"maxLength"`
	MinItems      *int   `json:"minItems"`
	MaxItems      *int   `json:"maxItems"`
	MaxProperties *int   `json:"maxProperties"`
	// Keys are the fields in which the items of a list differ; the items of a Set differ altogether.
	Keys []string `json:"keys"`
	Set  bool     `json:"set"`
	// Default is that of a field among the keys of a list.
	Default any    `json:"default"`
	Rules   []rule `json:"rules"`
}

// rule is a validation rule, whose text is in CEL. rules has a function for each.
type rule struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

var loaded = sync.OnceValue(func() *definitions {
	var d definitions
	if err := json.Unmarshal(definitionsFile, &d); err != nil {
		panic("definitions.json: " + err.Error()) // embedded
	}
	return &d
})

// full returns the schema that s refers to, or s.
func (s *schema) full() *schema {
	if s != nil && s.Ref != "" {
		return loaded().Shared[s.Ref]
	}
	return s
}
