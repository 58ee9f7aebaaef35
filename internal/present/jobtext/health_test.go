package jobtext

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

func TestHealth(t *testing.T) {
	for want, h := range map[string]jobs.NodeHealth{
		"NotReady": {Health: "NotReady"},
		"pending replacement (NvidiaErrorTerminate, XID 79)": {Health: "UnschedulablePendingReplacement", Pending: jobs.Replacement, Types: "NvidiaErrorTerminate", Reasons: "XID_79"},
		"pending reboot (deep health check Failed)":          {Pending: jobs.Reboot, DeepCheck: "Failed"},
		"Unschedulable (deep health check InProgress)":       {Health: "Unschedulable", DeepCheck: "InProgress"},
		"NvidiaErrorReboot":                                  {Types: "NvidiaErrorReboot"},
		"UnschedulableForReasons":                            {Health: "UnschedulableForReasons", DeepCheck: "Passed"},
	} {
		if got := Health(h); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAwaitingRepair(t *testing.T) {
	replaced, rebooted, ill := jobs.NodeHealth{Pending: jobs.Replacement}, jobs.NodeHealth{Pending: jobs.Reboot}, jobs.NodeHealth{Health: "NotReady"}
	for want, r := range map[string]jobs.Resilience{
		"":                                {Nodes: 2, Bad: []jobs.NodeHealth{ill}},
		"its node is pending replacement": {Nodes: 1, Bad: []jobs.NodeHealth{replaced}},
		"1 of its 4 nodes is pending replacement, 1 of its 4 nodes is pending reboot": {Nodes: 4, Bad: []jobs.NodeHealth{replaced, rebooted, ill}},
		"2 of its 4 nodes are pending reboot":                                         {Nodes: 4, Bad: []jobs.NodeHealth{rebooted, rebooted}},
	} {
		if got := AwaitingRepair(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestJobFault(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for want, f := range map[string]jobs.JobFault{
		"": {},
		"12m ago on n: NvidiaGPU, XID 79: GPU has fallen off the bus": {Node: "n", NodeFault: jobs.NodeFault{Time: now.Add(-12 * time.Minute), Type: "NvidiaGPU", Reason: "XID_79", Message: "GPU has fallen\noff the bus"}},
		"on n: XID 79": {Node: "n", NodeFault: jobs.NodeFault{Reason: "XID_79"}},
		"1h ago on n, pod p: DeletionByTaintManager": {Node: "n", Pod: "p", NodeFault: jobs.NodeFault{Time: now.Add(-time.Hour), Reason: "DeletionByTaintManager"}},
	} {
		if got := JobFault(f, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRetries(t *testing.T) {
	for want, r := range map[string]jobs.Resume{
		"": {}, "2 recorded": {Used: 2}, "1 of 3 recorded; auto-resume is on": {On: true, Most: 3, Used: 1},
	} {
		if got := Retries(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
