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

// TestAuditOfAPart: no finding says nothing about teams that could not be read.
func TestAuditOfAPart(t *testing.T) {
	for complete, want := range map[bool]string{true: "nothing to report: no team waits for quota", false: "nothing to report about what could be read"} {
		if got := auditTable(&output.IO{}, audit.Document{Complete: complete}, false).Empty; got != want {
			t.Errorf("complete %t: %q", complete, got)
		}
	}
}
