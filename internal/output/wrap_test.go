package output

import (
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestWrapText(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 6, []string{"one", "two", "three"}},
		{"in /home/me/.config/hyperpod/templates/x.yaml", 20, []string{"in", "/home/me/.config/", "hyperpod/templates/", "x.yaml"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"学習ジョブ名前", 5, []string{"学習", "ジョ", "ブ名", "前"}},
	} {
		if got := wrapText(c.text, c.width, splitWord); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestSentences: sentences break at blanks, keep their indentation, and never break a word.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"note: some values are hidden", 0, []string{"note: some values are hidden"}},
		{"note: some values are hidden", 16, []string{"note: some", "values are", "hidden"}},
		{"see /home/me/.config/hyperpod/templates/x.yaml", 16, []string{"see", "/home/me/.config/hyperpod/templates/x.yaml"}},
		{"first\n  second part of it", 14, []string{"first", "  second part", "  of it"}},
		{"an escape \x1b[2J", 80, []string{`an escape \x1b[2J`}},
	} {
		if got := Sentences([]string{c.text}, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestNotesWrap: on a terminal the notes below a table break at blanks; a pipe gets each as one line.
func TestNotesWrap(t *testing.T) {
	table := Table{Columns: []Column{{Title: "NAME"}}, Rows: [][]Cell{T("a")}, Notes: []string{"totals over all flavors; a pod set uses one flavor"}}
	s, _ := Test()
	s.Width = 30
	for tty, want := range map[bool]string{false: "NAME\na\ntotals over all flavors; a pod set uses one flavor\n", true: "NAME\na\ntotals over all flavors; a pod\nset uses one flavor\n"} {
		s.OutTTY = tty
		if data, err := table.render(s, false); string(data) != want || err != nil {
			t.Errorf("%q, want %q (%v)", data, want, err)
		}
	}
}

// Whatever the width, nothing of a wrapped column is lost, no line is longer than
// the terminal, and columns stay columns.
func TestWrappedColumns(t *testing.T) {
	help := "the same with FSDP; nodes meet at an etcd of the job's own, which stays when the job has ended"
	source := "/home/somebody/.config/hyperpod/templates/the-name-of-this-template.yaml"
	table := Table{Columns: []Column{{Title: "NAME", Keep: true}, {Title: "SOURCE", Wrap: true}, {Title: "HELP", Wrap: true}},
		Rows: [][]Cell{T("fsdp-llama-etcd", source, help), T("mpi", "embedded", "any MPI program")}}
	for _, width := range []int{60, 80, 120, 400} {
		s, _ := Test()
		s.OutTTY, s.Width = true, width
		data, err := table.render(s, false)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
		at := strings.Index(lines[0], "HELP")
		var words, path string
		for _, l := range lines[1 : len(lines)-1] {
			if w := displaywidth.String(l); w > width {
				t.Errorf("%d columns: a line of %d: %q", width, w, l)
			}
			if len(l) > at {
				words += l[at:] + " "
			}
			path += strings.TrimSpace(l[strings.Index(lines[0], "SOURCE"):min(at, len(l))])
		}
		if strings.TrimSpace(words) != help || path != source {
			t.Errorf("%d columns: %q, %q\n%s", width, words, path, data)
		}
		if got := len(lines); width == 400 && got != 3 {
			t.Errorf("room for all, and %d lines:\n%s", got, data)
		}
	}
}

// A last column with little room goes to lines below the rows, whole.
func TestBelow(t *testing.T) {
	table := Table{Columns: []Column{{Title: "POD", Keep: true}, {Title: "NODE", Wrap: true}, {Title: "MESSAGE", Wrap: true, Below: true}},
		Rows: [][]Cell{T("train-worker-0", "i-1 i-2 i-3", "cannot pull image x: not found"), T("train-worker-1", "", "")}}
	s, _ := Test()
	s.OutTTY = true
	for width, want := range map[int]string{
		80: "POD             NODE         MESSAGE\ntrain-worker-0  i-1 i-2 i-3  cannot pull image x: not found\ntrain-worker-1\n",
		30: "POD             NODE\ntrain-worker-0  i-1 i-2 i-3\n  cannot pull image x: not\n  found\ntrain-worker-1\n",
		25: "POD             NODE\ntrain-worker-0  i-1 i-2\n                i-3\n  cannot pull image x:\n  not found\ntrain-worker-1\n",
	} {
		s.Width = width
		if data, err := table.render(s, false); string(data) != want || err != nil {
			t.Errorf("%d columns:\n%s\nwant\n%s\n%v", width, data, want, err)
		}
	}
	s.Width = 30
	if data, err := table.render(s, true); strings.Count(string(data), "\n") != 3 || err != nil {
		t.Errorf("wide:\n%s%v", data, err)
	}
}
