package output

import (
	"bytes"
	"fmt"
	"strings"
)

// Screen shows a text that changes. On a terminal it is redrawn in place, cut to its lines and columns; elsewhere the
// caller needs another form.
type Screen struct {
	io    *IO
	lines int
}

// NewScreen returns an empty screen.
func NewScreen(s *IO) *Screen { return &Screen{io: s} }

// Redraws reports whether a text can be replaced in place.
func (c *Screen) Redraws() bool { return c.io.OutTTY && c.io.Cursor }

// Update draws a text over the one before. It returns errors of writing to Out.
func (c *Screen) Update(text string) error {
	c.io.remeasure()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if room := max(c.io.Height-2, 1); c.io.Height > 0 && len(lines) > room {
		more := len(lines) - room
		lines = append(lines[:room:room], c.io.Paint(Dim, fmt.Sprintf("and %d more lines", more)))
	}
	var b bytes.Buffer
	if c.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", c.lines)
	}
	// A line that wraps could not be drawn over, so it is cut at the edge.
	b.WriteString("\x1b[?7l")
	for _, l := range lines {
		b.WriteString("\x1b[2K" + l + "\n")
	}
	b.WriteString("\x1b[J\x1b[?7h")
	c.lines = len(lines)
	_, err := c.io.Out.Write(b.Bytes())
	return err
}
