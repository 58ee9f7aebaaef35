package audittext

import "github.com/hyperpod-cli/hyperpod/internal/governance/audit"

// Row is a line of the table: a finding, or what is idle for one reason while a team waits.
type Row struct {
	Code    audit.Code
	Message string
}

// Blocks returns the lines of all findings. Those about one team that waits belong together: idle quota is below the team that waits
// for it.
func Blocks(found []audit.Finding) [][]Row {
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
