package output

import (
	"slices"
	"strings"
)

// Bar is a bar of parts, drawn next to each other in the order of the fields.
// All bars of a column have one scale, unless they say otherwise.
type Bar struct {
	Full, Shaded, Light, Dotted int64
	// Alarm is the part that should be 0.
	Alarm int64
	// Whole is the amount of the full width; 0 means that of the longest bar of the column.
	Whole int64
}

// The width of a bar on a terminal that leaves less or more, and elsewhere.
const (
	leastBar = 6
	mostBar  = 30
	plainBar = 20
)

var (
	barUTF8  = [...]string{"█", "▒", "░", "·", "!"}
	barASCII = [...]string{"#", "+", "-", ".", "!"}
)

func (b Bar) parts() [5]int64 {
	p := [...]int64{b.Full, b.Shaded, b.Light, b.Dotted, b.Alarm}
	for i := range p {
		p[i] = max(p[i], 0)
	}
	return p
}

func (b Bar) total() float64 {
	sum := 0.0
	for _, n := range b.parts() {
		sum += float64(n)
	}
	return sum
}

// Legend names the parts of bars with the characters they are drawn with:
// s.Legend("own", "borrowed") is "█ own  ▒ borrowed". An empty name leaves a
// part out.
func (s *IO) Legend(names ...string) string {
	glyphs := s.barGlyphs()
	var out []string
	for i, n := range names {
		if n != "" {
			out = append(out, glyphs[i]+" "+n)
		}
	}
	return strings.Join(out, "  ")
}

func (s *IO) barGlyphs() []string {
	if s.UTF8 {
		return barUTF8[:]
	}
	return barASCII[:]
}

// draw returns the bar in at most width columns, full being the whole width. Every
// part that is not zero is seen.
func (b Bar) draw(width int, full float64, glyphs []string) string {
	if full <= 0 || width <= 0 {
		return ""
	}
	parts := b.parts()
	cells := [len(parts)]int{}
	rest := [len(parts)]float64{}
	sum := 0
	for i, n := range parts {
		exact := float64(n) / full * float64(width)
		cells[i] = int(exact)
		rest[i] = exact - float64(cells[i])
		if n > 0 && cells[i] == 0 {
			cells[i], rest[i] = 1, 0
		}
		sum += cells[i]
	}
	want := min(width, int(b.total()/full*float64(width)+0.5))
	for ; sum < want; sum++ {
		at := slices.Index(rest[:], slices.Max(rest[:]))
		cells[at]++
		rest[at] = 0
	}
	for ; sum > width; sum-- {
		cells[slices.Index(cells[:], slices.Max(cells[:]))]--
	}
	var text strings.Builder
	for i, n := range cells {
		text.WriteString(strings.Repeat(glyphs[i], n))
	}
	return text.String()
}

// drawBars turns the bars of a sheet into texts. width is the terminal's, or 0.
func (s *sheet) drawBars(width int, glyphs []string) {
	for j, c := range s.columns {
		if !c.Bar {
			continue
		}
		room := plainBar
		if width > 0 {
			room = min(max(width-s.width()+s.widths[j], leastBar), mostBar)
		}
		full := 0.0
		for _, row := range s.rows {
			if b := row[j].Bar; b != nil {
				full = max(full, b.total())
			}
		}
		s.widths[j] = 0
		for _, row := range s.rows {
			if b := row[j].Bar; b != nil {
				whole := full
				if b.Whole > 0 {
					whole = max(float64(b.Whole), b.total())
				}
				row[j].Text = b.draw(room, whole, glyphs)
			}
			// A column of bars is drawn at its full width: the scale is seen, and
			// stays, whatever the rows hold.
			s.widths[j] = room
		}
	}
}

// width returns how wide the sheet is.
func (s *sheet) width() int {
	sum := gap * max(len(s.widths)-1, 0)
	for _, w := range s.widths {
		sum += w
	}
	return sum
}

// yield leaves out the columns that give way, the highest Yield first, until the
// sheet is at most width wide. With bars, only columns of bars give way.
func (s *sheet) yield(width int, bars bool) {
	all := s.columns
	for s.width() > width {
		at := -1
		for j, c := range s.columns {
			if c.Yield > 0 && (c.Bar || !bars) && (at < 0 || c.Yield > s.columns[at].Yield) {
				at = j
			}
		}
		if at < 0 {
			break
		}
		s.columns = slices.Delete(slices.Clone(s.columns), at, at+1)
		s.widths = slices.Delete(slices.Clone(s.widths), at, at+1)
		for i, row := range s.rows {
			s.rows[i] = slices.Delete(slices.Clone(row), at, at+1)
		}
	}
	for _, c := range all {
		if !c.Bar && !slices.ContainsFunc(s.columns, func(o Column) bool { return o.Title == c.Title }) {
			s.left = append(s.left, c.Title)
		}
	}
}

// crop leaves out the last columns of numbers that do not fit: a terminal would show the end
// of a number, which is another number.
func (s *sheet) crop(width int) {
	for last := len(s.columns) - 1; last > 0 && s.width() > width && s.columns[last].Right; last-- {
		s.left = append(s.left, s.columns[last].Title)
		s.columns, s.widths = s.columns[:last], s.widths[:last]
		for i, row := range s.rows {
			s.rows[i] = row[:last]
		}
	}
}

// leftOut returns the line that names what a narrow terminal does not show, if there is
// anything.
func (s *sheet) leftOut() []string {
	if len(s.left) == 0 {
		return nil
	}
	return []string{"hidden columns: " + strings.Join(s.left, ", ") + " (see -o wide)"}
}

// arrange makes a sheet fit a terminal of width columns; 0 is unlimited, and then
// only bars are drawn. A wide sheet loses no text, only bars that would wrap.
func (s *sheet) arrange(width int, wide bool, io *IO) {
	if width > 0 {
		s.yield(width, wide)
	}
	if wide && s.width() > width {
		width = 0
	}
	s.drawBars(width, io.barGlyphs())
	if width > 0 && !wide {
		s.fit(width, io.ellipsis())
	}
}
