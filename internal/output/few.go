package output

import (
	"fmt"
	"slices"
	"strings"
)

// FewOfEach returns the rows of a table of findings: all, or about [MostRows] where s shortens the table. Then they are the first blocks of
// each code, in their order, and note counts the others by their code ("" for none). Each code has its part of the rows, so that many
// findings of one code hide nothing else. The rows of a block belong together; its first row has its code.
func FewOfEach[T any](s *IO, wide bool, blocks [][]T, code func(T) string) (rows []T, note string) {
	if all := slices.Concat(blocks...); !s.Shortens(wide, len(all)) {
		return all, ""
	}
	rows, left := fewOfEach(blocks, code, MostRows)
	return rows, "and " + left + " (see -o wide)"
}

func fewOfEach[T any](blocks [][]T, code func(T) string, most int) (rows []T, left string) {
	codes := map[string]bool{}
	for _, b := range blocks {
		codes[code(b[0])] = true
	}
	part := max(most/len(codes), 1)
	shown, hidden := map[string]int{}, map[string]int{}
	for _, b := range blocks {
		code := code(b[0])
		if shown[code] >= part {
			hidden[code]++
			continue
		}
		shown[code] += len(b)
		rows = append(rows, b...)
	}
	var more []string
	for _, b := range blocks {
		code := code(b[0])
		if n := hidden[code]; n > 0 {
			more = append(more, fmt.Sprintf("%d more %s", n, code))
			delete(hidden, code)
		}
	}
	return rows, strings.Join(more, ", ")
}
