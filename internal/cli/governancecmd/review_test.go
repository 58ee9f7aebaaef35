package governancecmd

import (
	"slices"
	"testing"
)

// TestReviewTable: only what is missing has a row, but for the wide table.
func TestReviewTable(t *testing.T) {
	d := ReviewDocument{Namespace: "team-a", Permissions: []review{
		{Permission: "get pods", Namespace: "team-a", Required: true, Allowed: true, Commands: []string{"get-job"}},
		{Permission: "list pods", Namespace: "team-a", Required: true, Commands: []string{"list-pods", "get-log"}},
		{Permission: "list nodes", Commands: []string{"get-quota"}},
		{Permission: "watch nodes", Commands: []string{"dashboard"}},
	}}
	table := reviewTable(d, false)
	if len(table.Rows) != 2 || table.Rows[0][0].Text != "pods" || table.Rows[1][1].Text != "list, watch" || table.Rows[1][5].Text != "dashboard, get-quota" {
		t.Errorf("rows: %+v", table.Rows)
	}
	want := []string{"1 of 2 required permissions in team-a is missing", "2 of 2 optional permissions are missing", "granted permissions are hidden (see -o wide)"}
	if !slices.Equal(table.Notes, want) {
		t.Errorf("notes: %q", table.Notes)
	}
	if wide := reviewTable(d, true); len(wide.Rows) != 3 || wide.Rows[2][3].Text != "yes" || len(wide.Notes) != 2 {
		t.Errorf("wide: %+v", wide)
	}
}
