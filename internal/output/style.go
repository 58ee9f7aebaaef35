package output

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Style is the meaning of a text. This package decides how it looks, with the terminal's own 16 colors, which
// its owner has made readable on their background.
type Style int

// The styles.
const (
	Plain  Style = iota
	Good         // going well: running, succeeded
	Warn         // worth a look: preempted, nearly full
	Bad          // failed, never
	Dim          // less important
	Accent       // stands out: in motion, the thing asked for
	Strong       // titles
)

// escapes are the sequences before and after a text of a style.
type escapes struct{ before, after string }

// looks holds the escapes of each style. A style is rendered once, around a
// mark: to render every cell of a long list would cost more than all the rest.
var looks = [...]escapes{
	Good:   look(lipgloss.NewStyle().Foreground(lipgloss.Green)),
	Warn:   look(lipgloss.NewStyle().Foreground(lipgloss.Yellow)),
	Bad:    look(lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)),
	Dim:    look(lipgloss.NewStyle().Faint(true)),
	Accent: look(lipgloss.NewStyle().Foreground(lipgloss.Cyan)),
	Strong: look(lipgloss.NewStyle().Bold(true)),
}

func look(s lipgloss.Style) escapes {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return escapes{before, after}
}

// paint wraps a text in the escapes of a style.
func paint(s Style, text string, color bool) string {
	if !color || text == "" || s <= Plain || int(s) >= len(looks) {
		return text
	}
	return looks[s].before + text + looks[s].after
}

// Paint returns a text in a style for Out: unchanged where Out has no color.
func (s *IO) Paint(style Style, text string) string { return paint(style, text, s.Color) }
