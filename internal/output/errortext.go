package output

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// ErrorText renders an error for Err as [IO.Lines] does.
func (s *IO) ErrorText(err error, debug bool) string { return s.Lines(errs.Lines(err, debug)) }

// Lines renders lines for Err, safe to print. On a terminal they are broken at blanks to its width, and continue below
// their text. A command line to paste stays whole: what is too long for its line is moved above or below it.
func (s *IO) Lines(list []errs.Line) string {
	var b strings.Builder
	for _, l := range list {
		l.Head, l.Text, l.Note = Safe(l.Head), SafeLines(l.Text), SafeLines(l.Note)
		for _, line := range broken(l, s.ErrWidth()) {
			b.WriteString(line.String() + "\n")
		}
	}
	return b.String()
}

// ErrWidth returns the number of columns if Err is a terminal, otherwise 0.
func (s *IO) ErrWidth() int {
	if !s.ErrTTY {
		return 0
	}
	return s.Width
}

// broken breaks a line into lines of at most width columns.
func broken(l errs.Line, width int) (out []errs.Line) {
	if width <= 0 || displaywidth.String(l.String()) <= width {
		return []errs.Line{l}
	}
	indent := displaywidth.String(l.Head)
	if indent > width/3 { // a sentence, not a label
		for _, text := range WrapText(l.Head, width) {
			out = append(out, errs.Line{Head: text})
		}
		indent = 2
		l.Head = strings.Repeat(" ", indent)
	}
	below := strings.Repeat(" ", indent)
	if l.Pasted {
		out = append(out, errs.Line{Head: l.Head, Text: l.Text})
		if l.Note != "" {
			for _, text := range WrapText(l.Note, width-indent-2) {
				out = append(out, errs.Line{Head: below + "# ", Text: text})
			}
		}
		return out
	}
	head := l.Head
	for _, text := range WrapText(l.Text, width-indent) {
		out = append(out, errs.Line{Head: head, Text: text})
		head = below
	}
	return out
}
