package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

const nameForm = `[A-Za-z_][A-Za-z0-9_]*`

// A second $ in front keeps a placeholder as text. The groups: a name in braces,
// what stands in its place when nobody gives a value (with the sign in front of
// it), a bare name.
var (
	// placeholder matches ${NAME} and $NAME.
	placeholder = regexp.MustCompile(`\$?\$(?:\{(` + nameForm + `)()\}|(` + nameForm + `))`)
	// withDefault matches ${NAME:-DEFAULT} and ${NAME-DEFAULT} too.
	withDefault = regexp.MustCompile(`\$?\$(?:\{(` + nameForm + `)(:?-[^${}\n]*)?\}|(` + nameForm + `))`)
	// shellForm matches those and what else a shell makes of a variable.
	shellForm = regexp.MustCompile(`\$?\$\{(` + nameForm + `)[^A-Za-z0-9_}][^}]*\}`)
)

// mention is a placeholder in a text.
type mention struct {
	text, name string
	// or is what it stands for when nobody gives a value, as it is written: :-DEFAULT
	// or -DEFAULT, "" where nothing is.
	or string
}

func mentioned(groups []string) mention { return mention{groups[0], groups[1] + groups[3], groups[2]} }

// kept tells text that only looks like a placeholder: $$NAME.
func (m mention) kept() bool { return strings.HasPrefix(m.text, "$$") }

// fallback is the default that the placeholder itself states.
func (m mention) fallback() string { return strings.TrimPrefix(strings.TrimPrefix(m.or, ":"), "-") }

// forms is what placeholders look like at a place. In scripts, and in text of
// several lines, a default is the shell's: ${RANK:-0} stays.
func (p place) forms(text string) *regexp.Regexp {
	if p.script || strings.Contains(text, "\n") {
		return placeholder
	}
	return withDefault
}

// mentions returns the placeholders in a text.
func (p place) mentions(s string) []mention {
	if !strings.Contains(s, "$") {
		return nil
	}
	var out []mention
	for _, g := range p.forms(s).FindAllStringSubmatch(s, -1) {
		if m := mentioned(g); !m.kept() {
			out = append(out, m)
		}
	}
	return out
}

// whole returns the placeholder when the text is one and nothing else.
func (p place) whole(s string) (mention, bool) {
	g := p.forms(s).FindStringSubmatch(s)
	if g == nil || g[0] != s || strings.HasPrefix(s, "$$") {
		return mention{}, false
	}
	return mentioned(g), true
}

// unfilled tells text with a placeholder, wherever it stands.
func unfilled(s string) bool { return len(place{}.mentions(s)) > 0 }

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
// that stand where only a parameter makes sense, and notes all others. It returns
// the faults of defaults that placeholders state, and of forms that only a shell
// understands.
func (t *Template) findPlaceholders() []error {
	var faults []error
	seen, stated := map[string]bool{}, map[string]mention{}
	find := func(text string, line, column int, at place) {
		for _, m := range at.mentions(text) {
			if !seen[m.name] {
				seen[m.name] = true
				t.mentioned = append(t.mentioned, m.name)
			}
			i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == m.name })
			if i < 0 && !at.script {
				i = len(t.Params)
				t.Params = append(t.Params, Param{Name: m.name, Required: true, Flag: flagFor(m.name), line: line})
			}
			if m.or == "" {
				continue
			}
			if before, twice := stated[m.name]; twice && before.or != m.or {
				faults = append(faults, faultf(line, "%s and %s are two defaults of one parameter", before.text, clip(m.text)).col(column))
				continue
			}
			stated[m.name] = m
			if err := t.Params[i].takeDefault(m); err != nil {
				faults = append(faults, faultf(line, "%s: its default is wrong: %v", clip(m.text), err).col(column))
			}
		}
		for _, form := range at.foreignForms(text) {
			faults = append(faults, faultf(line, "%s is for a shell, and none reads it here; ${NAME} and ${NAME:-DEFAULT} are filled in", clip(form)).col(column))
		}
	}
	for _, d := range t.docs {
		visit(d, place{}, func(n *node, at place) { find(n.str(), n.line, n.column, at) })
		visitKeys(d, place{}, func(fl field, at place) { find(fl.key, fl.line, fl.column, at) })
	}
	return faults
}

// takeDefault gives a parameter the default that its placeholder states. What the
// header says wins.
func (p *Param) takeDefault(m mention) error {
	if p.Default != nil || p.Declared && p.Required {
		return nil
	}
	v, err := p.convert(m.fallback())
	if err == nil {
		p.setDefault(v)
		p.Required = false
	}
	return err
}

// foreignForms are a shell's ways to write a variable that are not understood
// where no shell is.
func (p place) foreignForms(text string) []string {
	if p.forms(text) == placeholder || !strings.Contains(text, "${") {
		return nil
	}
	return slices.DeleteFunc(shellForm.FindAllString(text, -1), func(form string) bool {
		_, understood := p.whole(form)
		return understood || strings.HasPrefix(form, "$$")
	})
}

var environmentName = regexp.MustCompile(`\.env\[\d+\]\.name$`)

// shellsOwn are the ${NAME:-DEFAULT} of scripts that have the name of a parameter:
// they stay, and whoever wrote them may have meant otherwise. A shell finds those of
// its container's environment by itself.
func (t *Template) shellsOwn(d *node) []string {
	var own, out []string
	visit(d, place{}, func(n *node, at place) {
		if environmentName.MatchString(at.path) {
			own = append(own, n.str())
		}
	})
	visit(d, place{}, func(n *node, at place) {
		if at.forms(n.str()) != placeholder {
			return
		}
		for _, g := range shellForm.FindAllStringSubmatch(n.str(), -1) {
			if !strings.HasPrefix(g[0], "$$") && t.knows(g[1]) && !slices.Contains(own, g[1]) {
				out = append(out, fmt.Sprintf("%s stays as it is in %s, for the shell; ${%s} is filled in", clip(g[0]), at.path, g[1]))
			}
		}
	})
	return out
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
			key := f.key(fl, n, at)
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
	return f.fillScalar(n, s, at)
}

func (f *filler) fillScalar(n *node, s string, at place) *node {
	if m, ok := at.whole(s); ok {
		if v, has := f.value(m); has {
			return filledNode(v, n)
		}
		same := *n
		return &same
	}
	return &node{line: n.line, column: n.column, value: f.replaced(s, at), quoted: true}
}

// value is what a placeholder stands for. As in a shell, ${NAME:-DEFAULT} is the
// default where the value is empty.
func (f *filler) value(m mention) (any, bool) {
	v, has := f.values[m.name]
	if empty, isText := v.(string); has && isText && empty == "" && strings.HasPrefix(m.or, ":") {
		return asWritten(m.fallback()), true
	}
	return v, has
}

// key fills in the key of a map, such as the name of a resource. It stays one key:
// no other has its name, and it is one line.
func (f *filler) key(fl field, n *node, at place) string {
	if len(at.mentions(fl.key)) == 0 {
		return fl.key
	}
	key := f.replaced(fl.key, at)
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
func (f *filler) replaced(s string, at place) string {
	forms := at.forms(s)
	return forms.ReplaceAllStringFunc(s, func(text string) string {
		m := mentioned(forms.FindStringSubmatch(text))
		v, has := f.value(m)
		switch {
		case !has:
			return text
		case m.kept():
			return text[1:]
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
			out.items = append(out.items, &node{line: from.line, column: from.column, value: plainOf(item), filled: true, text: textOf(item)})
		}
		return out
	}
	return &node{line: from.line, column: from.column, value: plainOf(v), filled: true, text: textOf(v), quoted: from.quoted}
}
