package output

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// wrap breaks the texts of Wrap columns into lines as wide as their columns. A row
// that needs more than one gets rows below it that hold nothing else.
func (s *sheet) wrap() {
	var rows, below [][]Cell
	for n, row := range s.rows {
		block := [][]Cell{row}
		for j, c := range s.columns {
			if !c.Wrap || displaywidth.String(row[j].Text) <= s.widths[j] {
				continue
			}
			for i, line := range wrapText(row[j].Text, s.widths[j], splitWord) {
				if i == len(block) {
					block = append(block, make([]Cell, len(row)))
				}
				block[i][j] = Cell{Text: line, Style: row[j].Style}
			}
		}
		rows = append(rows, block...)
		if s.below != nil {
			below = append(append(below, make([][]Cell, len(block)-1)...), s.below[n])
		}
	}
	s.rows, s.below = rows, below
}

// leastBeside is the least room, in columns, for the sentences of a column that can be moved below the rows.
const leastBeside = 32

// lower moves the texts of a last column to lines below their rows if a terminal of width columns has little room for them.
func (s *sheet) lower(width int) {
	last := len(s.columns) - 1
	if last < 1 || !s.columns[last].Below {
		return
	}
	if room := width - s.width() + s.widths[last]; room >= min(leastBeside, s.widths[last]) {
		return
	}
	s.below = make([][]Cell, len(s.rows))
	for i, row := range s.rows {
		text := row[last]
		s.rows[i] = row[:last]
		if text.Text == "" {
			continue
		}
		for _, line := range WrapText("  "+text.Text, width) {
			s.below[i] = append(s.below[i], Cell{Text: line, Style: text.Style})
		}
	}
	s.columns, s.widths = s.columns[:last], s.widths[:last]
}

// Sentences returns texts as lines of at most width columns that are safe to print; 0 means no limit. They are broken at
// blanks only: a longer word, such as a path to copy, stays whole.
func Sentences(texts []string, width int) []string {
	var out []string
	for _, text := range texts {
		for line := range strings.SplitSeq(SafeLines(text), "\n") {
			out = append(out, WrapText(line, width)...)
		}
	}
	return out
}

// WrapText breaks a line of text at blanks into lines of at most width columns; 0 means no limit. A line that
// fits stays unchanged, and so does a word that is longer. Other lines keep the indentation of the original line.
func WrapText(text string, width int) []string {
	if width <= 0 || displaywidth.String(text) <= width {
		return []string{text}
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	if len(indent) >= width/2 {
		indent = ""
	}
	lines := wrapText(text, width-len(indent), nil)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// wrapText breaks a text at its blanks, and with split also the words that are too long.
func wrapText(text string, width int, split func(word string, width int) []string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && displaywidth.String(line)+1+displaywidth.String(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		if split != nil {
			parts := split(word, width)
			lines, word = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
		}
		line = word
	}
	return append(lines, line)
}

// splitWord breaks a word that is too long behind one of the characters that join names, else anywhere.
func splitWord(word string, width int) (parts []string) {
	for displaywidth.String(word) > width {
		head := displaywidth.TruncateString(word, width, "")
		if at := strings.LastIndexAny(head, "/-_,.:="); at >= len(head)/2 {
			head = head[:at+1]
		}
		if head == "" { // one character is wider than the column
			break
		}
		parts, word = append(parts, head), word[len(head):]
	}
	return append(parts, word)
}
