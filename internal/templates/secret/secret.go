// Package secret says which fields of objects hold values that no message shows.
package secret

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Shown stands in messages for a value that is not shown.
const Shown = "(not shown)"

// Field reports whether the value at a path ("spec.containers[0].env[1].value") of
// an object of a kind is one: the values of environments, as a list of names and
// values or as a map, and the data of Secrets. kind may be "" where it is not
// known: then any data may be a Secret's.
func Field(kind, path string) bool {
	if kind == "Secret" || kind == "" {
		for _, top := range []string{"data", "stringData"} {
			if rest, ok := strings.CutPrefix(path, top); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return true
			}
		}
	}
	if strings.HasSuffix(path, "last-applied-configuration") {
		return true // the whole object, as text
	}
	_, env, ok := strings.Cut("."+path, ".env")
	if !ok || env == "" {
		return ok
	}
	switch env[0] {
	case '.':
		return true
	case '[':
		_, field, _ := strings.Cut(env, "]")
		return field != ".name" && !strings.HasPrefix(field, ".valueFrom")
	}
	return false
}

// Hide returns a value at a path with Shown in place of what Field names.
func Hide(kind, path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[k] = Hide(kind, strings.TrimPrefix(path+"."+k, "."), inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = Hide(kind, path+"[0]", inner) // which one makes no difference
		}
		return out
	}
	if v != nil && Field(kind, path) {
		return Shown
	}
	return v
}

// secretName matches the names of variables, options and annotations with secret values.
var secretName = pattern.Lazy(`(?i)(TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API[-_]?KEY|ACCESS[-_]?KEY|PRIVATE[-_]?KEY|[-_]KEY$)`)

// tokenCount matches names that count tokens of a text, such as max-tokens.
var tokenCount = pattern.Lazy(`(?i)(NUM|MAX|MIN|TOTAL|PER|COUNT|LEN)[-_]?.*TOKENS?|TOKENS?[-_]?(PER|COUNT|NUM|LEN)|TOKENI[SZ]ER`)

// Name reports whether a variable, option or annotation of that name has a secret value.
func Name(name string) bool { return secretName().MatchString(name) && !tokenCount().MatchString(name) }
