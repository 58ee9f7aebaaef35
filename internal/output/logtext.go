package output

import (
	"bytes"
	"hash/fnv"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// hues are colors to tell things apart by; red is left to what failed.
var hues = [...]escapes{
	look(lipgloss.NewStyle().Foreground(lipgloss.Cyan)),
	look(lipgloss.NewStyle().Foreground(lipgloss.Green)),
	look(lipgloss.NewStyle().Foreground(lipgloss.Magenta)),
	look(lipgloss.NewStyle().Foreground(lipgloss.Yellow)),
	look(lipgloss.NewStyle().Foreground(lipgloss.Blue)),
	look(lipgloss.NewStyle().Foreground(lipgloss.BrightCyan)),
	look(lipgloss.NewStyle().Foreground(lipgloss.BrightGreen)),
	look(lipgloss.NewStyle().Foreground(lipgloss.BrightMagenta)),
	look(lipgloss.NewStyle().Foreground(lipgloss.BrightYellow)),
	look(lipgloss.NewStyle().Foreground(lipgloss.BrightBlue)),
}

// Hue returns a name in a color for Out, always in the same one; unchanged if Out has no color.
func (s *IO) Hue(name string) string {
	if !s.Color || name == "" {
		return name
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	e := hues[h.Sum32()%uint32(len(hues))]
	return e.before + name + e.after
}

// AppendLog appends the text of a program's output to b as a terminal may show it:
// like Safe, but tabs stay, and so do the colors that the program chose, where
// color allows any; without, they are left out. An incomplete character or escape
// sequence at the end is returned as rest, when more is to come.
func AppendLog(b, text []byte, color, more bool) (out, rest []byte) {
	for i := 0; i < len(text); {
		if c := text[i]; c >= 0x20 && c < 0x7F || c == '\t' {
			b = append(b, c)
			i++
			continue
		}
		if more && cutOff(text[i:]) {
			return b, text[i:]
		}
		if n := colorSequence(text[i:]); n > 0 {
			if color {
				b = append(b, text[i:i+n]...)
			}
			i += n
			continue
		}
		_, n := utf8.DecodeRune(text[i:])
		b = append(b, Safe(string(text[i:i+n]))...)
		i += n
	}
	return b, nil
}

// resetColor ends the colors of a text.
const resetColor = "\x1b[0m"

// AppendColorReset appends what ends the colors of a text of AppendLog, if it
// has any.
func AppendColorReset(b, text []byte) []byte {
	if bytes.IndexByte(text, 0x1B) < 0 {
		return b
	}
	return append(b, resetColor...)
}

// maxSequence is the longest color sequence that is understood.
const maxSequence = 32

// cutOff reports whether b is the beginning of a character or of a color sequence.
func cutOff(b []byte) bool {
	if b[0] != 0x1B {
		return !utf8.FullRune(b)
	}
	for i, c := range b[1:] {
		if i == 0 && c != '[' || i > 0 && !parameter(c) || i >= maxSequence {
			return false
		}
	}
	return true
}

func parameter(c byte) bool { return c >= '0' && c <= '9' || c == ';' || c == ':' }

// colorSequence returns the length of the escape sequence for colors (SGR) at
// the beginning of b; 0 when it is none, or one that could hide text.
func colorSequence(b []byte) int {
	if len(b) < 3 || b[0] != 0x1B || b[1] != '[' {
		return 0
	}
	n := 0 // the value of the parameter so far
	hidden := false
	colors := 0 // parameters to come that belong to 38 or 48
	for i, c := range b[2:min(len(b), maxSequence)] {
		switch {
		case c >= '0' && c <= '9':
			n = min(n*10+int(c-'0'), 999)
			continue
		case c != ';' && c != ':' && c != 'm':
			return 0
		}
		switch {
		case colors == 1 && n == 5:
			colors = -1 // one more
		case colors == 1 && n == 2:
			colors = -3
		case colors < 0:
			colors++
		case n == 38 || n == 48:
			colors = 1
		default:
			hidden = hidden || n == 8 || n == 5 || n == 6
		}
		n = 0
		if c == 'm' {
			if hidden {
				return 0
			}
			return i + 3
		}
	}
	return 0
}
