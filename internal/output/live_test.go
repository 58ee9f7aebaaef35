package output

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func live(rows ...[]Cell) Table {
	return Table{Columns: []Column{{Title: "NAMESPACE"}, {Title: "NAME"}, {Title: "STATE"}, {Title: "AGE", Right: true, Ticks: true}, {Title: "QUEUE", Wide: true}}, Rows: rows}
}

func TestLiveTableInAPipe(t *testing.T) {
	s, b := Test()
	l := NewLiveTable(s, false, 2)
	update := func(want string, rows ...[]Cell) {
		t.Helper()
		b.Out.Reset()
		if err := l.Update(live(rows...)); err != nil {
			t.Fatal(err)
		}
		if got := b.Out.String(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	update("") // nothing yet: no header either
	update("NAMESPACE  NAME  STATE    AGE\nns         a     Pending   1s\nns         b     Pending   1s\n", T("ns", "a", "Pending", "1s"), T("ns", "b", "Pending", "1s"))
	update("", T("ns", "a", "Pending", "2s"), T("ns", "b", "Pending", "2s"))
	update("ns         b     Running   3s\n", T("ns", "a", "Pending", "3s"), T("ns", "b", "Running", "3s"))
	update("", T("ns", "b", "Running", "3s"), T("ns", "a", "Pending", "3s"))
	update("other-namespace  a     Pending   1s\n", T("ns", "a", "Pending", "4s"), T("ns", "b", "Running", "4s"), T("other-namespace", "a", "Pending", "1s"))
	update("ns               a     Failed    5s\n", T("ns", "a", "Failed", "5s"), T("ns", "b", "Running", "5s"), T("other-namespace", "a", "Pending", "2s"))
	update("ns               b     Running   5s  gone\n", T("ns", "a", "Failed", "5s"), T("other-namespace", "a", "Pending", "2s"))
	update("ns               b     Pending   1s\n", T("ns", "a", "Failed", "6s"), T("other-namespace", "a", "Pending", "2s"), T("ns", "b", "Pending", "1s"))
}

func TestLiveTableOnATerminal(t *testing.T) {
	s, _ := Test()
	screen := newScreen(t, 40, 10)
	s.Out, s.OutTTY, s.Cursor, s.Width, s.Height = screen, true, true, 40, 10
	_, _ = screen.Write([]byte("$ hyperpod list-jobs --watch\n"))
	l := NewLiveTable(s, false, 2)
	update := func(want string, rows ...[]Cell) {
		t.Helper()
		if err := l.Update(live(rows...)); err != nil {
			t.Fatal(err)
		}
		if got := screen.String(); got != "$ hyperpod list-jobs --watch\n"+want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	head := "NAMESPACE  NAME  STATE    AGE\n"
	update(head+"ns         a     Pending   1s\nns         画像  Running   1s\n", T("ns", "a", "Pending", "1s"), T("ns", "画像", "Running", "1s"))
	update(head+"ns         a     Running   2s\nns         画像  Running   2s\n", T("ns", "a", "Running", "2s"), T("ns", "画像", "Running", "2s"))
	// Fewer and narrower: nothing of the old table may stay.
	update("NAMESPACE  NAME  STATE  AGE\nns         a     Done    3s\n", T("ns", "a", "Done", "3s"))
	// Too wide: truncated.
	update("NAMESPACE  NAME               STATE  AGE\nns         aaaaaaaa…aaaaaaaa  Done    3s\n", T("ns", strings.Repeat("a", 60), "Done", "3s"))
	// More rows than lines.
	var many [][]Cell
	want := "NAMESPACE  NAME  STATE  AGE\n"
	for i := range 30 {
		many = append(many, T("ns", fmt.Sprint("j", i+10), "Done", "3s"))
		if i < 7 {
			want += fmt.Sprintf("ns         j%d   Done    3s\n", i+10)
		}
	}
	update(want+"and 23 more\n", many...)
	update(want+"and 23 more\n", many...)
	update(want, many[:7]...)
	update("NAMESPACE  NAME  STATE  AGE\n")
}

// Rows that are longer than the screen are cut: one line each, drawn over.
func TestLiveTableIsCut(t *testing.T) {
	s, _ := Test()
	screen := newScreen(t, 20, 30)
	s.Out, s.OutTTY, s.Cursor, s.Width, s.Height = screen, true, true, 20, 30
	l := NewLiveTable(s, false, 1)
	table := Table{Columns: []Column{{Title: "NAME", Keep: true}, {Title: "N", Right: true}}}
	for _, length := range []int{17, 18, 19, 37, 38, 60, 3} {
		table.Rows = [][]Cell{T(strings.Repeat("x", length), "1"), T("b", "2")}
		if err := l.Update(table); err != nil {
			t.Fatal(err)
		}
		if got := screen.String(); strings.Count(got, "NAME") != 1 || strings.Count(got, "b") != 1 || !strings.HasPrefix(got, "NAME") {
			t.Errorf("%d:\n%s", length, got)
		}
		want := 3
		if length > 17 {
			want = 5 // the numbers are left out, and two lines name them
		}
		if lines := strings.Count(screen.String(), "\n"); lines != want {
			t.Errorf("%d: %d lines:\n%s", length, lines, screen)
		}
	}
}

func TestLiveTableHighlightsChanges(t *testing.T) {
	s, b := Test()
	s.OutTTY, s.Cursor, s.Color = true, true, true
	l := NewLiveTable(s, false, 2)
	for i, state := range []string{"Pending", "Pending", "Running", "Running"} {
		b.Out.Reset()
		if err := l.Update(live(T("ns", "a", state, fmt.Sprint(i, "s")), T("ns", "b", "Pending", "9s"))); err != nil {
			t.Fatal(err)
		}
		changed := strings.Contains(b.Out.String(), paint(Strong, "Running", true))
		if changed != (i == 2) || strings.Contains(b.Out.String(), paint(Strong, "b", true)) {
			t.Errorf("update %d: %q", i, b.Out)
		}
	}
	s.Color = false
	b.Out.Reset()
	if err := l.Update(live(T("ns", "a", "Failed", "9s"))); err != nil || strings.Contains(b.Out.String(), "m") && strings.Contains(b.Out.String(), "\x1b[1m") {
		t.Errorf("%v %q", err, b.Out)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestLiveTableWriteError(t *testing.T) {
	s, _ := Test()
	want := errors.New("disk full")
	s.Out = failing{want}
	if err := NewLiveTable(s, false, 1).Update(live(T("ns"))); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// clock is a clock that a test moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestProgressOnATerminal(t *testing.T) {
	for _, color := range []bool{false, true} {
		s, _ := Test()
		screen := newScreen(t, 40, 10)
		c := &clock{time.Unix(0, 0)}
		s.Err, s.ErrTTY, s.Width, s.Now, s.ErrColor = screen, true, 40, c.Now, color
		p := NewProgress(s)
		step := func(want string, f func()) {
			t.Helper()
			if f(); screen.String() != want {
				t.Errorf("got %q, want %q", screen, want)
			}
		}
		step("3rd in the queue\n", func() { p.Update("3rd in the queue") })
		c.now = c.now.Add(time.Second)
		step("3rd in the queue\n", func() { p.Update("3rd in the queue") })
		c.now = c.now.Add(time.Second)
		step("3rd in the queue  2s\n", func() { p.Update("3rd in the queue") })
		step("2nd\n", func() { p.Update("2nd") })
		step("note: x\n2nd\n", func() { p.Above(func() { io.WriteString(screen, "note: x\n") }) })
		c.now = c.now.Add(90 * time.Minute)
		step("note: x\n"+strings.Repeat("a ", 18)+"...\n", func() { p.Update(strings.Repeat("a ", 50)) })
		c.now = c.now.Add(90 * time.Minute)
		step("note: x\n"+strings.Repeat("a ", 18)+"...\n", func() { p.Update(strings.Repeat("a ", 50)) })
		step("note: x\na\\nb\n", func() { p.Update("a\nb") })
		step("note: x\nrunning\n", func() { p.Done("running") })
		step("note: x\nrunning\n", func() { p.Done("") })
	}
}

func TestProgressWithoutEscapes(t *testing.T) {
	s, b := Test()
	s.ErrTTY, s.Width = true, 40
	p := NewProgress(s)
	p.Update("a\x1b")
	p.Done("c\x1b")
	if strings.Contains(b.Err.String(), "\x1b") {
		t.Errorf("escapes: %q", b.Err)
	}
}

func TestProgressInAFile(t *testing.T) {
	s, b := Test()
	c := &clock{time.Unix(0, 0)}
	s.Now = c.Now
	p := NewProgress(s)
	for range 5 {
		p.Update("waiting")
		c.now = c.now.Add(time.Minute)
	}
	p.Above(func() { io.WriteString(s.Err, "note: x\n") })
	p.Update("running")
	p.Done("done")
	if got := b.Err.String(); got != "waiting\nnote: x\nrunning\ndone\n" || b.Out.Len() > 0 {
		t.Errorf("got %q", got)
	}
}

func TestProgressQuiet(t *testing.T) {
	s, b := Test()
	for _, tty := range []bool{false, true} {
		s.Quiet, s.ErrTTY = true, tty
		p := NewProgress(s)
		p.Update("a")
		p.Done("c")
	}
	if b.Err.Len() > 0 {
		t.Errorf("got %q", b.Err)
	}
}

// TestProgressFits: the reason is worth more than the time, and the time more than
// what shorter texts leave out.
func TestProgressFits(t *testing.T) {
	texts := []string{"a-job-with-a-name is Pending, 2nd of 5 in its queue: quota is used up", "Pending, 2nd of 5 in its queue: quota is used up", "Pending, 2nd of 5: quota is used up"}
	for width, want := range map[int]string{
		200: texts[0] + "  2m",
		73:  texts[1] + "  2m",
		71:  texts[1] + "  2m",
		50:  texts[2] + "  2m",
		37:  texts[2],
		30:  "Pending, 2nd of 5: quota i...",
		0:   texts[0] + "  2m",
	} {
		s, b := Test()
		s.ErrTTY, s.Width = true, width
		now := time.Unix(0, 0)
		s.Now = func() time.Time { return now }
		p := NewProgress(s)
		p.Update(texts[0], texts[1:]...)
		now = now.Add(2 * time.Minute)
		b.Err.Reset()
		p.Update(texts[0], texts[1:]...)
		if got := strings.TrimRight(strings.TrimPrefix(b.Err.String(), "\r"), " "); got != want {
			t.Errorf("%d columns: got  %q\nwant %q", width, got, want)
		}
		if p.Stays() {
			t.Error("a line that is written over does not stay")
		}
	}
}

// TestLiveTableShowsNoPartOfANumber: a column of numbers that a terminal would cut is left
// out and named.
func TestLiveTableShowsNoPartOfANumber(t *testing.T) {
	s, _ := Test()
	screen := newScreen(t, 24, 10)
	s.Out, s.OutTTY, s.Cursor, s.Width, s.Height = screen, true, true, 24, 10
	table := Table{Columns: []Column{{Title: "CLUSTER", Keep: true}, {Title: "NODES", Right: true}, {Title: "FREE", Right: true}},
		Rows: [][]Cell{T("a-long-name-of", "7", "24")}}
	if err := NewLiveTable(s, false, 1).Update(table); err != nil {
		t.Fatal(err)
	}
	if got, want := screen.String(), "CLUSTER         NODES\na-long-name-of      7\nhidden columns: FREE\n(see -o wide)\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
