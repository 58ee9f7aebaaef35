package wait

import (
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

func TestJudge(t *testing.T) {
	names := map[Verdict]string{NotYet: "-", Reached: "yes", Never: "never", OnHold: "held"}
	for goal, want := range map[Goal]string{
		//          Pending Preempted Suspended Stopped Starting Running Restarting Succeeded Failed
		Admitted:  "- - held held yes yes yes yes never",
		Running:   "- - held held - yes - yes never",
		Succeeded: "- - held held - - - yes never",
		Finished:  "- - held held - - - yes yes",
		Deleted:   "- - - - - - - - -",
	} {
		var got []string
		for _, s := range jobs.States() {
			got = append(got, names[Judge(goal, s)])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", goal, strings.Join(got, " "), want)
		}
	}
}

func TestGoalNamed(t *testing.T) {
	for word, want := range map[string]Goal{"admitted": Admitted, "RUNNING": Running, "condition=Running": Running, "delete": Deleted, "condition=complete": Succeeded, "finished": Finished} {
		if got := GoalNamed(word); got != string(want) {
			t.Errorf("%s: %s", word, got)
		}
	}
	for _, word := range []string{"", "condition=", "dinner", "condition=Ready"} {
		if got := GoalNamed(word); slices.Contains(Goals(), got) {
			t.Errorf("%q is %s", word, got)
		}
	}
}
