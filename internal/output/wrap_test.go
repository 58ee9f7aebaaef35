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
		if got := wrapText(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
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
