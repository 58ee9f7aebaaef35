package governancecmd

import (
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestManyFindingsOfCheck: the table of a check with many findings shows some of each code, errors first, and counts the
// rest. JSON and -o wide have all findings.
func TestManyFindingsOfCheck(t *testing.T) {
	terminal := &output.IO{OutTTY: true}
	warning, hard := policy.Finding{Code: "W050", Level: policy.LevelWarning}, policy.Finding{Code: "E031", Level: policy.LevelError}
	found := slices.Concat(slices.Repeat([]policy.Finding{warning}, 1000), slices.Repeat([]policy.Finding{hard}, 2))
	table := findingsTable(terminal, CheckDocument{File: "x.yaml", Findings: found}.counted(), false)
	if len(table.Rows) != 2+output.MostRows/2 || table.Rows[0][2].Text != "E031" || table.Rows[2][2].Text != "W050" {
		t.Errorf("%d rows, first %+v", len(table.Rows), table.Rows[0])
	}
	if want := []string{"2 errors, 1000 warnings, 0 notes", "and 980 more W050 (see -o wide)"}; !slices.Equal(table.Notes, want) {
		t.Errorf("notes %q, want %q", table.Notes, want)
	}
	if wide := findingsTable(terminal, CheckDocument{File: "x.yaml", Findings: found}.counted(), true); len(wide.Rows) != len(found) || len(wide.Notes) != 1 {
		t.Errorf("-o wide: %d rows, notes %q", len(wide.Rows), wide.Notes)
	}
	few := slices.Repeat([]policy.Finding{warning}, output.MostRows+1)
	if table := findingsTable(terminal, CheckDocument{File: "x.yaml", Findings: few}.counted(), false); len(table.Rows) != len(few) {
		t.Errorf("%d of %d rows", len(table.Rows), len(few))
	}
}
