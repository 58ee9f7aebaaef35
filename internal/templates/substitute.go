package templates

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// placeholder matches ${NAME} and $NAME; a second $ in front keeps it as text.
var placeholder = regexp.MustCompile(`\$?\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// placeholderNames returns the names of the placeholders in a text.
func placeholderNames(s string) []string {
	if !strings.Contains(s, "$") {
		return nil
	}
	var out []string
	for _, m := range placeholder.FindAllStringSubmatch(s, -1) {
		if !strings.HasPrefix(m[0], "$$") {
			out = append(out, m[1]+m[2])
		}
	}
	return out
}

// whole returns the name when the text is one placeholder and nothing else.
func whole(s string) (string, bool) {
	m := placeholder.FindStringSubmatch(s)
	if m == nil || m[0] != s || strings.HasPrefix(s, "$$") {
		return "", false
	}
	return m[1] + m[2], true
}

// place says where in an object a scalar is.
type place struct {
	path string
	// script: shell lines, arguments, environment values and file contents, where
	// $NAME may be meant for a program rather than for the template.
	script bool
}

func (p place) field(key string) place {
	script := p.script
	switch key {
	case "command", "args", "data", "stringData", "binaryData", "annotations", "entrypoint", "runtimeEnvYAML":
		script = true
	case kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation:
		script = false // what they say is looked at
	case "value":
		script = script || strings.HasSuffix(trimIndex(p.path), ".env")
	}
	return place{joinPath(p.path, key), script}
}

func (p place) item(i int) place {
	return place{fmt.Sprintf("%s[%d]", p.path, i), p.script}
}

func trimIndex(path string) string {
	if strings.HasSuffix(path, "]") {
		return path[:strings.LastIndex(path, "[")]
	}
	return path
}

func joinPath(path, key string) string {
	if strings.ContainsFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '/'
	}) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// visitKeys calls f for every key of a map.
func visitKeys(n *node, at place, f func(fl field, at place)) {
	for _, fl := range n.fields {
		f(fl, at)
		visitKeys(fl.value, at.field(fl.key), f)
	}
	for i, item := range n.items {
		visitKeys(item, at.item(i), f)
	}
}

// visit calls f for every scalar.
func visit(n *node, at place, f func(n *node, at place)) {
	switch n.kind {
	case mapNode:
		for _, fl := range n.fields {
			visit(fl.value, at.field(fl.key), f)
		}
	case listNode:
		for i, item := range n.items {
			visit(item, at.item(i), f)
		}
	default:
		f(n, at)
	}
}

// findPlaceholders fills Params with the placeholders that nobody declared but
// that stand where only a parameter makes sense, and notes all others.
func (t *Template) findPlaceholders() {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, p := range t.Params {
		known[p.Name] = true
	}
	find := func(text string, line int, at place) {
		for _, name := range placeholderNames(text) {
			if !seen[name] {
				seen[name] = true
				t.mentioned = append(t.mentioned, name)
			}
			if !known[name] && !at.script {
				known[name] = true
				t.Params = append(t.Params, Param{Name: name, Required: true, Flag: flagFor(name), line: line})
			}
		}
	}
	for _, d := range t.docs {
		visit(d, place{}, func(n *node, at place) { find(n.str(), n.line, at) })
		visitKeys(d, place{}, func(fl field, at place) { find(fl.key, fl.line, at) })
	}
}

// filler replaces placeholders in documents.
type filler struct {
	values map[string]any
	faults []error
}

// fill returns a copy of the tree with the placeholders replaced.
func (f *filler) fill(n *node, at place) *node {
	switch n.kind {
	case mapNode:
		out := &node{kind: mapNode, line: n.line, column: n.column, fields: make([]field, 0, len(n.fields))}
		for _, fl := range n.fields {
			key := f.key(fl, n)
			out.fields = append(out.fields, field{key, fl.line, fl.column, f.fill(fl.value, at.field(key))})
		}
		return out
	case listNode:
		out := &node{kind: listNode, line: n.line, column: n.column, items: make([]*node, 0, len(n.items))}
		for i, item := range n.items {
			v := f.fill(item, at.item(i))
			if v.kind == listNode && item.kind == scalarNode {
				out.items = append(out.items, v.items...) // a list among items adds its items
				continue
			}
			out.items = append(out.items, v)
		}
		return out
	}
	s := n.str()
	if !strings.Contains(s, "$") {
		same := *n // the template itself is never changed
		return &same
	}
	return f.fillScalar(n, s)
}

func (f *filler) fillScalar(n *node, s string) *node {
	if name, ok := whole(s); ok {
		v, has := f.values[name]
		if has {
			return filledNode(v, n)
		}
		same := *n
		return &same
	}
	return &node{line: n.line, column: n.column, value: f.replaced(s), quoted: true}
}

// key fills in the key of a map, such as the name of a resource. It stays one key:
// no other has its name, and it is one line.
func (f *filler) key(fl field, n *node) string {
	if len(placeholderNames(fl.key)) == 0 {
		return fl.key
	}
	key := f.replaced(fl.key)
	switch {
	case key == fl.key:
	case key == "" || strings.ContainsFunc(key, unicode.IsControl):
		f.faults = append(f.faults, faultf(fl.line, "%s, a key, becomes %s, which cannot be one", clip(fl.key), quoteText(key)).col(fl.column))
	case n.get(key) != nil:
		f.faults = append(f.faults, faultf(fl.line, "%s becomes %s, a key that is there already", clip(fl.key), quoteText(key)).col(fl.column))
	}
	return key
}

// replaced is a text with its placeholders filled in.
func (f *filler) replaced(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(m string) string {
		g := placeholder.FindStringSubmatch(m)
		name := g[1] + g[2]
		v, has := f.values[name]
		if strings.HasPrefix(m, "$$") {
			if has {
				return m[1:]
			}
			return m
		}
		if !has {
			return m
		}
		return textOf(v)
	})
}

// filledNode is the value of a scalar that is only a placeholder. Quoted in the
// template it is text, unless the field's type says otherwise later.
func filledNode(v any, from *node) *node {
	if l, ok := v.([]any); ok {
		out := &node{kind: listNode, line: from.line, column: from.column}
		for _, item := range l {
			out.items = append(out.items, &node{line: from.line, column: from.column, value: item, filled: true, text: textOf(item)})
		}
		return out
	}
	return &node{line: from.line, column: from.column, value: v, filled: true, text: textOf(v), quoted: from.quoted}
}
