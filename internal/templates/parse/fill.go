package parse

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// findPlaceholders adds a parameter for each undeclared placeholder at a place where only a parameter makes
// sense, and records all other placeholders. It returns faults in the defaults of placeholders, and shell
// syntax in text that no shell reads.
func (t *Template) findPlaceholders() []error {
	var faults []error
	seen, stated := map[string]bool{}, map[string]manifest.Mention{}
	find := func(text string, line, column int, at manifest.Location) {
		for _, m := range at.Mentions(text) {
			if !seen[m.Name] {
				seen[m.Name] = true
				t.Mentioned = append(t.Mentioned, m.Name)
			}
			i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == m.Name })
			if i < 0 && !at.Script {
				i = len(t.Params)
				t.Params = append(t.Params, Param{Name: m.Name, Required: true, Flag: setting.FlagOfPlaceholder(m.Name), Line: line})
			}
			if m.Or == "" {
				continue
			}
			if before, twice := stated[m.Name]; twice && before.Fallback() != m.Fallback() {
				faults = append(faults, manifest.Faultf(line, "%s and %s give one parameter two defaults", before.Text, manifest.Clip(m.Text)).Col(column))
				continue
			}
			stated[m.Name] = m
			if err := t.Params[i].takeDefault(m); err != nil {
				faults = append(faults, manifest.Faultf(line, "%s: invalid default: %v", manifest.Clip(m.Text), err).Col(column))
			}
		}
		for _, form := range at.ForeignForms(text) {
			faults = append(faults, manifest.Faultf(line, "%s is shell syntax and no shell reads it here; use ${NAME} or ${NAME:-DEFAULT}", manifest.Clip(form)).Col(column))
		}
	}
	for _, d := range t.Docs {
		manifest.Visit(d, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
			before := len(faults)
			find(n.Str(), n.Line, n.Column, at)
			n.Faulty = n.Faulty || len(faults) > before
		})
		manifest.VisitKeys(d, manifest.Location{}, func(fl manifest.Field, at manifest.Location) { find(fl.Key, fl.Line, fl.Column, at) })
	}
	return faults
}

// takeDefault gives a parameter the default of its placeholder. A default in the header wins.
func (p *Param) takeDefault(m manifest.Mention) error {
	if p.Default != nil || p.Declared && p.Required {
		return nil
	}
	v, err := p.Convert(m.Fallback())
	if err == nil {
		p.SetDefault(v)
		p.Required = false
	}
	return err
}

var environmentName = pattern.Lazy(`\.env\[\d+\]\.name$`)

// ShellNotes returns a note for each ${NAME:-DEFAULT} in a script that has the name of a parameter: it stays as
// it is, which the author may not expect. There is no note for variables of the container itself, which the
// shell replaces.
func (t *Template) ShellNotes(d *manifest.Node) []string {
	var own, out []string
	manifest.Visit(d, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
		if environmentName().MatchString(at.Path) {
			own = append(own, n.Str())
		}
	})
	manifest.Visit(d, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
		if at.Forms(n.Str()) != manifest.Placeholder() {
			return
		}
		for _, g := range manifest.ShellForm().FindAllStringSubmatch(n.Str(), -1) {
			if !strings.HasPrefix(g[0], "$$") && t.Knows(g[1]) && !slices.Contains(own, g[1]) {
				out = append(out, fmt.Sprintf("%s in %s is left to the shell; use ${%s} for the value of the parameter", manifest.Clip(g[0]), at.Path, g[1]))
			}
		}
	})
	return out
}

// Filler replaces placeholders in documents.
type Filler struct {
	Values map[string]any
	Faults []error
	filled int // bytes of the values that were filled in
}

// mostFilled limits the bytes of all inserted values: a small template can mention a long value thousands of
// times.
const mostFilled = 4 * manifest.MaxBytes

// fits reports whether a value is still within that limit. The first value that is not is a fault.
func (f *Filler) fits(text string) bool {
	if f.filled > mostFilled {
		return false
	}
	if f.filled += len(text); f.filled > mostFilled {
		f.Faults = append(f.Faults, manifest.Faultf(0, "the placeholders' values are larger than %d MiB together; Kubernetes accepts objects of up to %.1f MiB", mostFilled>>20, float64(manifest.MaxObject)/(1<<20)))
		return false
	}
	return true
}

// Fill returns a copy of the tree with the placeholders replaced.
func (f *Filler) Fill(n *manifest.Node, at manifest.Location) *manifest.Node {
	switch n.Kind {
	case manifest.MapNode:
		out := &manifest.Node{Kind: manifest.MapNode, Line: n.Line, Column: n.Column, Faulty: n.Faulty, Twice: n.Twice, Fields: make([]manifest.Field, 0, len(n.Fields))}
		for _, fl := range n.Fields {
			key := f.key(fl, n, at)
			out.Fields = append(out.Fields, manifest.Field{Key: key, Line: fl.Line, Column: fl.Column, Value: f.Fill(fl.Value, at.Field(key))})
		}
		return out
	case manifest.ListNode:
		out := &manifest.Node{Kind: manifest.ListNode, Line: n.Line, Column: n.Column, Faulty: n.Faulty, Twice: n.Twice, Items: make([]*manifest.Node, 0, len(n.Items))}
		for i, item := range n.Items {
			v := f.Fill(item, at.Item(i))
			if v.Kind == manifest.ListNode && item.Kind == manifest.ScalarNode {
				out.Items = append(out.Items, v.Items...) // a list among items adds its items
				continue
			}
			out.Items = append(out.Items, v)
		}
		return out
	}
	s := n.Str()
	if n.Faulty || !strings.Contains(s, "$") {
		same := *n // the template itself is never changed
		return &same
	}
	return f.fillScalar(n, s, at)
}

func (f *Filler) fillScalar(n *manifest.Node, s string, at manifest.Location) *manifest.Node {
	if m, ok := at.Whole(s); ok {
		if v, has := f.value(m); has && f.fits(manifest.TextOf(v)) {
			return filledNode(v, n)
		}
		same := *n
		return &same
	}
	return &manifest.Node{Line: n.Line, Column: n.Column, Value: f.replaced(s, at), Quoted: true}
}

// value returns the value of a placeholder. As in a shell, ${NAME:-DEFAULT} also replaces an empty value.
func (f *Filler) value(m manifest.Mention) (any, bool) {
	v, has := f.Values[m.Name]
	if empty, isText := v.(string); has && isText && empty == "" && strings.HasPrefix(m.Or, ":") {
		return manifest.AsWritten(m.Fallback()), true
	}
	return v, has
}

// key replaces placeholders in the key of a map, such as the name of a resource. The result must be one line
// and differ from the other keys.
func (f *Filler) key(fl manifest.Field, n *manifest.Node, at manifest.Location) string {
	if len(at.Mentions(fl.Key)) == 0 {
		return fl.Key
	}
	key := f.replaced(fl.Key, at)
	switch {
	case key == fl.Key:
	case key == "" || strings.ContainsFunc(key, unicode.IsControl):
		f.Faults = append(f.Faults, manifest.Faultf(fl.Line, "key %s becomes %s, which is not a valid key", manifest.Clip(fl.Key), manifest.QuoteText(key)).Col(fl.Column))
	case n.Get(key) != nil:
		f.Faults = append(f.Faults, manifest.Faultf(fl.Line, "key %s becomes %s, which exists already", manifest.Clip(fl.Key), manifest.QuoteText(key)).Col(fl.Column))
	}
	return key
}

// replaced returns a text with its placeholders replaced.
func (f *Filler) replaced(s string, at manifest.Location) string {
	forms := at.Forms(s)
	return forms.ReplaceAllStringFunc(s, func(text string) string {
		m := manifest.Mentioned(forms.FindStringSubmatch(text))
		v, has := f.value(m)
		switch {
		case !has:
			return text
		case m.Kept():
			return text[1:]
		}
		if value := manifest.TextOf(v); f.fits(value) {
			return value
		}
		return text
	})
}

// filledNode returns the node for a scalar that is only a placeholder. If it is quoted in the template it is
// text, unless the type of the field differs.
func filledNode(v any, from *manifest.Node) *manifest.Node {
	if l, ok := v.([]any); ok {
		out := &manifest.Node{Kind: manifest.ListNode, Line: from.Line, Column: from.Column}
		for _, item := range l {
			out.Items = append(out.Items, &manifest.Node{Line: from.Line, Column: from.Column, Value: manifest.PlainOf(item), Filled: true, Text: manifest.TextOf(item)})
		}
		return out
	}
	return &manifest.Node{Line: from.Line, Column: from.Column, Value: manifest.PlainOf(v), Filled: true, Text: manifest.TextOf(v), Quoted: from.Quoted}
}
