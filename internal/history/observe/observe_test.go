package observe

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestPhases: what a timeline says about quota.
func TestPhases(t *testing.T) {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minute int, s jobs.Step, reason string) jobs.Moment {
		return jobs.Moment{Time: base.Add(time.Duration(minute) * time.Minute), Step: s, Reason: reason}
	}
	for _, c := range []struct {
		name     string
		timeline []jobs.Moment
		want     string
	}{
		{"a job that ran", []jobs.Moment{at(0, jobs.Created, ""), at(0, jobs.Queued, ""), at(5, jobs.Admitted, ""), at(6, jobs.Ran, ""), at(9, jobs.Finished, "")}, "W0 H5 E9 "},
		{"a preempted job that waits", []jobs.Moment{at(0, jobs.Created, ""), at(5, jobs.QuotaReserved, ""), at(8, jobs.WasPreempted, "InCohortReclamation"), at(8, jobs.Queued, ""), at(9, jobs.Waits, "")}, "W0 H5 P8InCohortReclamation "},
		{"evicted, deactivated and resumed", []jobs.Moment{at(0, jobs.Created, ""), at(2, jobs.Admitted, ""), at(3, jobs.Evicted, "PodsReadyTimeout"), at(4, jobs.Deactivated, "Deactivated"), at(5, jobs.Queued, ""), at(6, jobs.Admitted, "")}, "W0 H2 V3PodsReadyTimeout S4Deactivated W5 H6 "},
		{"a failed job; nothing follows", []jobs.Moment{at(0, jobs.Created, ""), at(1, jobs.Ran, ""), {Time: base.Add(2 * time.Minute), Step: jobs.Finished, Failed: true, Reason: "Error"}, at(3, jobs.Ran, "")}, "W0 H1 F2Error "},
		{"a requeue that is recorded after the admission", []jobs.Moment{at(0, jobs.Created, ""), at(1, jobs.Admitted, ""), at(1, jobs.Waits, "")}, "W0 H1 "},
		{"nothing", nil, ""},
	} {
		got := ""
		for _, p := range Phases(c.timeline) {
			got += fmt.Sprintf("%s%d%s ", p.Phase, int(p.Time.Sub(base).Minutes()), p.Reason)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestComplete: without the list over all namespaces, the namespaces that could be read whole are complete.
func TestComplete(t *testing.T) {
	job, workload := kinds.PyTorchJob.Resource, kinds.Workload
	for _, c := range []struct {
		name    string
		missing []state.Missing
		all     bool
		in      string
	}{
		{"everything", nil, true, "[]"},
		{"a kind that the cluster does not have, and nodes", []state.Missing{{Resource: job, Reason: state.NotServed}, {Resource: kinds.Node, Reason: state.Forbidden}}, true, "[]"},
		{"no list over all namespaces", []state.Missing{{Resource: job, Reason: state.Forbidden}, {Resource: workload, Reason: state.Forbidden}}, false, "[a b]"},
		{"one namespace without workloads", []state.Missing{{Resource: job, Reason: state.Forbidden}, {Resource: workload, Namespace: "a", Reason: state.Forbidden}}, false, "[b]"},
		{"a failure", []state.Missing{{Resource: job, Reason: state.Failed}}, false, "[]"},
	} {
		if all, in := complete(&state.State{Fallback: []string{"a", "b"}, Missing: c.missing}); all != c.all || fmt.Sprint(in) != c.in {
			t.Errorf("%s: %v %v", c.name, all, in)
		}
	}
}

// TestBorrowedBySeveralWorkloads: a job with a workload for each pod borrows what all of them borrow.
func TestBorrowedBySeveralWorkloads(t *testing.T) {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const gpu = "nvidia.com/gpu"
	s := &state.State{Taken: base.Add(time.Hour), Jobs: []state.Job{{Kind: kinds.DeploymentKind, Meta: state.Meta{Name: "x", UID: "u", Namespace: "n", CreationTimestamp: base}}}}
	for i := range 3 {
		name := fmt.Sprintf("x-1a2b3c-aaaa%d", i)
		yes := func(kind string) state.Condition {
			return state.Condition{Type: kind, Status: "True", LastTransitionTime: base.Add(time.Duration(i) * time.Minute)}
		}
		s.Workloads = append(s.Workloads, state.Workload{Meta: state.Meta{Name: name, UID: name, Namespace: "n", CreationTimestamp: base, Owners: []state.Owner{{Kind: "Pod", Name: name}}}, Active: true,
			Conditions: []state.Condition{yes("QuotaReserved"), yes("Admitted")},
			Admission: &state.Admission{ClusterQueue: "q", PodSets: []state.PodSetAssignment{
				{Name: "main", Flavors: map[string]string{gpu: "f"}, Usage: map[string]string{gpu: "2"}}}}})
	}
	s.ClusterQueues = []state.ClusterQueue{{Meta: state.Meta{Name: "q"}, ResourceGroups: []state.ResourceGroup{{Flavors: []state.FlavorQuotas{
		{Name: "f", Resources: []state.ResourceQuota{{Name: gpu, Nominal: resource.MustParse("1")}}}}}}}}
	phases := Of(s, nil, "").Jobs[0].Phases
	if n := len(phases); n == 0 || phases[n-1].Borrowed[gpu] != 5 {
		t.Errorf("%+v: want 5 GPUs borrowed", phases)
	}
}
