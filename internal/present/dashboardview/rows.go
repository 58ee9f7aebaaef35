package dashboardview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Filter keeps the rows in which a word occurs, in any case; with "!" before the word, the others.
func (v View) Filter(word string) View {
	not := strings.HasPrefix(word, "!")
	word = strings.ToLower(strings.TrimPrefix(word, "!"))
	if word == "" {
		return v
	}
	out := View{Table: v.Table, Summary: v.Summary, Bars: v.Bars}
	out.Table.Rows = nil
	for i, row := range v.Table.Rows {
		has := slices.ContainsFunc(row, func(c output.Cell) bool { return strings.Contains(strings.ToLower(c.Text), word) })
		if has != not {
			out.Table.Rows, out.Refs = append(out.Table.Rows, row), append(out.Refs, v.Refs[i])
			if v.Sparks != nil {
				out.Sparks = append(out.Sparks, v.Sparks[i])
			}
		}
	}
	return out
}

// Sort orders the rows by a column: numbers and ages by their size, others as text. Rows that are equal keep their order.
func (v View) Sort(column int, descending bool) View {
	if column < 0 || column >= len(v.Table.Columns) || v.Table.Columns[column].Bar {
		return v
	}
	at := make([]int, len(v.Table.Rows))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		way := compare(v.Table.Rows[a][column].Text, v.Table.Rows[b][column].Text)
		if descending {
			return -way
		}
		return way
	})
	out := v
	out.Table.Rows, out.Refs, out.Sparks = make([][]output.Cell, len(at)), make([]Ref, len(at)), nil
	for i, from := range at {
		out.Table.Rows[i], out.Refs[i] = v.Table.Rows[from], v.Refs[from]
		if v.Sparks != nil {
			out.Sparks = append(out.Sparks, v.Sparks[from])
		}
	}
	return out
}

// compare compares two cells: numbers and ages come before text.
func compare(a, b string) int {
	x, isX := size(a)
	y, isY := size(b)
	switch {
	case isX && isY:
		return cmp.Compare(x, y)
	case isX:
		return -1
	case isY:
		return 1
	}
	return strings.Compare(strings.ToLower(a), strings.ToLower(b))
}

// size returns the value of a number, or of an age such as 2h10m in seconds; of an estimate such as ~5m-2h that of its begin.
func size(text string) (float64, bool) {
	if estimated, ok := strings.CutPrefix(text, "~"); ok {
		text, _, _ = strings.Cut(strings.TrimPrefix(estimated, "up to "), "-")
		text = strings.TrimSuffix(strings.Replace(text, "now", "0s", 1), " or later")
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, true
	}
	total, digits := 0.0, ""
	for _, r := range text {
		unit := map[rune]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 7 * 86400, 'y': 365 * 86400}[r]
		switch {
		case r >= '0' && r <= '9':
			digits += string(r)
		case unit > 0 && digits != "":
			n, _ := strconv.ParseFloat(digits, 64)
			total, digits = total+n*unit, ""
		default:
			return 0, false
		}
	}
	return total, text != "" && digits == ""
}
