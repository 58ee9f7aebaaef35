// Package textpage lays out answers for people: lines of a short label
// and a text, wrapped at words.
package textpage

import (
	"strings"
	"unicode/utf8"
)

// Page collects lines. Create it with [New].
type Page struct {
	width  int
	labels int // columns of the labels, with the spaces around them
	b      strings.Builder
	gap    bool // an empty line comes before the next one
}

// New returns an empty page of width columns; 0 is unlimited. Its labels have at most 9 characters.
func New(width int) *Page { return WithLabels(width, 9) }

// WithLabels is [New] with labels of at most longest characters.
func WithLabels(width, longest int) *Page { return &Page{width: width, labels: longest + 3} }

// Row adds a line with a label; further lines of the text are indented alike.
func (p *Page) Row(label, text string) {
	indent := strings.Repeat(" ", p.labels)
	first := "  " + label + strings.Repeat(" ", max(p.labels-2-len(label), 1))
	p.wrap(first, indent, text)
}

// Command adds a command to be copied: on a line of its own, and never broken.
func (p *Page) Command(text string) {
	p.write(strings.Repeat(" ", p.labels) + "  " + text)
}

// Line adds text from the left edge. Long text continues below, indented.
func (p *Page) Line(text string) { p.wrap("", "  ", text) }

// Blank adds an empty line between what is above and what follows. Several are one, and the page does not end with one.
func (p *Page) Blank() { p.gap = true }

func (p *Page) write(line string) {
	if p.gap {
		p.b.WriteByte('\n')
	}
	p.gap = false
	p.b.WriteString(line + "\n")
}

// wrap breaks at single spaces; runs of spaces, which set columns apart, stay.
func (p *Page) wrap(first, indent, text string) {
	line, start := first, true
	used := utf8.RuneCountInString(first)
	for _, word := range strings.SplitAfter(text, " ") {
		n := utf8.RuneCountInString(strings.TrimRight(word, " "))
		if !start && p.width > 0 && used+n > p.width {
			p.write(strings.TrimRight(line, " "))
			line, used = indent, len(indent)
			word = strings.TrimLeft(word, " ")
		}
		line += word
		used += utf8.RuneCountInString(word)
		start = false
	}
	p.write(strings.TrimRight(line, " "))
}

// String returns the page, ending in a newline.
func (p *Page) String() string { return p.b.String() }
