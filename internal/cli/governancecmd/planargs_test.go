package governancecmd

import (
	"strings"
	"testing"
)

// The command that shows what is left of a saved plan names the governance file that the plan is of.
func TestPlanOfSavedPlan(t *testing.T) {
	for _, c := range []struct {
		o    ApplyOptions
		want string
	}{
		{ApplyOptions{File: "teams.yaml", Prune: true}, "plan -f teams.yaml --prune"},
		{ApplyOptions{Plan: "plan.json", planOf: (&savedPlan{File: "teams.yaml"}).file()}, "plan -f teams.yaml"},
		{ApplyOptions{Plan: "plan.json", planOf: (&savedPlan{}).file()}, "plan -f FILE"}, // of stdin
	} {
		if got := strings.Join(c.o.planArgs(), " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
