package output

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// screen is a terminal that knows what live tables and progress lines send.
type screen struct {
	t             *testing.T
	width, height int
	lines         [][]string // a wide character fills two places, the second empty
	row, column   int
	wrapped       bool // the last column is filled and the next character wraps
	cut           bool // characters beyond the last column overwrite it
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, width: width, height: height, lines: [][]string{nil}}
}

var sequence = regexp.MustCompile("^\x1b\\[([?0-9;]*)([A-Za-z])")

// Write understands CR, LF, cursor up, erase line, erase below and colors; all
// else is an error.
func (s *screen) Write(p []byte) (int, error) {
	s.t.Helper()
	text := string(p)
	for text != "" {
		switch {
		case text[0] == '\r':
			s.column, s.wrapped = 0, false
			text = text[1:]
		case text[0] == '\n':
			s.down()
			s.column, s.wrapped = 0, false
			text = text[1:]
		case text[0] == '\x1b':
			m := sequence.FindStringSubmatch(text)
			if m == nil {
				s.t.Fatalf("unknown sequence at %q", text)
			}
			s.control(m[1], m[2])
			text = text[len(m[0]):]
		default:
			g := displaywidth.StringGraphemes(text)
			g.Next()
			s.put(g.Value(), g.Width())
			text = text[len(g.Value()):]
		}
	}
	return len(p), nil
}

func (s *screen) control(number, letter string) {
	n, _ := strconv.Atoi(number)
	switch letter {
	case "A":
		if s.row-n < max(0, len(s.lines)-s.height) {
			s.t.Errorf("cursor leaves the top of the screen")
		}
		s.row, s.wrapped = max(s.row-n, 0), false
	case "K":
		s.lines[s.row] = nil
	case "H":
		s.row, s.column, s.wrapped = max(0, len(s.lines)-s.height), 0, false
	case "J":
		if number == "2" {
			for i := max(0, len(s.lines)-s.height); i < len(s.lines); i++ {
				s.lines[i] = nil
			}
			return
		}
		s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
		s.lines = s.lines[:s.row+1]
	case "h", "l":
		if number != "?7" {
			s.t.Fatalf("unknown mode %q", number)
		}
		s.cut = letter == "l"
	case "m":
	default:
		s.t.Fatalf("unknown sequence %q", letter)
	}
}

func (s *screen) down() {
	s.row++
	if s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) put(text string, width int) {
	if s.cut && (s.wrapped || s.column+width > s.width) {
		s.column, s.wrapped = s.width-width, false
	}
	if s.wrapped || s.column+width > s.width {
		s.down()
		s.column, s.wrapped = 0, false
	}
	line := s.lines[s.row]
	for len(line) < s.column+width {
		line = append(line, " ")
	}
	line[s.column] = text
	for i := 1; i < width; i++ {
		line[s.column+i] = ""
	}
	s.lines[s.row] = line
	s.column += width
	if s.column == s.width {
		s.column, s.wrapped = s.width-1, true
	}
}

func (s *screen) String() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(strings.TrimRight(strings.Join(l, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
