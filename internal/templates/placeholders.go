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
