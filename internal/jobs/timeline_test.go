package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func moments(line []Moment) string {
	var out []string
	for _, m := range line {
		times := ""
		if m.Times > 1 {
			times = fmt.Sprintf(" x%d", m.Times)
		}
		by := ""
		if m.ByJobUID != "" {
			by = " by " + m.ByJobUID
		}
		out = append(out, fmt.Sprintf("%s %s %s%s%s", m.Time.Format("04:05"), m.Step, m.Reason, times, by))
	}
	return strings.Join(out, "\n")
}

func event(t *testing.T, uid, words string) state.Event {
	t.Helper()
	f := strings.SplitN(words, " ", 4)
	at, err := time.Parse(time.RFC3339, "2026-11-20T10:"+f[0]+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return state.Event{Kind: f[1], ObjectUID: uid, Reason: f[2], Message: f[3], First: at, Last: at, Count: 1}
}

func TestTimeline(t *testing.T) {
	j := job(t, kinds.PyTorchJob, "q", workers, conds("Created=True:C Running=True:PyTorchJobRunning@09 Suspended=False:PyTorchJobResumed@09"))
	j.UID = "J"
	w := workload(t, "", conds("QuotaReserved=True:Q@08 Admitted=True:Admitted@08 Evicted=False:QuotaReserved@08"))
	w.UID = "W"
	w.Admission = &state.Admission{ClusterQueue: "cq"}
	w.CreationTimestamp = j.CreationTimestamp.Add(time.Second)
	preempted := "Preempted to accommodate a workload (UID: w2, JobUID: j2) due to reclamation within the cohort; preemptor path: /a; preemptee path: /b"
	events := []state.Event{
		event(t, "W", "01:00 Workload Pending couldn't assign flavors to pod set worker: insufficient unused quota, 4 more needed"),
		event(t, "W", "01:30 Workload Pending couldn't assign flavors to pod set worker: insufficient unused quota, 2 more needed"),
		event(t, "W", "02:00 Workload QuotaReserved Quota reserved in ClusterQueue cq, wait time since queued was 120s"),
		event(t, "W", "02:00 Workload Admitted Admitted by ClusterQueue cq, wait time since reservation was 0s"),
		event(t, "J", "02:03 PyTorchJob PyTorchJobRunning PyTorchJob x is running."),
		event(t, "W", "05:00 Workload Preempted "+preempted),
		event(t, "W", "05:01 Workload EvictedDueToPreempted "+preempted),
		event(t, "X", "05:02 Workload EvictedDueToPreempted another one's"),
		event(t, "J", "05:03 PyTorchJob Stopped "+preempted),
	}
	want := `00:00 Created 
00:01 Queued 
01:00 Waits Pending
02:00 Admitted Admitted
02:03 Running PyTorchJobRunning
05:00 Preempted InCohortReclamation by j2
08:00 Admitted Admitted
09:00 Running PyTorchJobRunning`
	line := TimelineOf(j, w, events)
	if got := moments(line); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if line[2].Message != "couldn't assign flavors to pod set worker: insufficient unused quota, 2 more needed" || line[3].Message != "Admitted by ClusterQueue cq" || line[3].Queue != "" {
		t.Errorf("got %+v", line)
	}
	w = workload(t, "", conds("QuotaReserved=False:Pending@08 Evicted=True:Preempted@08 Requeued=True:Preempted@08 WaitingForReplacementPods=True:Preempted@08"))
	w.Owners = []state.Owner{{Kind: "Pod"}}
	if got := moments(TimelineOf(j, w, nil)); !strings.Contains(got, "08:00 Preempted Preempted\n08:00 Lost Preempted\n09:00") {
		t.Errorf("pods that nothing makes again: %s", got)
	}
	w = workload(t, "", conds("QuotaReserved=False:Pending@04 Admitted=False:NoReservation@04 Evicted=True:Deactivated@04 Requeued=True:Reactivated@06"))
	w.Conditions[0].Message = "couldn't assign flavors"
	line = TimelineOf(job(t, kinds.PyTorchJob, "q", workers, conds("Created=True:C")), w, nil)
	if got := moments(line); got != "00:00 Created \n00:30 Queued \n04:00 Deactivated Deactivated\n06:00 Queued Reactivated\n06:00 Waits Pending" || !line[2].HadQuota {
		t.Errorf("a job that was resumed and waits: %s", got)
	}
	if len(TimelineOf(j, nil, nil)) != 3 {
		t.Errorf("without Kueue: %s", moments(TimelineOf(j, nil, nil)))
	}
}

// An event that comes seconds after the condition is the same admission; an admission of the second of a preemption comes first.
func TestAdmittedOnce(t *testing.T) {
	preempted := "Preempted to accommodate a workload (UID: w2, JobUID: j2) due to reclamation within the cohort"
	for _, c := range []struct {
		name, conditions string
		admission        bool
		events           []string
		want             string
	}{
		{"a late event", "QuotaReserved=True:Q@08 Admitted=True:Admitted@08", true, []string{"08:20 Workload Admitted Admitted by ClusterQueue cq"}, "08:00 Admitted Admitted"},
		{"preempted between", "Admitted=True:Admitted@08", true, []string{"08:10 Workload Preempted " + preempted, "08:20 Workload Admitted Admitted by ClusterQueue cq"},
			"08:00 Admitted Admitted\n08:10 Preempted InCohortReclamation by j2\n08:20 Admitted Admitted"},
		{"the same second", "", false, []string{"08:00 Workload Preempted " + preempted, "08:00 Workload Admitted Admitted by ClusterQueue cq"},
			"08:00 Admitted Admitted\n08:00 Preempted InCohortReclamation by j2"},
		{"admitted again", "", false, []string{"02:00 Workload Admitted Admitted by ClusterQueue cq", "08:00 Workload Preempted " + preempted, "08:00 Workload Admitted Admitted by ClusterQueue cq"},
			"02:00 Admitted Admitted\n08:00 Preempted InCohortReclamation by j2\n08:00 Admitted Admitted"},
	} {
		j := job(t, kinds.PyTorchJob, "q", workers, conds("Created=True:C"))
		w := workload(t, "", conds(c.conditions))
		w.UID = "W"
		if c.admission {
			w.Admission = &state.Admission{ClusterQueue: "cq"}
		}
		var events []state.Event
		for _, e := range c.events {
			events = append(events, event(t, "W", e))
		}
		got := moments(slices.DeleteFunc(TimelineOf(j, w, events), func(m Moment) bool { return m.Step == Created || m.Step == Queued }))
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
