package output

import (
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Progress is the line on stderr that shows what a command waits for. On a terminal it is redrawn in place, with the
// time since the text last changed; elsewhere each new text is a line. With --quiet it is silent. It needs no goroutine:
// call Update for every new text, and regularly so that the time advances.
type Progress struct {
	out    io.Writer
	inline bool
	quiet  bool
	width  int
	color  bool
	now    func() time.Time

	text  string
	texts []string // and what stands for it where it is too long, longest first
	since time.Time
	drawn int // columns of the line on the screen
}

// showAfter is how long a text stands before its time is shown.
const showAfter = 2 * time.Second

// NewProgress returns a progress line.
func NewProgress(s *IO) *Progress {
	return &Progress{out: s.Err, inline: s.ErrTTY, quiet: s.Quiet, width: s.Width, color: s.ErrColor, now: s.Now}
}

// Update shows a text. It may be called often. On a terminal that is too narrow for the text, it shows the longest of
// the shorter texts that fits.
func (p *Progress) Update(text string, shorter ...string) {
	if p.quiet {
		return
	}
	p.texts = p.texts[:0]
	for _, t := range append([]string{text}, shorter...) {
		p.texts = append(p.texts, Safe(t))
	}
	text = p.texts[0]
	if text != p.text {
		p.text, p.since = text, p.now()
		if !p.inline {
			_, _ = io.WriteString(p.out, text+"\n")
		}
	}
	if p.inline {
		p.draw()
	}
}

// Above lets print write whole lines to the same place, above the progress line.
func (p *Progress) Above(print func()) {
	p.clear()
	print()
	if p.inline && p.text != "" {
		p.draw()
	}
}

// Done removes the line and, if last is not empty, prints last instead.
func (p *Progress) Done(last string) {
	p.clear()
	p.text = ""
	if last != "" && !p.quiet {
		width := 0
		if p.inline {
			width = p.width
		}
		_, _ = io.WriteString(p.out, strings.Join(Sentences([]string{last}, width), "\n")+"\n")
	}
}

// draw writes over the line with carriage return and blanks, which every
// terminal understands and NO_COLOR does not forbid.
func (p *Progress) draw() {
	passed := ""
	if waited := p.now().Sub(p.since); waited >= showAfter {
		passed = "  " + words.Age(waited)
	}
	text, passed := p.fit(passed)
	width := displaywidth.String(text + passed)
	blanks := strings.Repeat(" ", max(p.drawn-width, 0))
	_, _ = io.WriteString(p.out, "\r"+text+paint(Dim, passed, p.color)+blanks)
	p.drawn = width
}

// fit chooses the longest text that has room, with the time that has passed if that
// is possible. The time is the first to go: what is cut is cut at the end.
func (p *Progress) fit(passed string) (text, behind string) {
	for _, behind := range []string{passed, ""} {
		for _, text := range p.texts {
			if p.width <= 0 || displaywidth.String(text+behind) < p.width {
				return text, behind
			}
		}
	}
	return truncate(p.texts[len(p.texts)-1], max(p.width-1, 0), "..."), ""
}

// Stays reports whether the last text remains on a line of its own, so that nothing overwrites it.
func (p *Progress) Stays() bool { return !p.inline && !p.quiet && p.text != "" }

func (p *Progress) clear() {
	if p.drawn > 0 {
		_, _ = io.WriteString(p.out, "\r"+strings.Repeat(" ", p.drawn)+"\r")
		p.drawn = 0
	}
}
