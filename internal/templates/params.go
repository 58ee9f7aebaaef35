package templates

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// convert types a value as the parameter declares it. Text is parsed; a value of
// another type is an error that says what was expected.
func (p Param) convert(v any) (any, error) {
	v = normal(v)
	out, err := p.typed(v)
	if err != nil {
		return nil, err
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, textOf(out)) {
		return nil, fmt.Errorf("%q is not one of %s", clip(textOf(v)), strings.Join(p.Enum, ", "))
	}
	return out, nil
}

func (p Param) typed(v any) (any, error) {
	s, isText := v.(string)
	scalar := v
	if isText {
		scalar = asWritten(strings.TrimSpace(s))
	}
	switch p.Type {
	case "int":
		if _, ok := plainOf(scalar).(int64); ok {
			return scalar, nil
		}
		return nil, fmt.Errorf("%q is not a whole number", clip(textOf(v)))
	case "number":
		switch plainOf(scalar).(type) {
		case int64, float64:
			return scalar, nil
		}
		return nil, fmt.Errorf("%q is not a number", clip(textOf(v)))
	case "bool":
		if _, ok := plainOf(scalar).(bool); ok {
			return scalar, nil
		}
		return nil, fmt.Errorf("%q is not true or false", clip(textOf(v)))
	case "quantity":
		if _, err := resource.ParseQuantity(textOf(v)); err != nil {
			return nil, fmt.Errorf("%q is not a quantity such as 500m, 4 or 16Gi", clip(textOf(v)))
		}
		return v, nil
	case "list":
		return asList(v)
	case "":
		if isText {
			return asWritten(s), nil
		}
		return scalarOrList(v)
	}
	switch v.(type) {
	case []any, map[string]any:
		return nil, fmt.Errorf("it takes one value, not a list or map")
	case nil:
		return "", nil
	}
	return textOf(v), nil
}

// asList takes a list of scalars, a JSON-like list in text, or words in text.
func asList(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return scalarOrList(v)
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			docs, err := parseDocuments([]byte(v))
			if err == nil && len(docs) == 1 && docs[0].kind == listNode {
				return scalarOrList(docs[0].said())
			}
		}
		words, err := SplitWords(v)
		if err != nil {
			return nil, err
		}
		return anyList(words), nil
	}
	return []any{v}, nil
}

// scalarOrList refuses what could add fields.
func scalarOrList(v any) (any, error) {
	if l, ok := v.([]any); ok {
		for _, item := range l {
			switch item.(type) {
			case []any, map[string]any:
				return nil, fmt.Errorf("a list takes plain values only")
			}
		}
		return l, nil
	}
	if _, ok := v.(map[string]any); ok {
		return nil, fmt.Errorf("it takes a value or a list, not a map")
	}
	return v, nil
}

// normal turns the Go types that callers use into JSON's.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	case json.Number:
		return asWritten(v.String())
	case []string:
		return anyList(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normal(v[i])
		}
		return out
	}
	return v
}

// setDefault gives a parameter its default.
func (p *Param) setDefault(v any) { p.Default, p.said = plainOf(v), v }

// value is the default as it is written.
func (p Param) value() any {
	if p.said != nil {
		return p.said
	}
	return p.Default
}

// DefaultText is the default as it is written, "" when there is none.
func (p Param) DefaultText() string { return textOf(p.value()) }
