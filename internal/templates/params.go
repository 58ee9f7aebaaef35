package templates

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
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

func anyList(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

var (
	intText   = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	floatText = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// resolve types a text as a plain YAML scalar: true, 4, 0.5, null, or text. A
// number with leading zeros stays text.
func resolve(s string) any {
	switch s {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case "null", "Null", "NULL", "~":
		return nil
	}
	if intText.MatchString(s) {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	if floatText.MatchString(s) && !leadingZero(s) {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	}
	return s
}

// written is a number or truth value that is written otherwise than it is shown:
// 1.10 is the number 1.1, and as the tag of an image it stays 1.10.
type written struct {
	value any
	text  string
}

// asWritten is resolve, and keeps how the value is written.
func asWritten(text string) any { return keepText(resolve(text), text) }

func keepText(v any, text string) any {
	switch v.(type) {
	case int64, float64, bool:
		if textOf(v) != text {
			return written{v, text}
		}
	}
	return v
}

// plainOf is a value without how it is written.
func plainOf(v any) any {
	switch v := v.(type) {
	case written:
		return v.value
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainOf(v[i])
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

func leadingZero(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9'
}

// textOf renders a scalar the way it is written.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case written:
		return v.text
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = textOf(v[i])
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

// SplitWords splits text into words as a shell does: blanks separate, single and
// double quotes and backslashes keep. An open quote is an error.
func SplitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote == '\'':
			if r == '\'' {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\\' && i+1 < len(runes) && (quote == 0 || strings.ContainsRune("\"\\$`", runes[i+1])):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote == '"':
			if r == '"' {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errs.Usagef("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
