package output

import (
	"slices"
	"testing"
)

// TestFewOfEach: a terminal gets some rows of each code and how to see the others; a pipe and -o wide get all rows.
func TestFewOfEach(t *testing.T) {
	blocks := slices.Collect(slices.Chunk(append(slices.Repeat([]string{"b"}, 1000), "a"), 1))
	code := func(row string) string { return row }
	for name, x := range map[string]struct {
		tty, wide bool
		blocks    [][]string
		rows      int
		note      string
	}{
		"a terminal":       {true, false, blocks, MostRows/2 + 1, "and 980 more b (see -o wide)"},
		"-o wide":          {true, true, blocks, 1001, ""},
		"a pipe":           {false, false, blocks, 1001, ""},
		"one more fits":    {true, false, blocks[:MostRows+1], MostRows + 1, ""},
		"nothing is found": {true, false, nil, 0, ""},
	} {
		if rows, note := FewOfEach(&IO{OutTTY: x.tty}, x.wide, x.blocks, code); len(rows) != x.rows || note != x.note {
			t.Errorf("%s: %d rows, %q", name, len(rows), note)
		}
	}
}

// TestPartOfEachCode: each code has its part of the rows, blocks are whole, and what is left out is counted by its code.
func TestPartOfEachCode(t *testing.T) {
	code := func(row string) string { return row[:1] }
	a, b, c := []string{"a1", "a2"}, []string{"b"}, []string{"c"}
	for name, x := range map[string]struct {
		blocks [][]string
		most   int
		rows   []string
		left   string
	}{
		"each has its part": {slices.Concat(slices.Repeat([][]string{b}, 9), [][]string{a, a, c}), 6, []string{"b", "b", "a1", "a2", "c"}, "7 more b, 1 more a"},
		"each has one":      {[][]string{a, a, b, b, c, c}, 2, []string{"a1", "a2", "b", "c"}, "1 more a, 1 more b, 1 more c"},
		"the order is kept": {[][]string{c, b, c, b, c, b}, 4, []string{"c", "b", "c", "b"}, "1 more c, 1 more b"},
	} {
		if rows, left := fewOfEach(x.blocks, code, x.most); !slices.Equal(rows, x.rows) || left != x.left {
			t.Errorf("%s: %q, %q", name, rows, left)
		}
	}
}
