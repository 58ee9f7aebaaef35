package output

import (
	"bytes"
	"fmt"
	"slices"
)

// LiveTable shows a table that changes. On a terminal it is redrawn in place,
// what changed in bold; elsewhere every new or changed row is a line, as with
// `kubectl get --watch`, and a row that went away is printed a last time with
// the word "gone".
type LiveTable struct {
	io     *IO
	wide   bool
	key    int
	keys   []string // of the rows that are being shown
	widths []int
	last   map[string][]Cell
	order  []string
	lines  int // lines on the screen that the next drawing replaces
	header bool
}

// NewLiveTable returns a live table whose rows are identified by their Keys, or
// where the table has none, by the texts of the first key columns.
func NewLiveTable(s *IO, wide bool, key int) *LiveTable {
	return &LiveTable{io: s, wide: wide, key: key}
}

// Update shows the table as it is now. It returns errors of writing to Out.
func (l *LiveTable) Update(t Table) error {
	sheet := t.sheet(l.wide)
	l.name(t.Keys, sheet)
	changed := l.compare(sheet)
	var b bytes.Buffer
	if l.io.Cursor {
		l.redraw(&b, sheet, changed, t.Notes)
	} else {
		l.append(&b, sheet, changed)
	}
	l.remember(sheet)
	if b.Len() == 0 {
		return nil
	}
	_, err := l.io.Out.Write(b.Bytes())
	return err
}

// compare returns for each row whether it is new or differs from the last time
// in a column that does not change by itself.
func (l *LiveTable) compare(s sheet) []bool {
	changed := make([]bool, len(s.rows))
	for i, row := range s.rows {
		old, ok := l.last[l.keys[i]]
		changed[i] = !ok || len(old) != len(row)
		for j := 0; !changed[i] && j < len(row); j++ {
			changed[i] = !s.columns[j].Ticks && !row[j].equal(old[j])
		}
	}
	return changed
}

// name finds the keys of the rows.
func (l *LiveTable) name(keys []string, s sheet) {
	l.keys = keys
	if len(keys) == len(s.rows) {
		return
	}
	l.keys = make([]string, len(s.rows))
	for i, row := range s.rows {
		for _, c := range row[:min(l.key, len(row))] {
			l.keys[i] += c.Text + "\x00"
		}
	}
}

func (l *LiveTable) remember(s sheet) {
	l.last, l.order = make(map[string][]Cell, len(s.rows)), l.order[:0]
	for i, row := range s.rows {
		l.last[l.keys[i]] = slices.Clone(row)
		l.order = append(l.order, l.keys[i])
	}
}

// append writes the changed rows below the earlier ones, in columns that only
// grow.
func (l *LiveTable) append(b *bytes.Buffer, s sheet, changed []bool) {
	for j := range s.widths {
		if j < len(l.widths) {
			s.widths[j] = max(s.widths[j], l.widths[j])
		}
	}
	l.widths = s.widths
	shown := sheet{columns: s.columns, widths: s.widths}
	for _, row := range s.rows {
		shown.rows = append(shown.rows, slices.Clone(row))
	}
	shown.drawBars(0, l.io.barGlyphs())
	var rows [][]Cell
	for i, row := range shown.rows {
		if changed[i] {
			rows = append(rows, row)
		}
	}
	gone := l.gone(s)
	if len(rows)+len(gone) == 0 {
		return
	}
	if !l.header {
		l.header = true
		s.writeRow(b, s.titles(), l.io.Color)
	}
	for _, row := range rows {
		s.writeRow(b, row, l.io.Color)
	}
	for _, row := range gone {
		s.writeRow(b, row, l.io.Color)
		b.Truncate(b.Len() - 1)
		b.WriteString("  " + l.io.Paint(Dim, "gone") + "\n")
	}
}

// gone returns the rows that are no longer there.
func (l *LiveTable) gone(s sheet) [][]Cell {
	here := map[string]bool{}
	for _, k := range l.keys {
		here[k] = true
	}
	var out [][]Cell
	for _, k := range l.order {
		if row := l.last[k]; !here[k] && len(row) == len(s.columns) {
			out = append(out, row)
		}
	}
	return out
}

// redraw writes the table, and its notes below, over the one on the screen.
func (l *LiveTable) redraw(b *bytes.Buffer, s sheet, changed []bool, notes []string) {
	width, height := l.io.Width, l.io.Height
	l.io.remeasure()
	switch {
	case l.lines > 0 && (width != l.io.Width || height != l.io.Height):
		// Terminals differ in what they make of earlier lines when they are resized.
		b.WriteString("\x1b[H\x1b[2J")
	case l.lines > 0:
		fmt.Fprintf(b, "\x1b[%dA\r", l.lines)
	}
	first := l.last == nil
	shown := sheet{columns: s.columns, widths: slices.Clone(s.widths)}
	for i, row := range s.rows {
		row = slices.Clone(row)
		for j := range row {
			if changed[i] && !first && row[j].Style == Plain {
				row[j].Style = Strong
			}
		}
		shown.rows = append(shown.rows, row)
	}
	shown.arrange(l.io.Width, l.wide, l.io)
	if l.io.Width > 0 {
		shown.crop(l.io.Width)
		notes = slices.Concat(notes, shown.leftOut())
	}
	notes = Sentences(notes, l.io.Width)
	if most := max(l.io.Height-4, 0); l.io.Height > 0 && len(notes) > most {
		notes = notes[:most]
	}
	more := 0
	// The header, the line about more rows and the cursor's line need room too.
	if room := max(l.io.Height-3-len(notes), 1); l.io.Height > 0 && len(shown.rows) > room {
		more = len(shown.rows) - room
		shown.rows = shown.rows[:room]
	}
	l.lines = 0
	// What is still too long is cut at the edge: a row that wraps could not be
	// drawn over.
	b.WriteString("\x1b[?7l")
	defer b.WriteString("\x1b[?7h")
	line := func(row []Cell, color bool) {
		b.WriteString("\x1b[2K")
		shown.writeRow(b, row, color)
		l.lines++
	}
	line(shown.titles(), l.io.Color)
	for _, row := range shown.rows {
		line(row, l.io.Color)
	}
	if more > 0 {
		fmt.Fprintf(b, "\x1b[2K%s\n", l.io.Paint(Dim, fmt.Sprintf("and %d more", more)))
		l.lines++
	}
	for _, n := range notes {
		fmt.Fprintf(b, "\x1b[2K%s\n", n)
		l.lines++
	}
	b.WriteString("\x1b[J")
}

func (s *sheet) titles() []Cell {
	out := make([]Cell, len(s.columns))
	for j, c := range s.columns {
		out[j] = Cell{Text: c.Title, Style: Strong}
	}
	return out
}
