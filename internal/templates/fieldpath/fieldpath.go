package fieldpath

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Assignment is one --set K=V: a parameter and its value, or a path into the
// job such as spec.runPolicy.backoffLimit, spec.template.spec.containers[0].image
// or metadata.labels."example.com/team". Value is typed as YAML types it; null
// removes what the path leads to.
type Assignment struct{ Key, Value string }

// ParseAssignment splits K=V at the first = outside of quotes and brackets.
func ParseAssignment(text string) (Assignment, error) {
	quote, depth := rune(0), 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '=' && depth <= 0:
			if key := strings.TrimSpace(text[:i]); key != "" {
				return Assignment{key, text[i+1:]}, nil
			}
		}
	}
	return Assignment{}, setting.Set.Invalid(text, "must be NAME=VALUE or path.to.field=VALUE")
}

// Parsed returns the value of the assignment. It is nil for null.
func (a Assignment) Parsed() (*manifest.Node, error) {
	docs, err := manifest.Parse([]byte(a.Value))
	switch {
	case err != nil:
		return nil, setting.Set.InvalidAt(a.Key, "the value is not valid YAML: %v", err)
	case len(docs) == 0:
		if strings.TrimSpace(a.Value) == "" {
			return &manifest.Node{Value: ""}, nil
		}
		return nil, nil // null
	case len(docs) > 1:
		return nil, setting.Set.InvalidAt(a.Key, "the value must be a single YAML document")
	}
	return docs[0], nil
}

// Step is one part of a path: a key, or an index into a list.
type Step struct {
	Key   string
	Index int
	List  bool
}

// Parse reads a path such as a.b[0]."c.d"["e"].
func Parse(text string) ([]Step, error) {
	bad := func(why string) ([]Step, error) {
		return nil, setting.Set.Invalid(text, "%s", why)
	}
	var steps []Step
	rest := text
	for rest != "" {
		switch {
		case rest[0] == '[':
			body, after, ok := bracket(rest)
			if !ok {
				return bad("[ is not closed")
			}
			rest = after
			if key, quoted := unquote(body); quoted {
				steps = append(steps, Step{Key: key})
				break
			}
			n, err := strconv.Atoi(body)
			if err != nil || n < 0 || n > 10_000 {
				return bad("[" + body + "] must hold an index from 0 or a quoted key")
			}
			steps = append(steps, Step{Index: n, List: true})
		case rest[0] == '"' || rest[0] == '\'':
			end := strings.IndexByte(rest[1:], rest[0])
			if end < 0 {
				return bad("a quote is not closed")
			}
			steps = append(steps, Step{Key: rest[1 : 1+end]})
			rest = rest[end+2:]
		default:
			end := strings.IndexAny(rest, `.["'`)
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return bad("a part of the path is empty")
			}
			steps = append(steps, Step{Key: rest[:end]})
			rest = rest[end:]
		}
		if after, dot := strings.CutPrefix(rest, "."); dot {
			if after == "" {
				return bad("must not end with a dot")
			}
			rest = after
		} else if rest != "" && rest[0] != '[' {
			return bad("a dot is missing before " + manifest.QuoteText(rest))
		}
	}
	if len(steps) == 0 || steps[0].List {
		return bad("must start with a field")
	}
	return steps, nil
}

// bracket cuts "[...]" off the front of s, minding quotes.
func bracket(s string) (body, after string, ok bool) {
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		end := strings.IndexByte(s[2:], s[1])
		if end < 0 || len(s) <= end+3 || s[end+3] != ']' {
			return "", "", false
		}
		return s[1 : end+3], s[end+4:], true
	}
	body, after, ok = strings.Cut(s[1:], "]")
	return body, after, ok
}

func unquote(s string) (string, bool) {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1], true
	}
	return s, false
}

// Lookup returns the value at a path, and false if the path does not exist.
func Lookup(v any, steps []Step) (any, bool) {
	for _, s := range steps {
		if s.List {
			l, _ := v.([]any)
			if s.Index >= len(l) {
				return nil, false
			}
			v = l[s.Index]
			continue
		}
		m, _ := v.(map[string]any)
		next, ok := m[s.Key]
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

// Set sets the value at a path; nil removes it. It creates maps on the way. In a list it can replace an item or
// append one.
func Set(root map[string]any, path string, v any) error {
	steps, err := Parse(path)
	if err != nil {
		return err
	}
	bad := func(format string, args ...any) error {
		return setting.Set.InvalidAt(path, format, args...)
	}
	if steps[0].Key == "status" {
		return bad("the cluster writes the status")
	}
	if len(steps) == 2 && steps[0].Key == "metadata" {
		// Both decide more than the one field: queue, priority, the other objects.
		for key, own := range map[string]setting.Setting{"name": setting.Name, "namespace": setting.Namespace} {
			if steps[1].Key == key {
				return setting.Set.InvalidAt(path, "use %s", own).Suggest(own.Option(strings.ToUpper(key)))
			}
		}
	}
	var at any = root
	store := func(any) {}
	for i, s := range steps {
		last := i == len(steps)-1
		if !s.List {
			m, ok := at.(map[string]any)
			if !ok {
				if at != nil {
					return bad("%s is not inside a map", s.Key)
				}
				m = map[string]any{}
				store(m)
			}
			if last {
				if v == nil {
					delete(m, s.Key)
				} else {
					m[s.Key] = v
				}
				return nil
			}
			at, store = m[s.Key], func(x any) { m[s.Key] = x }
			continue
		}
		l, ok := at.([]any)
		if !ok && at != nil || s.Index > len(l) || s.Index == len(l) && last && v == nil {
			return bad("item [%d] not found: the list has %s", s.Index, words.Count(len(l), "item", "items"))
		}
		if last && v == nil {
			store(append(append([]any{}, l[:s.Index]...), l[s.Index+1:]...))
			return nil
		}
		if s.Index == len(l) {
			l = append(l, nil)
			store(l)
		}
		if last {
			l[s.Index] = v
			return nil
		}
		at, store = l[s.Index], func(x any) { l[s.Index] = x }
	}
	return nil
}
