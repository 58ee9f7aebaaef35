package audittext

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Row is a line of the table: a finding, or what is idle for one reason while a team waits.
type Row struct {
	Code    audit.Code
	Message string
}

// Rows returns the lines of a table with about most lines, and what it leaves out ("" for nothing). Each code has its part
// of the lines, so that many teams that wait hide nothing else. Idle quota is below the team that waits for it.
func Rows(found []audit.Finding, most int) (rows []Row, left string) {
	blocks := blocksOf(found)
	of := map[audit.Code]int{}
	total := 0
	for _, b := range blocks {
		of[b[0].Code]++
		total += len(b)
	}
	part := total
	if total > most+1 {
		part = max(most/len(of), 1)
	}
	lines, hidden := map[audit.Code]int{}, map[audit.Code]int{}
	for _, b := range blocks {
		code := b[0].Code
		if lines[code] >= part {
			hidden[code]++
			continue
		}
		lines[code] += len(b)
		rows = append(rows, b...)
	}
	var more []string
	for _, b := range blocks {
		if n := hidden[b[0].Code]; n > 0 {
			more = append(more, fmt.Sprintf("%d more %s", n, b[0].Code))
			delete(hidden, b[0].Code)
		}
	}
	return rows, words.Some(more, len(more))
}

// blocksOf returns the lines of all findings: one for each, those about one team that waits together.
func blocksOf(found []audit.Finding) [][]Row {
	var blocks [][]Row
	for i := 0; i < len(found); i++ {
		f := found[i]
		if f.Code != audit.Idle || len(blocks) == 0 {
			blocks = append(blocks, []Row{{f.Code, f.Message}})
			continue
		}
		n := 1
		for i+n < len(found) && together(f, found[i+n]) {
			n++
		}
		last := &blocks[len(blocks)-1]
		*last = append(*last, Row{f.Code, idle(found[i : i+n])})
		i += n - 1
	}
	return blocks
}
