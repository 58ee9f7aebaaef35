package jobs

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func document(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The document of list-jobs is a contract with scripts: five keys, in this order.
func TestListJSON(t *testing.T) {
	created := time.Date(2024, 9, 26, 9, 13, 6, 0, time.FixedZone("", 2*3600))
	jobs := []state.Job{
		{Kind: kinds.PyTorchJob, Meta: state.Meta{Name: "smpv2-llama2", Namespace: "hyperpod-ns-ml-engineers", UID: "u-1", CreationTimestamp: created,
			Labels: map[string]string{kinds.PriorityLabel: "fine-tuning-priority", kinds.QueueLabel: "q"}}},
		{Kind: kinds.BatchJob, Meta: state.Meta{Name: "plain"}},
	}
	statuses := []Status{{State: Running, Since: created, Reason: "R", Wanted: 2, Ready: 1, Restarts: 3}, {State: Pending}}
	want := `{
 "jobs": [
  {
   "Name": "smpv2-llama2",
   "Namespace": "hyperpod-ns-ml-engineers",
   "CreationTime": "2024-09-26T07:13:06Z",
   "State": "Running",
   "Priority": "fine-tuning-priority"
  },
  {
   "Name": "plain",
   "Namespace": "",
   "CreationTime": "",
   "State": "Pending",
   "Priority": null
  }
 ]
}`
	if got := document(t, ListJSON(jobs, statuses)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := document(t, ListJSON(nil, nil)); got != "{\n \"jobs\": []\n}" {
		t.Errorf("got %s", got)
	}
	wantVerbose := `{
 "jobs": [
  {
   "Name": "smpv2-llama2",
   "Namespace": "hyperpod-ns-ml-engineers",
   "CreationTime": "2024-09-26T07:13:06Z",
   "State": "Running",
   "Priority": "fine-tuning-priority",
   "Kind": "PyTorchJob",
   "Queue": "q",
   "Since": "2024-09-26T07:13:06Z",
   "Reason": "R",
   "Message": "m",
   "Pods": 2,
   "PodsReady": 1,
   "Failed": 0,
   "Restarts": 3,
   "UID": "u-1",
   "CreatedBy": null,
   "OwnerSource": null,
   "Devices": {},
   "Sweep": null,
   "Parameters": {}
  }
 ]
}`
	if got := document(t, List[VerboseRow]{Jobs: []VerboseRow{VerboseRowOf(jobs[0], statuses[0], "m")}}); got != wantVerbose {
		t.Errorf("got\n%s\nwant\n%s", got, wantVerbose)
	}
}

func TestPodsJSON(t *testing.T) {
	got := document(t, PodsJSON([]state.Pod{{Meta: state.Meta{Name: "p", Namespace: "n", CreationTimestamp: time.Date(2026, 3, 2, 10, 0, 1, 0, time.UTC)}, Phase: "Running"}}))
	want := `{
 "pods": [
  {
   "PodName": "p",
   "Namespace": "n",
   "Status": "Running",
   "CreationTime": "2026-03-02T10:00:01Z"
  }
 ]
}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := document(t, PodsJSON(nil)); got != "{\n \"pods\": []\n}" {
		t.Errorf("got %s", got)
	}
}

func TestStatuses(t *testing.T) {
	jobs := []state.Job{{Suspended: true, Meta: state.Meta{UID: "1", Labels: map[string]string{kinds.QueueLabel: "q"}}}, {Suspended: true, Meta: state.Meta{UID: "2"}}}
	got := Statuses(jobs, []state.Workload{{Active: true, OwnerUID: "1", Conditions: []state.Condition{{Type: "Evicted", Status: "True", Reason: "Preempted"}}}})
	if got[0].State != Preempted || got[1].State != Suspended {
		t.Errorf("got %+v", got)
	}
}
