package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

const nameForm = `[A-Za-z_][A-Za-z0-9_]*`

// A second $ in front keeps a placeholder as text. The groups: a name in braces,
// what stands in its place when nobody gives a value (with the sign in front of
// it), a bare name.
var (
	// Placeholder matches ${NAME} and $NAME.
	Placeholder = pattern.Lazy(`\$?\$(?:\{(` + nameForm + `)()\}|(` + nameForm + `))`)
	// withDefault matches ${NAME:-DEFAULT} and ${NAME-DEFAULT} too.
	withDefault = pattern.Lazy(`\$?\$(?:\{(` + nameForm + `)(:?-[^${}\n]*)?\}|(` + nameForm + `))`)
	// ShellForm matches those and what else a shell makes of a variable.
	ShellForm = pattern.Lazy(`\$?\$\{(` + nameForm + `)[^A-Za-z0-9_}][^}]*\}`)
)

// Mention is a placeholder in a text.
type Mention struct {
	Text, Name string
	// Or is what it stands for when nobody gives a value, as it is written: :-DEFAULT
	// or -DEFAULT, "" where nothing is.
	Or string
}

// Mentioned returns the placeholder of a match by its groups.
func Mentioned(groups []string) Mention { return Mention{groups[0], groups[1] + groups[3], groups[2]} }

// Kept reports whether the text only looks like a placeholder: $$NAME.
func (m Mention) Kept() bool { return strings.HasPrefix(m.Text, "$$") }

// Fallback returns the default of the placeholder.
func (m Mention) Fallback() string { return strings.TrimPrefix(strings.TrimPrefix(m.Or, ":"), "-") }

// Forms returns the expression for placeholders at a location. In scripts, and in text of several lines,
// ${RANK:-0} belongs to the shell and is not a placeholder.
func (p Location) Forms(text string) *regexp.Regexp {
	if p.Script || strings.Contains(text, "\n") {
		return Placeholder()
	}
	return withDefault()
}

// Mentions returns the placeholders in a text.
func (p Location) Mentions(s string) []Mention {
	if !strings.Contains(s, "$") {
		return nil
	}
	var out []Mention
	for _, g := range p.Forms(s).FindAllStringSubmatch(s, -1) {
		if m := Mentioned(g); !m.Kept() {
			out = append(out, m)
		}
	}
	return out
}

// Whole returns the placeholder if the text is nothing but a placeholder.
func (p Location) Whole(s string) (Mention, bool) {
	g := p.Forms(s).FindStringSubmatch(s)
	if g == nil || g[0] != s || strings.HasPrefix(s, "$$") {
		return Mention{}, false
	}
	return Mentioned(g), true
}

// Unfilled reports whether a text has a placeholder, in any location.
func Unfilled(s string) bool { return len(Location{}.Mentions(s)) > 0 }

// Location is where in an object a scalar is.
type Location struct {
	Path string
	// Script: shell lines, arguments, environment values and file contents, where
	// $NAME may be meant for a program rather than for the template.
	Script bool
}

// Field returns the location of a key of the map at p.
func (p Location) Field(key string) Location {
	script := p.Script
	switch key {
	case "command", "args", "data", "stringData", "binaryData", "annotations", "entrypoint", "runtimeEnvYAML", "rayStartParams":
		script = true
	case kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation:
		script = false // their values decide
	case "value":
		script = script || strings.HasSuffix(trimIndex(p.Path), ".env")
	}
	return Location{JoinPath(p.Path, key), script}
}

// Item returns the location of an item of the list at p.
func (p Location) Item(i int) Location {
	return Location{fmt.Sprintf("%s[%d]", p.Path, i), p.Script}
}

func trimIndex(path string) string {
	if strings.HasSuffix(path, "]") {
		return path[:strings.LastIndex(path, "[")]
	}
	return path
}

// JoinPath returns the path of a map's key in the form that --set reads.
func JoinPath(path, key string) string {
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

// VisitKeys calls f for every key of a map.
func VisitKeys(n *Node, at Location, f func(fl Field, at Location)) {
	for _, fl := range n.Fields {
		f(fl, at)
		VisitKeys(fl.Value, at.Field(fl.Key), f)
	}
	for i, item := range n.Items {
		VisitKeys(item, at.Item(i), f)
	}
}

// Visit calls f for every scalar.
func Visit(n *Node, at Location, f func(n *Node, at Location)) {
	switch n.Kind {
	case MapNode:
		for _, fl := range n.Fields {
			Visit(fl.Value, at.Field(fl.Key), f)
		}
	case ListNode:
		for i, item := range n.Items {
			Visit(item, at.Item(i), f)
		}
	default:
		f(n, at)
	}
}

// ForeignForms returns the shell syntax in a text that no shell reads.
func (p Location) ForeignForms(text string) []string {
	if p.Forms(text) == Placeholder() || !strings.Contains(text, "${") {
		return nil
	}
	return slices.DeleteFunc(ShellForm().FindAllString(text, -1), func(form string) bool {
		_, understood := p.Whole(form)
		return understood || strings.HasPrefix(form, "$$")
	})
}
