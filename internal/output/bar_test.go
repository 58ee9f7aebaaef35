package output

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestBarDraw(t *testing.T) {
	for _, c := range []struct {
		name  string
		bar   Bar
		width int
		full  float64
		want  string
	}{
		{"own and borrowed", Bar{Full: 24, Shaded: 4}, 14, 28, "████████████▒▒"},
		{"own, lent, free", Bar{Full: 10, Light: 4, Dotted: 2}, 14, 28, "█████░░·"},
		{"nothing", Bar{}, 14, 28, ""},
		{"no scale", Bar{Full: 1}, 14, 0, ""},
		{"small parts are seen", Bar{Full: 1000, Shaded: 1, Alarm: 1}, 10, 1002, "████████▒!"},
		{"more parts than room", Bar{Full: 1, Shaded: 1, Light: 1, Dotted: 1, Alarm: 1}, 5, 5, "█▒░·!"},
		{"below zero", Bar{Full: -3, Dotted: 2}, 4, 2, "····"},
		{"huge", Bar{Full: 1 << 62, Light: 1 << 62}, 4, 1 << 63, "██░░"},
	} {
		if got := c.bar.draw(c.width, c.full, barUTF8[:]); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := (Bar{Full: 2, Shaded: 2, Light: 2, Dotted: 2, Alarm: 2}).draw(10, 10, barASCII[:]); got != "##++--..!!" {
		t.Errorf("ASCII: %q", got)
	}
}

func barTable() Table {
	return Table{
		Columns: []Column{{Title: "TEAM", Keep: true}, {Title: "NOMINAL", Right: true}, {Title: "LIMIT", Right: true, Yield: 2}, {Title: "PENDING", Right: true, Yield: 1}, {Bar: true}},
		Rows: [][]Cell{
			{{Text: "研究チーム"}, {Text: "16"}, {Text: "32"}, {Text: "0"}, {Bar: &Bar{Full: 10, Light: 4, Dotted: 2}}},
			{{Text: "ml"}, {Text: "24"}, {Text: "36"}, {Text: "32"}, {Bar: &Bar{Full: 24, Shaded: 4}}},
		},
		Notes: []string{"a note"},
	}
}

// TestBarsFit: a line never passes the edge, narrow terminals lose columns in the
// stated order, with a note, and wide names do not push the bars aside.
func TestBarsFit(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{80, "TEAM        NOMINAL  LIMIT  PENDING\n研究チーム       16     32        0  ███████████░░░░··\nml               24     36       32  ██████████████████████████▒▒▒▒\n"},
		{42, "TEAM        NOMINAL  PENDING\n研究チーム       16        0  ████░░·\nml               24       32  ██████████▒▒\na note\nhidden columns: LIMIT (see -o wide)\n"},
		{30, "TEAM        NOMINAL\n研究チーム       16  ███░·\nml               24  ████████▒\na note\nhidden columns: LIMIT, PENDING\n(see -o wide)\n"},
	} {
		s, b := Test()
		s.OutTTY, s.Width = true, c.width
		if err := s.PrintTable(barTable()); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(b.Out.String(), "a note\n"); got != c.want {
			t.Errorf("%d columns:\n%swant\n%s", c.width, got, c.want)
		}
		rows, _, _ := strings.Cut(b.Out.String(), "a note\n")
		for line := range strings.Lines(rows) {
			if w := displaywidth.String(strings.TrimSuffix(line, "\n")); w > c.width {
				t.Errorf("%d columns, line of %d: %s", c.width, w, line)
			}
		}
	}
}

// TestBarWidth: a bar is never wider than it may be, and its parts keep order.
func TestBarWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := Bar{Full: r.Int64N(9), Shaded: r.Int64N(9), Light: r.Int64N(9), Dotted: r.Int64N(9), Alarm: r.Int64N(3)}
		width := 5 + r.IntN(20)
		full := b.total() + float64(r.IntN(20))
		text := b.draw(width, full, barASCII[:])
		if len(text) > width {
			t.Fatalf("%+v in %d: %q", b, width, text)
		}
		at := 0
		for i, n := range b.parts() {
			begin := at
			for at < len(text) && text[at:at+1] == barASCII[i] {
				at++
			}
			if (n > 0) != (at > begin) {
				t.Fatalf("%+v in %d of %v: %q", b, width, full, text)
			}
		}
		if at != len(text) {
			t.Fatalf("%+v: %q is out of order", b, text)
		}
	}
}

func TestLegend(t *testing.T) {
	s, _ := Test()
	if got := s.Legend("own", "borrowed", "", "free"); got != "█ own  ▒ borrowed  · free" {
		t.Error(got)
	}
	s.UTF8 = false
	if got := s.Legend("own", "", "", "", "overcommitted"); got != "# own  ! overcommitted" {
		t.Error(got)
	}
}

// TestLiveBars: the table is redrawn with its notes, and a resized terminal is
// cleared first.
func TestLiveBars(t *testing.T) {
	s, _ := Test()
	screen := newScreen(t, 80, 12)
	s.Out, s.OutTTY, s.Cursor = screen, true, true
	width := 80
	s.measure = func() (int, int) { return width, 12 }
	l := NewLiveTable(s, false, 1)
	for _, width = range []int{80, 80, 42, 80} {
		screen.width = width
		if err := l.Update(barTable()); err != nil {
			t.Fatal(err)
		}
		got := screen.String()
		below := "a note\n"
		if width != 80 {
			below += "hidden columns: LIMIT (see -o wide)\n"
		}
		if !strings.HasSuffix(got, below) || strings.Count(got, "TEAM") != 1 || strings.Contains(got, "LIMIT  PENDING") != (width == 80) {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
}

// TestWideBars: a wide table on a terminal keeps every text, and its bars only where
// they do not wrap.
func TestWideBars(t *testing.T) {
	for width, bars := range map[int]bool{80: true, 36: false, 20: false} {
		s, b := Test()
		s.OutTTY, s.Width = true, width
		table := barTable()
		table.Columns[4].Yield = 1
		data, err := table.render(s, true)
		if err != nil {
			t.Fatal(err)
		}
		out := string(data)
		if strings.Contains(out, "█") != bars || !strings.Contains(out, "LIMIT  PENDING") || !strings.Contains(out, "研究チーム") {
			t.Errorf("at %d columns:\n%s%s", width, out, b.Err)
		}
	}
}
