package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

var (
	IntText   = pattern.Lazy(`^[-+]?(0|[1-9][0-9]*)$`)
	floatText = pattern.Lazy(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// Resolve reads a text as a plain YAML scalar: true, 4, 0.5, null, or text. A number with leading zeros is
// text.
func Resolve(s string) any {
	switch s {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case "null", "Null", "NULL", "~":
		return nil
	}
	if IntText().MatchString(s) {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	if floatText().MatchString(s) && !leadingZero(s) {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	}
	return s
}

// Written is a number or boolean with its original text: 1.10 is the number 1.1, and as the tag of an image it
// stays 1.10.
type Written struct {
	Value any
	Text  string
}

// AsWritten is Resolve, but keeps the original text of the value.
func AsWritten(text string) any { return keepText(Resolve(text), text) }

func keepText(v any, text string) any {
	switch v.(type) {
	case int64, float64, bool:
		if TextOf(v) != text {
			return Written{v, text}
		}
	}
	return v
}

// PlainOf returns a value without its original text.
func PlainOf(v any) any {
	switch v := v.(type) {
	case Written:
		return v.Value
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = PlainOf(v[i])
		}
		return out
	}
	return v
}

func leadingZero(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9'
}

// TextOf returns a scalar as it was written.
func TextOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case Written:
		return v.Text
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
			words[i] = TextOf(v[i])
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

// AnyList returns a list of texts with the type of a decoded YAML list.
func AnyList(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// Count reads a whole number.
func Count(v any) (int, bool) {
	switch n := v.(type) {
	case Written:
		return Count(n.Value)
	case int64:
		return int(n), true
	case int:
		return n, true
	case float64:
		return int(n), n == float64(int(n))
	case string:
		i, err := strconv.Atoi(n)
		return i, err == nil
	}
	return 0, false
}

var plainWord = pattern.Lazy(`^[A-Za-z0-9_./:@%+=,-]+$`)

// AsTyped returns a value in a message as a person types it: numbers and words unchanged, with quotes where a
// shell needs them. It is for accepted values; QuoteText is for refused ones.
func AsTyped(v any) string {
	text := TextOf(v)
	if plainWord().MatchString(text) {
		return Clip(text)
	}
	return QuoteText(text)
}

// QuoteText returns a text in quotes for a message, shortened.
func QuoteText(s string) string { return strconv.Quote(Clip(s)) }

// Clip shortens text for a message.
func Clip(s string) string {
	return words.Cut(strings.ReplaceAll(s, "\n", " "), 40)
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// GroupOf returns the API group of an apiVersion, "" for the core group.
func GroupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
