package governancecmd

import (
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/audit"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestManyFindings: the table of an audit stays readable; JSON has all findings.
func TestManyFindings(t *testing.T) {
	terminal := &output.IO{OutTTY: true}
	for n, rows := range map[int]int{1: 1, output.MostRows + 1: output.MostRows + 1, 1000: output.MostRows} {
		d := audit.Document{Findings: slices.Repeat([]audit.Finding{{Code: audit.UnusedPriority, Name: "x"}}, n)}
		table := auditTable(terminal, d, false)
		if len(table.Rows) != rows || slices.Contains(table.Notes, "and 960 more UnusedPriority (see -o wide)") != (n == 1000) {
			t.Errorf("%d findings: %d rows, notes %q", n, len(table.Rows), table.Notes)
		}
		if all := auditTable(terminal, d, true); len(all.Rows) != n {
			t.Errorf("%d findings: %d rows of -o wide", n, len(all.Rows))
		}
	}
}
