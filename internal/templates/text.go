package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

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

func anyList(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
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

// count reads a whole number.
func count(v any) (int, bool) {
	switch n := v.(type) {
	case written:
		return count(n.value)
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

func quoteText(s string) string { return strconv.Quote(clip(s)) }

// clip shortens text for a message.
func clip(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}
