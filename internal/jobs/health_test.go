package jobs

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

var faultTime = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func node(name, ready string, labels ...string) state.Node {
	n := state.Node{Meta: state.Meta{Name: name, Labels: map[string]string{}, Annotations: map[string]string{}}, Conditions: []state.Condition{{Type: "Ready", Status: ready}}}
	for i := 0; i+1 < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	return n
}

func TestNodeHealth(t *testing.T) {
	const replace, reboot = kinds.NodePendingReplacement, kinds.NodePendingReboot
	tainted := node("n", "True", kinds.NodeHealthLabel, "Schedulable")
	tainted.Taints = []state.Taint{{Key: kinds.NodeHealthLabel, Value: "Unschedulable", Effect: "NoSchedule"}}
	for _, tt := range []struct {
		want NodeHealth
		bad  bool
		node state.Node
	}{
		{NodeHealth{}, false, node("n", "True")},
		{NodeHealth{Health: "Schedulable", DeepCheck: "Passed"}, false, node("n", "True", kinds.NodeHealthLabel, "Schedulable", kinds.DeepHealthLabel, "Passed")},
		{NodeHealth{Health: "NotReady"}, true, node("n", "False", kinds.NodeHealthLabel, "Schedulable")},
		{NodeHealth{Health: replace, Pending: Replacement, Types: "NvidiaErrorTerminate", Reasons: "XID_79", Last: NodeFault{Type: "NvidiaErrorTerminate", Reason: "XID_79"}}, true,
			node("n", "True", kinds.NodeHealthLabel, replace, kinds.FaultTypesLabel, "NvidiaErrorTerminate", kinds.FaultReasonsLabel, "XID_79")},
		{NodeHealth{Health: reboot, Pending: Reboot}, true, node("n", "Unknown", kinds.NodeHealthLabel, reboot)},
		{NodeHealth{Health: "Unschedulable"}, true, tainted},
		{NodeHealth{Health: "SomethingNew"}, true, node("n", "True", kinds.NodeHealthLabel, "SomethingNew")},
	} {
		tt.want.Node = "n"
		if h := HealthOf(tt.node); h != tt.want || h.Bad() != tt.bad {
			t.Errorf("got %+v, %v, want %+v", h, h.Bad(), tt.want)
		}
	}
}

func TestLastFaultOfNode(t *testing.T) {
	late := NodeFault{faultTime, "NvidiaErrorTerminate", "XID_79", "fell off"}
	for details, want := range map[string]NodeFault{
		`[{"timestamp":"2026-03-02T10:00:00Z","type":"NvidiaErrorTerminate","reason":"XID_79","message":"fell off"},{"timestamp":"2026-03-01T10:00:00Z","type":"x"}]`: late,
		`[{"timestamp":"2026-03-01T10:00:00Z","type":"x"},{"timestamp":1772445600,"type":"NvidiaErrorTerminate","reason":"XID_79","message":"fell off"}]`:             late,
		`{"timestamp":"2026-03-02T10:00:00Z","type":"NvidiaErrorTerminate","reason":"XID_79","message":"fell off"}`:                                                   late,
		`[{"type":"a","reason":"b"}]`: {Type: "a", Reason: "b"},
		`[{"timestamp":"yesterday"}]`: {Time: faultTime.Add(time.Hour), Type: "DCGM", Reason: "Fan", Message: "stands still"},
		`no JSON`:                     {Time: faultTime.Add(time.Hour), Type: "DCGM", Reason: "Fan", Message: "stands still"},
		`[1]`:                         {Time: faultTime.Add(time.Hour), Type: "DCGM", Reason: "Fan", Message: "stands still"},
		``:                            {Time: faultTime.Add(time.Hour), Type: "DCGM", Reason: "Fan", Message: "stands still"},
	} {
		n := node("n", "True", kinds.FaultTypesLabel, "DCGM", kinds.FaultReasonsLabel, "Fan")
		n.Annotations[kinds.FaultDetailsAnnotation] = details
		n.Conditions = append(n.Conditions, state.Condition{Type: "DCGM", Status: "True", Reason: "Fan", Message: "stands still", LastTransitionTime: faultTime.Add(time.Hour)},
			state.Condition{Type: "MemoryPressure", Status: "True", LastTransitionTime: faultTime.Add(2 * time.Hour)})
		if got := HealthOf(n).Last; got != want {
			t.Errorf("%s: got %+v, want %+v", details, got, want)
		}
	}
}

func TestResilience(t *testing.T) {
	pod := func(name, on, phase string, created time.Time) state.Pod {
		return state.Pod{Meta: state.Meta{Name: name, CreationTimestamp: created}, NodeName: on, Phase: phase}
	}
	faulty := func(name, health string, at time.Time) state.Node {
		n := node(name, "True", kinds.NodeHealthLabel, health)
		n.Annotations[kinds.FaultDetailsAnnotation] = `[{"timestamp":"` + at.Format(time.RFC3339) + `","reason":"XID_79"}]`
		return n
	}
	job := state.Job{Kind: kinds.PyTorchJob}
	nodes := []state.Node{faulty("a", "Unschedulable", faultTime.Add(-time.Hour)), faulty("b", kinds.NodePendingReplacement, faultTime), faulty("c", kinds.NodePendingReplacement, faultTime), node("d", "True")}
	pods := []state.Pod{pod("p0", "a", "Running", faultTime.Add(-time.Minute)), pod("p1", "b", "Running", faultTime.Add(-time.Minute)), pod("p2", "d", "Running", faultTime), pod("p3", "", "Pending", faultTime)}
	r := ResilienceOf(job, nil, pods, nodes)
	if r.Nodes != 3 || len(r.Bad) != 2 || r.Bad[0].Node != "b" || len(r.AwaitingRepair()) != 1 || r.Last != (JobFault{NodeFault: NodeFault{Time: faultTime, Reason: "XID_79"}, Node: "b"}) {
		t.Errorf("got %+v", r)
	}
	// A fault before the pod came is not the job's; a pod that was lost with its node is.
	lost := pod("p4", "a", "Failed", faultTime.Add(-time.Minute))
	lost.Conditions = []state.Condition{{Type: "DisruptionTarget", Status: "True", Reason: "DeletionByTaintManager", LastTransitionTime: faultTime}}
	r = ResilienceOf(job, nil, []state.Pod{lost}, nodes[:1])
	if r.Nodes != 0 || len(r.Bad) != 0 || r.Last != (JobFault{NodeFault{Time: faultTime, Reason: "DeletionByTaintManager"}, "a", "p4"}) {
		t.Errorf("got %+v", r)
	}
	if r = ResilienceOf(job, nil, pods, nil); r.Nodes != 3 || r.Last != (JobFault{}) || len(r.Bad) != 0 {
		t.Errorf("got %+v", r)
	}
}
