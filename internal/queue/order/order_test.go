package order

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// waits is a workload of one LocalQueue that was created some minutes ago.
func waits(name string, priority int32, minutes int, conditions ...state.Condition) state.Workload {
	return state.Workload{Meta: state.Meta{Name: name, UID: name, Namespace: "n", CreationTimestamp: noon.Add(-time.Duration(minutes) * time.Minute)},
		QueueName: "lq", Priority: priority, Active: true, Conditions: conditions}
}

// cond is a true condition that began some minutes ago.
func cond(kind, reason string, minutes int) state.Condition {
	return state.Condition{Type: kind, Status: "True", Reason: reason, LastTransitionTime: noon.Add(-time.Duration(minutes) * time.Minute)}
}

func TestPosition(t *testing.T) {
	all := []state.Workload{
		waits("late", 1, 1), waits("early", 1, 7), waits("high", 5, 0),
		waits("preempted", 1, 9, cond("Evicted", "Preempted", 0)),
		waits("timeout", 1, 8, cond("Evicted", "PodsReadyTimeout", 2)),
		waits("check", 1, 10, cond("Evicted", "AdmissionCheck", 3)),
		waits("reclaimed", 1, 11, cond("Evicted", "Preempted", 0), cond("Preempted", "InCohortReclaimWhileBorrowing", 0)),
		waits("reserved", 9, 9, cond("QuotaReserved", "Q", 0)), waits("finished", 9, 9, cond("Finished", "Succeeded", 0)),
	}
	other := waits("other", 9, 9)
	other.QueueName = "another"
	suspended := waits("suspended", 9, 9)
	suspended.Active = false
	lost := waits("lost", 9, 9, cond("Evicted", "Preempted", 0), cond("WaitingForReplacementPods", "Preempted", 0))
	lost.Owners = []state.Owner{{Kind: "Pod"}}
	all = append(all, other, suspended, lost)
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{}, "late 7, early 4, high 1, preempted 3, timeout 6, check 5, reclaimed 2"},
		{Rules{RequeueByCreation: true}, "late 7, early 5, high 1, preempted 3, timeout 4, check 6, reclaimed 2"},
		{Rules{ReclaimedLast: true}, "late 6, early 3, high 1, preempted 2, timeout 5, check 4, reclaimed 7"},
	} {
		var got []string
		for i := range all {
			position, of := c.rules.Position(&all[i], all)
			switch {
			case all[i].Name == "other":
				if position != 1 || of != 1 {
					t.Errorf("the only one of its queue: %d of %d", position, of)
				}
			case of == 0:
			case of != 7:
				t.Errorf("%s: %d of %d", all[i].Name, position, of)
			default:
				got = append(got, fmt.Sprintf("%s %d", all[i].Name, position))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", c.rules, strings.Join(got, ", "), c.want)
		}
	}
	if position, of := (Rules{}).Position(nil, all); position != 0 || of != 0 {
		t.Error("no workload has a position")
	}
}

func TestParse(t *testing.T) {
	for config, want := range map[string]Rules{
		"":                                  {},
		"waitForPodsReady:\n  enable: true": {},
		"waitForPodsReady:\n  requeuingStrategy:\n    timestamp: Eviction":     {},
		"waitForPodsReady:\n  requeuingStrategy:\n    timestamp: Creation":     {RequeueByCreation: true},
		"featureGates:\n  PrioritySortingWithinCohort: false":                  {ReclaimedLast: true},
		"featureGates:\n  PrioritySortingWithinCohort: true\n  Another: false": {},
	} {
		if got, err := Parse(config); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", config, got, err)
		}
	}
	if _, err := Parse("waitForPodsReady: ["); err == nil {
		t.Error("no error for a text that is not YAML")
	}
}

func TestDepends(t *testing.T) {
	for want, all := range map[bool][]state.Workload{
		false: {waits("a", 1, 1), waits("b", 1, 1, cond("Evicted", "Preempted", 0)), waits("c", 1, 1, cond("QuotaReserved", "Q", 0), cond("Evicted", "PodsReadyTimeout", 0))},
		true:  {waits("a", 1, 1), waits("b", 1, 1, cond("Evicted", "PodsReadyTimeout", 0))},
	} {
		if depends(all) != want {
			t.Errorf("want %v", want)
		}
	}
}
