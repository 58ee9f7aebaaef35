package output

import (
	"bytes"
	"io"
	"slices"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// longList is the number of rows from which a table is written by writeLong:
// tablewriter needs about 40 us a row, writeLong 1 us (BenchmarkRender).
const longList = 50

// render returns a table as text. Only a terminal's table is made to fit; a wide
// one gives up its bars alone: whoever asks for more columns wants to read them.
func (t Table) render(s *IO, wide bool) ([]byte, error) {
	sheet := t.sheet(wide)
	width := 0
	if s.OutTTY {
		width = s.Width
	}
	if width > 0 && !wide {
		sheet.lower(width)
	}
	sheet.arrange(width, wide, s)
	var b bytes.Buffer
	var err error
	if len(sheet.rows) < longList && sheet.below == nil && sheet.fitsTablewriter() {
		err = sheet.writeShort(&b, s.Color)
	} else {
		sheet.writeLong(&b, s.Color)
	}
	if t.NoHeader {
		_, _ = b.ReadBytes('\n')
	}
	for _, n := range Sentences(slices.Concat(t.Notes, sheet.leftOut()), width) {
		b.WriteString(n + "\n")
	}
	return b.Bytes(), err
}

// fitsTablewriter reports whether tablewriter measures every text as it is
// measured here. It counts joined emoji rune by rune, and in East Asian locales
// takes blocks and dots to be two columns wide.
func (s *sheet) fitsTablewriter() bool {
	same := func(text string) bool { return twwidth.Width(text) == displaywidth.String(text) }
	for _, c := range s.columns {
		if !same(c.Title) {
			return false
		}
	}
	for _, row := range s.rows {
		for _, c := range row {
			if !same(c.Text) {
				return false
			}
		}
	}
	return true
}

// writeShort writes the sheet with tablewriter.
func (s *sheet) writeShort(w io.Writer, color bool) error {
	var b bytes.Buffer
	alignments := make([]tw.Align, len(s.columns))
	paddings := make([]tw.Padding, len(s.columns))
	titles := make([]string, len(s.columns))
	for j, c := range s.columns {
		alignments[j] = tw.AlignLeft
		if c.Right {
			alignments[j] = tw.AlignRight
		}
		// One blank on each side makes the gap: wider paddings are cut where the
		// blanks to fill are odd, and a cut colored cell gets one more escape.
		paddings[j] = tw.Padding{Left: " ", Right: " ", Overwrite: true}
		if j == 0 {
			paddings[j].Left = ""
		}
		titles[j] = paint(Strong, c.Title, color)
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: alignments},
		Padding:    tw.CellPadding{PerColumn: paddings},
	}
	table := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithTrimLine(tw.Off),
	)
	table.Header(titles)
	for _, row := range s.rows {
		texts := make([]string, len(row))
		for j, c := range row {
			texts[j] = paint(c.Style, c.Text, color)
		}
		if err := table.Append(texts); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	for line := range bytes.Lines(b.Bytes()) {
		if _, err := w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// writeLong writes the same bytes as writeShort, by itself, and the lines below the rows.
func (s *sheet) writeLong(b *bytes.Buffer, color bool) {
	s.writeRow(b, s.titles(), color)
	for i, row := range s.rows {
		s.writeRow(b, row, color)
		if s.below == nil {
			continue
		}
		for _, line := range s.below[i] {
			b.WriteString(paint(line.Style, line.Text, color) + "\n")
		}
	}
}

func (s *sheet) writeRow(b *bytes.Buffer, row []Cell, color bool) {
	const blanks = "                                                                "
	pending := 0
	pad := func() {
		for ; pending > len(blanks); pending -= len(blanks) {
			b.WriteString(blanks)
		}
		b.WriteString(blanks[:pending])
		pending = 0
	}
	for j, c := range row {
		if j > 0 {
			pending += gap
		}
		free := max(s.widths[j]-displaywidth.String(c.Text), 0)
		if s.columns[j].Right {
			pending += free
			free = 0
		}
		if c.Text != "" {
			pad()
			b.WriteString(paint(c.Style, c.Text, color))
		}
		pending += free
	}
	b.WriteByte('\n')
}
