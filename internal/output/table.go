package output

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// MostRows is the number of rows of a table of teams, jobs or findings where there are many; -o wide and JSON have all.
const MostRows = 40

// Shortens reports whether a table of so many rows, one for each object, shows [MostRows] of them: on a terminal, where a person reads
// it. A pipe gets all rows, for other programs.
func (s *IO) Shortens(wide bool, rows int) bool { return s.OutTTY && !wide && rows > MostRows+1 }

// Column describes a column of a Table.
type Column struct {
	// Title is the header, as it is printed.
	Title string
	// Wide columns are printed by -o wide only.
	Wide bool
	// Right aligns the column to the right: numbers. It is never truncated.
	Right bool
	// Keep prevents truncation: for names that people copy.
	Keep bool
	// Wrap breaks a text that is too long into lines below each other, instead of
	// truncating it: sentences to be read. It is for tables that are printed once.
	Wrap bool
	// Below moves the texts of the last column to lines below their rows if the terminal has little room for them. It is for
	// tables that are printed once.
	Below bool
	// Bar columns hold the cells' bars; they take the remaining width.
	Bar bool
	// Yield columns are hidden if the terminal is too narrow, the highest first; a column with 0 stays. A line below the
	// table names them, bars aside.
	Yield int
	// Ticks marks texts that change by themselves (ages): a LiveTable does not count that as a change.
	Ticks bool
}

// Cell is a text and its meaning.
type Cell struct {
	Text  string
	Style Style
	// Bar is drawn in a Bar column, instead of the text; it must not change.
	Bar *Bar
}

// equal reports whether two cells show the same.
func (c Cell) equal(o Cell) bool {
	if c.Text != o.Text || c.Style != o.Style || (c.Bar == nil) != (o.Bar == nil) {
		return false
	}
	return c.Bar == nil || *c.Bar == *o.Bar
}

// Table is a list for people. Rows may be shorter than Columns.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	// Keys identify the rows of a LiveTable, one for each; without them, the first columns do.
	Keys []string
	// Empty is the notice, on stderr, when there are no rows ("no jobs in team-a").
	Empty string
	// Notes are printed below the rows; a terminal's break at blanks.
	Notes []string
	// NoHeader leaves out the titles of the columns.
	NoHeader bool
}

// T returns a plain cell for each text.
func T(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// gap is the number of blanks between columns.
const gap = 2

// sheet is a table made ready for printing: the columns that are shown, safe
// texts, and the display width of each column.
type sheet struct {
	columns []Column
	rows    [][]Cell
	widths  []int
	left    []string // titles of the columns that gave way
	below   [][]Cell // lines below each row, nil without a column that was moved there
}

// sheet chooses the columns and makes every text safe to print.
func (t Table) sheet(wide bool) sheet {
	var s sheet
	var shown []int
	for i, c := range t.Columns {
		if wide || !c.Wide {
			shown = append(shown, i)
			c.Title = cellText(c.Title)
			s.columns = append(s.columns, c)
			width := displaywidth.String(c.Title)
			if c.Bar {
				width = max(width, leastBar)
			}
			s.widths = append(s.widths, width)
		}
	}
	cells := make([]Cell, len(t.Rows)*len(shown))
	s.rows = make([][]Cell, len(t.Rows))
	for i, row := range t.Rows {
		line := cells[i*len(shown) : (i+1)*len(shown)]
		for j, from := range shown {
			if from < len(row) {
				line[j] = Cell{cellText(row[from].Text), row[from].Style, row[from].Bar}
				s.widths[j] = max(s.widths[j], displaywidth.String(line[j].Text))
			}
		}
		s.rows[i] = line
	}
	return s
}

// cellText is safe and has no blanks at its end, which nobody sees.
func cellText(s string) string { return strings.TrimRight(Safe(s), " ") }

// The least width that a column is truncated, or wrapped, to.
const (
	narrowest        = 8
	narrowestWrapped = 16
)

// fit wraps and truncates the widest text columns, the wrapped ones first, until a
// line is at most width columns wide; wrapped ones become very narrow only in the
// end. A column stays at least as wide as its title; where that is not enough, lines
// are too long and the terminal wraps them.
func (s *sheet) fit(width int, ellipsis string) {
	over := s.width() - width
	widths := make([]int, len(s.widths))
	copy(widths, s.widths)
	for _, pass := range []struct {
		wraps bool
		least int
	}{{true, narrowestWrapped}, {false, narrowest}, {true, narrowest}} {
		for over > 0 {
			widest, next := s.widest(widths, pass.wraps, pass.least)
			if widest < 0 {
				break
			}
			cut := min(over, widths[widest]-max(next, s.least(widest, pass.least)))
			cut = max(cut, 1)
			widths[widest] -= cut
			over -= cut
		}
	}
	wrapped := false
	for j, w := range widths {
		if w == s.widths[j] {
			continue
		}
		s.widths[j] = w
		if s.columns[j].Wrap {
			wrapped = true
			continue
		}
		for _, row := range s.rows {
			row[j].Text = truncate(row[j].Text, w, ellipsis)
		}
	}
	if wrapped {
		s.wrap()
	}
}

// least returns how narrow a column may become: its title stays.
func (s *sheet) least(column, narrowest int) int {
	return max(narrowest, displaywidth.String(s.columns[column].Title))
}

// widest returns the widest column that may still shrink, or -1, and the width
// of the next one, among those that are wrapped or those that are truncated.
func (s *sheet) widest(widths []int, wraps bool, least int) (column, next int) {
	column = -1
	for j, w := range widths {
		if c := s.columns[j]; c.Right || c.Keep || c.Bar || c.Wrap != wraps || w <= s.least(j, least) {
			continue
		}
		switch {
		case column < 0:
			column = j
		case w > widths[column]:
			column, next = j, widths[column]
		default:
			next = max(next, w)
		}
	}
	return column, next
}

// truncate shortens a text to a number of columns: a sentence at its end, a name
// in its middle, as names that begin alike (hyperpod-ns-...) differ at the end.
func truncate(text string, width int, ellipsis string) string {
	room := width - displaywidth.String(ellipsis)
	if displaywidth.String(text) <= width || room < 2 || strings.Contains(text, " ") {
		return displaywidth.TruncateString(text, width, ellipsis)
	}
	head := displaywidth.TruncateString(text, room/2, "")
	return head + ellipsis + lastColumns(text, room-displaywidth.String(head))
}

// lastColumns returns the end of a text, at most width columns of it.
func lastColumns(text string, width int) string {
	over := displaywidth.String(text) - width
	for g := displaywidth.StringGraphemes(text); over > 0 && g.Next(); {
		over -= g.Width()
		text = text[len(g.Value()):]
	}
	return text
}

func (s *IO) ellipsis() string {
	if s.UTF8 {
		return "…"
	}
	return "..."
}
