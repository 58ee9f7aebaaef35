package output

import (
	"slices"
	"testing"
)

// TestFewOfEach: each code has its part of the rows, blocks are whole, and what is left out is counted by its code.
func TestFewOfEach(t *testing.T) {
	code := func(row string) string { return row[:1] }
	a, b, c := []string{"a1", "a2"}, []string{"b"}, []string{"c"}
	for name, x := range map[string]struct {
		blocks [][]string
		most   int
		rows   []string
		left   string
	}{
		"nothing":           {nil, 4, nil, ""},
		"all fit":           {[][]string{a, b, c}, 4, []string{"a1", "a2", "b", "c"}, ""},
		"one more fits":     {[][]string{a, b, c}, 3, []string{"a1", "a2", "b", "c"}, ""},
		"each has its part": {slices.Concat(slices.Repeat([][]string{b}, 9), [][]string{a, a, c}), 6, []string{"b", "b", "a1", "a2", "c"}, "7 more b, 1 more a"},
		"each has one":      {[][]string{a, a, b, b, c, c}, 2, []string{"a1", "a2", "b", "c"}, "1 more a, 1 more b, 1 more c"},
		"the order is kept": {[][]string{c, b, c, b, c, b}, 4, []string{"c", "b", "c", "b"}, "1 more c, 1 more b"},
	} {
		if rows, left := FewOfEach(x.blocks, code, x.most); !slices.Equal(rows, x.rows) || left != x.left {
			t.Errorf("%s: %q, %q", name, rows, left)
		}
	}
}
