package jobs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// recorded is one scene of testdata, which TestRecordStatuses of test/e2e records
// on a real control plane.
type recorded struct {
	scene    string
	now      time.Time
	job      state.Job
	workload *state.Workload
	pods     []state.Pod
	events   []state.Event
}

// recordings reads every scene of every kind.
func recordings(t *testing.T) []recorded {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var out []recorded
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			out = append(out, decode(t, lines.Bytes()))
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func decode(t *testing.T, line []byte) recorded {
	t.Helper()
	var raw struct {
		Scene                   string
		Now                     time.Time
		Job                     json.RawMessage
		Workloads, Pods, Events []json.RawMessage
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		t.Fatal(err)
	}
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(raw.Job, &head); err != nil {
		t.Fatal(err)
	}
	kind, ok := kinds.JobFor(head.APIVersion, head.Kind)
	if !ok {
		t.Fatalf("no kind %+v", head)
	}
	r := recorded{now: raw.Now, scene: kind.Kind + ": " + raw.Scene, pods: []state.Pod{}}
	var workloads []state.Workload
	job, err := state.DecodeJob(kind, raw.Job)
	for _, w := range raw.Workloads {
		workload, e := state.DecodeWorkload(w)
		if workloads = append(workloads, workload); e != nil {
			err = e
		}
	}
	for _, p := range raw.Pods {
		pod, e := state.DecodePod(p)
		if r.pods = append(r.pods, pod); e != nil {
			err = e
		}
	}
	for _, x := range raw.Events {
		event, e := state.DecodeEvent(x)
		if r.events = append(r.events, event); e != nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	r.job, r.workload = job, Match([]state.Job{job}, workloads)[0]
	return r
}

// brief is a status in a line: the roles as name ready/wanted, with failures.
func brief(s Status) string {
	out := fmt.Sprintf("%s %s", s.State, s.Reason)
	for _, r := range s.Roles {
		out += fmt.Sprintf(" %s:%d/%d", r.Name, r.Ready, r.Wanted)
		if r.Failed > 0 {
			out += fmt.Sprintf("!%d", r.Failed)
		}
	}
	return out
}

// TestRecordedStatuses holds the status function to what a real API server, Kueue
// and the operators recorded: with the pods, and by the job's own status alone.
func TestRecordedStatuses(t *testing.T) {
	seen := map[string]bool{}
	scenes := map[string]string{
		"running":                   "Running RUN ALL",
		"preempted":                 "Preempted Preempted NONE",
		"pending behind others":     "Pending  NONE",
		"running again":             "Running RUN ALL",
		"deactivated":               "Suspended Deactivated NONE",
		"activated again":           "Running RUN ALL",
		"succeeded":                 "Succeeded END NONE",
		"running without a queue":   "Running RUN ALL",
		"suspended without a queue": "Suspended Suspended NONE",
		"larger than its queue":     "Pending Pending NONE",
		"unknown queue":             "Pending Inadmissible NONE",
		"no node fits":              "Starting Unschedulable NONE",
	}
	failed := map[string]string{
		"PyTorchJob": "Failed PyTorchJobFailed Worker:0/1!1",
		"TFJob":      "Failed TFJobFailed Worker:0/1!1",
		"XGBoostJob": "Failed XGBoostJobFailed Master:0/1!1 Worker:0/1!1",
		"MPIJob":     "Failed BackoffLimitExceeded/ Launcher:0/1!1 Worker:0/1!1",
		"Job":        "Failed BackoffLimitExceeded worker:0/1!1",
		"JobSet":     "Failed FailedJobs w:0/1!1",
		"RayJob":     "Failed AppFailed head:0/1 w:0/1", // its cluster is removed
	}
	messages := map[string]string{
		"preempted":             "Preempted to accommodate a workload",
		"larger than its queue": "insufficient quota for nvidia.com/gpu",
		"unknown queue":         "LocalQueue no-such-queue doesn't exist",
		"no node fits":          "4 node(s) didn't match Pod's node affinity/selector",
		"deactivated":           "The workload is deactivated",
		"failed":                "", // a word of each operator's own
	}
	for _, r := range recordings(t) {
		kind, scene, _ := strings.Cut(r.scene, ": ")
		seen[scene] = true
		want := failed[kind]
		if scene != "failed" {
			want = expand(scenes[scene], r.job)
		}
		s := StatusOf(r.job, r.workload, r.pods)
		if got := brief(s); got != want {
			t.Errorf("%s: got %q, want %q (%s)", r.scene, got, want, s.Message)
		}
		if message, ok := messages[scene]; ok && (!strings.Contains(s.Message+s.Trouble.Message, message) || s.Message+s.Trouble.Message == "") {
			t.Errorf("%s: message %q", r.scene, s.Message)
		}
		if s.Since.Before(r.job.CreationTimestamp) || s.Since.After(r.now) {
			t.Errorf("%s: since %s, created %s, now %s", r.scene, s.Since, r.job.CreationTimestamp, r.now)
		}
		if r.workload != nil && s.State == Running && s.Since.Before(since(r.workload.Conditions, "Admitted").Add(-time.Second)) {
			t.Errorf("%s: running since %s, admitted %s", r.scene, s.Since, since(r.workload.Conditions, "Admitted"))
		}
		if alone := StatusOf(r.job, r.workload, nil); alone.State != s.State || alone.Reason != s.Reason && scene != "no node fits" {
			t.Errorf("%s: without pods %q, with them %q", r.scene, brief(alone), brief(s))
		}
	}
	for scene := range scenes {
		if !seen[scene] {
			t.Errorf("no recording of %q", scene)
		}
	}
}

// expand writes RUN and END as the kind's reason, ALL and NONE as the roles with
// all or no pods ready.
func expand(pattern string, j state.Job) string {
	all, none := "", ""
	for _, r := range j.Roles {
		all += fmt.Sprintf(" %s:%d/%d", r.Name, r.Replicas, r.Replicas)
		none += fmt.Sprintf(" %s:0/%d", r.Name, r.Replicas)
	}
	run, end := j.Kind.Kind+"Running", j.Kind.Kind+"Succeeded"
	switch j.Kind.Kind {
	case kinds.BatchJob.Kind:
		run, end = "", "CompletionsReached"
	case kinds.JobSet.Kind:
		run, end = "", "AllJobsCompleted"
	case kinds.RayJob.Kind, kinds.RayCluster.Kind:
		run, end = "", ""
	}
	return strings.NewReplacer(" ALL", all, " NONE", none, "RUN", run, "END", end).Replace(pattern)
}

// TestRecordedTimeline is the time line of a job that was preempted, came back,
// was deactivated and activated again.
func TestRecordedTimeline(t *testing.T) {
	// The training operator does not say of a PyTorchJob's earlier lives that it
	// ran, the MPI operator does.
	want := map[string]string{
		"PyTorchJob: running":         "Created Queued Admitted Running",
		"PyTorchJob: preempted":       "Created Queued Admitted Preempted Queued Waits",
		"PyTorchJob: running again":   "Created Queued Admitted Preempted Queued Waits Admitted Running",
		"PyTorchJob: activated again": "Created Queued Admitted Preempted Waits Admitted Deactivated Queued Admitted Running",
		"PyTorchJob: succeeded":       "Created Queued Admitted Running Finished",
		"PyTorchJob: unknown queue":   "Created Queued Waits",
		"MPIJob: preempted":           "Created Queued Admitted Running Preempted Queued Waits",
		"MPIJob: running again":       "Created Queued Admitted Running Preempted Queued Waits Admitted Running",
		"JobSet: running again":       "Created Queued Admitted Preempted Queued Waits Admitted Running",
		"JobSet: succeeded":           "Created Queued Admitted Running Finished",
		"RayJob: running again":       "Created Queued Admitted Preempted Queued Waits Admitted Running",
		"RayJob: failed":              "Created Queued Admitted Running Finished",
		"RayCluster: activated again": "Created Queued Admitted Preempted Waits Admitted Deactivated Queued Admitted Running",
	}
	for _, r := range recordings(t) {
		if want[r.scene] == "" {
			continue
		}
		var steps []string
		line := TimelineOf(r.job, r.workload, r.events)
		for _, m := range line {
			steps = append(steps, string(m.Step))
		}
		if got := strings.Join(steps, " "); got != want[r.scene] {
			t.Errorf("%s:\n got %s\nwant %s\n%s", r.scene, got, want[r.scene], moments(line))
		}
		for _, m := range line {
			if m.Step == WasPreempted && (m.ByJobUID == "" || m.Reason != "InClusterQueue") {
				t.Errorf("%s: preempted by %q, reason %q", r.scene, m.ByJobUID, m.Reason)
			}
		}
	}
}

// TestRecordedPlaces: the labels that the operators really give tell each pod's role
// and rank.
func TestRecordedPlaces(t *testing.T) {
	want := map[string]string{
		"PyTorchJob": "Worker-0@0 Worker-1@1",
		"TFJob":      "Worker-0@0 Worker-1@1",
		"XGBoostJob": "Master-0@0 Worker-0@1 Worker-1@2",
		"MPIJob":     "Launcher-0@-1 Worker-0@0 Worker-1@1",
		"Job":        "worker-0@0 worker-1@1",
		"JobSet":     "w-0@0 w-1@1",
		"RayCluster": "head-0@-1 w-0@-1 w-1@-1",
		"RayJob":     "head-0@-1 submitter-0@-1 w-0@-1 w-1@-1",
	}
	seen := map[string]bool{}
	for _, r := range recordings(t) {
		kind, scene, _ := strings.Cut(r.scene, ": ")
		if scene != "running" && scene != "running again" {
			continue
		}
		seen[kind] = true
		var got []string
		for _, p := range PodRolesOf(r.job, r.pods) {
			got = append(got, fmt.Sprintf("%s-%d@%d", p.Role, p.Index, p.Rank))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want[kind] {
			t.Errorf("%s: %q", r.scene, got)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("recorded are %v", seen)
	}
}
