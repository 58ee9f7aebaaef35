package main

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown reads what GitHub shows: tables, and an anchor for each heading. HTML in the text is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// parse reads a page and gives its headings the anchors that GitHub gives them.
func parse(source []byte) *page {
	ids := anchors{}
	p := &page{source: source, anchors: ids}
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	for n := p.tree.FirstChild(); n != nil && p.title == ""; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
			p.title = string(h.Lines().Value(source))
		}
	}
	return p
}

// anchors are the anchors of a page. It implements parser.IDs.
type anchors map[string]bool

// Generate returns the anchor of a heading: its letters and digits in lower case, "-" for a space, and a number where
// the page has it already.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	id := b.String()
	for i := 1; a[id]; i++ {
		id = fmt.Sprintf("%s-%d", b.String(), i)
	}
	a[id] = true
	return []byte(id)
}

// Put records an anchor that the text names itself.
func (a anchors) Put(value []byte) { a[string(value)] = true }

// frame returns a page of the site: the same header on each, styles for light and dark screens, no scripts. top is the
// way to the first page.
func frame(title, top string, body []byte) []byte {
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root { color-scheme: light dark; --line: #8885; --back: #8881; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 0 1rem 4rem; }
header { border-bottom: 1px solid var(--line); padding: .8rem 0; display: flex; gap: 1.5rem; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .86em; }
pre { background: var(--back); padding: .8rem; overflow-x: auto; border-radius: 6px; }
:not(pre) > code { background: var(--back); padding: .1em .3em; border-radius: 4px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%%; }
</style>
</head>
<body>
<header><strong>hyperpod</strong><a href="%[2]sindex.html">README</a><a href="%[2]sdocs/index.html">Documentation</a><a href="%[2]sdocs/tutorials/index.html">Tutorials</a><a href="%[2]sdocs/commands.html">Commands</a></header>
<main>
%[3]s</main>
</body>
</html>
`, html.EscapeString(title), top, body)
}
