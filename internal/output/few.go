package output

import (
	"fmt"
	"strings"
)

// FewOfEach returns the rows of a table with about most rows: the first blocks of each code, in their order. It also counts the blocks that
// it leaves out, by their code ("" for none). Each code has its part of the rows, so that many findings of one code hide nothing else. The
// rows of a block belong together; its first row has its code.
func FewOfEach[T any](blocks [][]T, code func(T) string, most int) (rows []T, left string) {
	codes := map[string]bool{}
	total := 0
	for _, b := range blocks {
		codes[code(b[0])] = true
		total += len(b)
	}
	part := total
	if total > most+1 {
		part = max(most/len(codes), 1)
	}
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
