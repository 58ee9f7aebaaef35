package parse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// Convert converts a value to the declared type of the parameter. Text is parsed. For a value of another type,
// the error names the expected type.
func (p Param) Convert(v any) (any, error) {
	v = normal(v)
	out, err := p.typed(v)
	if err != nil {
		return nil, err
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, manifest.TextOf(out)) {
		return nil, fmt.Errorf("%q must be one of %s", manifest.Clip(manifest.TextOf(v)), strings.Join(p.Enum, ", "))
	}
	return out, nil
}

func (p Param) typed(v any) (any, error) {
	s, isText := v.(string)
	scalar := v
	if isText {
		scalar = manifest.AsWritten(strings.TrimSpace(s))
	}
	switch p.Type {
	case "int":
		if _, ok := manifest.PlainOf(scalar).(int64); ok {
			return scalar, nil
		}
		return nil, fmt.Errorf("%q is not a whole number", manifest.Clip(manifest.TextOf(v)))
	case "number":
		switch manifest.PlainOf(scalar).(type) {
		case int64, float64:
			return scalar, nil
		}
		return nil, fmt.Errorf("%q is not a number", manifest.Clip(manifest.TextOf(v)))
	case "bool":
		if _, ok := manifest.PlainOf(scalar).(bool); ok {
			return scalar, nil
		}
		return nil, fmt.Errorf("%q is not true or false", manifest.Clip(manifest.TextOf(v)))
	case "quantity":
		if _, err := resource.ParseQuantity(manifest.TextOf(v)); err != nil {
			return nil, fmt.Errorf("%q is not a quantity such as 500m, 4 or 16Gi", manifest.Clip(manifest.TextOf(v)))
		}
		return v, nil
	case "list":
		return List(v)
	case "":
		if isText {
			return manifest.AsWritten(s), nil
		}
		return scalarOrList(v)
	}
	switch v.(type) {
	case []any, map[string]any:
		return nil, fmt.Errorf("must be a single value")
	case nil:
		return "", nil
	}
	return manifest.TextOf(v), nil
}

// List accepts a list of scalars, a JSON-like list in text, or words in text.
func List(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return scalarOrList(v)
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			docs, err := manifest.Parse([]byte(v))
			if err == nil && len(docs) == 1 && docs[0].Kind == manifest.ListNode {
				return scalarOrList(docs[0].AsWritten())
			}
		}
		words, err := shellwords.Split(v)
		if err != nil {
			return nil, err
		}
		return manifest.AnyList(words), nil
	}
	return []any{v}, nil
}

// scalarOrList refuses what could add fields.
func scalarOrList(v any) (any, error) {
	if l, ok := v.([]any); ok {
		for _, item := range l {
			switch item.(type) {
			case []any, map[string]any:
				return nil, fmt.Errorf("list items must be plain values")
			}
		}
		return l, nil
	}
	if _, ok := v.(map[string]any); ok {
		return nil, fmt.Errorf("must be a value or a list")
	}
	return v, nil
}

// normal converts the Go types that callers use into those of JSON.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case json.Number:
		return manifest.AsWritten(v.String())
	case []string:
		return manifest.AnyList(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normal(v[i])
		}
		return out
	}
	return v
}

// SetDefault sets the default of a parameter.
func (p *Param) SetDefault(v any) { p.Default, p.written = manifest.PlainOf(v), v }

// DefaultAsWritten returns the default as the template has it.
func (p Param) DefaultAsWritten() any {
	if p.written != nil {
		return p.written
	}
	return p.Default
}

// DefaultText returns the default as text, "" if there is none.
func (p Param) DefaultText() string { return manifest.TextOf(p.DefaultAsWritten()) }
