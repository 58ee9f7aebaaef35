package templates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

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
