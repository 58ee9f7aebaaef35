package check

import (
	"strings"
	"unicode/utf8"
)

// page builds lines of a label and a text, wrapped at words.
type page struct {
	width int
	b     strings.Builder
	empty bool // the last line was empty
}

const labelWidth = 12

// row adds a line with a label; further lines of the text are indented alike.
func (p *page) row(label, text string) {
	indent := strings.Repeat(" ", labelWidth)
	first := "  " + label + strings.Repeat(" ", max(labelWidth-2-len(label), 1))
	p.wrap(first, indent, text)
}

// line adds text from the left edge; what does not fit goes on below, indented.
func (p *page) line(first, text string) { p.wrap(first, "  ", text) }

func (p *page) blank() {
	if !p.empty {
		p.b.WriteByte('\n')
	}
	p.empty = true
}

// wrap breaks at single spaces; runs of spaces, which set columns apart, stay.
func (p *page) wrap(first, indent, text string) {
	p.empty = false
	line, start := first, true
	used := utf8.RuneCountInString(first)
	for _, word := range strings.SplitAfter(text, " ") {
		n := utf8.RuneCountInString(strings.TrimRight(word, " "))
		if !start && p.width > 0 && used+n > p.width {
			p.b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, used = indent, len(indent)
			word = strings.TrimLeft(word, " ")
		}
		line += word
		used += utf8.RuneCountInString(word)
		start = false
	}
	p.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func (p *page) String() string { return p.b.String() }
