package jobtext

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestState(t *testing.T) {
	for want, s := range map[string]jobs.Status{
		"Succeeded":                        {State: jobs.Succeeded},
		"Starting: its pods are starting":  {State: jobs.Starting},
		"Pending: waiting for admission":   {State: jobs.Pending},
		"Pending: no quota":                {State: jobs.Pending, Reason: "Pending", Message: "no quota"},
		"Preempted: Preempted":             {State: jobs.Preempted, Reason: "Preempted"},
		"Running: deletion is in progress": {State: jobs.Running, Reason: jobs.Deleting},
		"Suspended: its suspend field is set and no queue resumes it":           {State: jobs.Suspended, Reason: jobs.SuspendField},
		"Suspended: its Workload is deactivated":                                {State: jobs.Suspended, Reason: jobs.DeactivatedReason},
		"Suspended: retries are used up":                                        {State: jobs.Suspended, Reason: jobs.DeactivatedReason, Message: "retries are used up"},
		"Pending: Kueue has not created its Workload yet":                       {State: jobs.Pending, Reason: jobs.NoWorkload},
		"Pending: quota is reserved; admission checks are not ready":            {State: jobs.Pending, Reason: jobs.UnsatisfiedChecks},
		"Pending: quota is reserved; admission checks that are not ready: a, b": {State: jobs.Pending, Reason: jobs.UnsatisfiedChecks, Checks: []string{"a", "b"}},
		"Restarting: container c of pod p keeps failing":                        {State: jobs.Restarting, Reason: "CrashLoopBackOff", Pod: "p", Trouble: jobs.PodTrouble{Reason: "CrashLoopBackOff", Container: "c"}},
		"Starting: pod p: 0/3 nodes are available":                              {State: jobs.Starting, Reason: "Unschedulable", Pod: "p", Trouble: jobs.PodTrouble{Reason: "Unschedulable", Message: "0/3 nodes are available"}},
		"Starting: pod p": {State: jobs.Starting, Reason: "Unschedulable", Pod: "p", Trouble: jobs.PodTrouble{Reason: "Unschedulable"}},
		"Starting: pod p: container c ended with OOMKilled, exit code 137":       {State: jobs.Starting, Pod: "p", Trouble: jobs.PodTrouble{Reason: "CrashLoopBackOff", Container: "c", Ended: "OOMKilled", ExitCode: 137}},
		"Preempted: preempted for a job of vision (borrowed quota is reclaimed)": {State: jobs.Preempted, Message: "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort; preemptor path: /pool/vision; preemptee path: /pool/nlp"},
	} {
		if got := State(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTrouble(t *testing.T) {
	for want, trouble := range map[string]jobs.PodTrouble{
		"":                       {},
		"ImagePullBackOff: none": {Reason: "ImagePullBackOff", Message: "none"},
		"CrashLoopBackOff: container c ended with Error, exit code 3": {Reason: "CrashLoopBackOff", Container: "c", Ended: "Error", ExitCode: 3},
		"OOMKilled: container c, exit code 137: too much":             {Reason: "OOMKilled", Message: "too much", Container: "c", Ended: "OOMKilled", ExitCode: 137},
		"Evicted": {Reason: "Evicted"},
	} {
		if got := Cause(trouble); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestPreempted: get-job and explain-job have the same sentence about a preemption.
func TestPreempted(t *testing.T) {
	const message = "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort; preemptor path: /pool/vision; preemptee path: /pool/nlp"
	for want, in := range map[string][3]string{
		"PREEMPTED for t/vit: borrowed quota is reclaimed":           {"t/vit", "InCohortReclamation", message},
		"PREEMPTED for a job of vision: borrowed quota is reclaimed": {"", "InCohortReclamation", message},
		"PREEMPTED: lower priority in the same queue":                {"", "InClusterQueue", ""},
		"PREEMPTED: another sentence":                                {"", "", "another sentence"},
	} {
		if got := Preempted(in[0], in[1], in[2]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMoment(t *testing.T) {
	for want, m := range map[string]jobs.Moment{
		"created":                    {Step: jobs.Created},
		"created by ada, queue q, p": {Step: jobs.Created, By: "ada", Queue: "q", Priority: "p"},
		"succeeded":                  {Step: jobs.Finished},
		"failed: boom":               {Step: jobs.Finished, Failed: true, Message: "boom"},
		"suspended: its Workload was deactivated": {Step: jobs.Deactivated, Reason: "Deactivated", Message: "The workload is deactivated"},
		"The retries are used up":                 {Step: jobs.Deactivated, Message: "The retries are used up"},
		"PodsReadyTimeout":                        {Step: jobs.Evicted, Reason: "PodsReadyTimeout"},
		"suspended":                               {Step: jobs.Stopped},
		"queued in lq":                            {Step: jobs.Queued, Queue: "lq"},
		"queued":                                  {Step: jobs.Queued},
		"queued again":                            {Step: jobs.Queued, Reason: "BackoffFinished"},
		"admitted by ClusterQueue a":              {Step: jobs.Admitted, Queue: "a"},
		"admitted by ClusterQueue cq":             {Step: jobs.Admitted, Queue: "cq", Message: "Admitted by ClusterQueue cq"},
		"resumed":                                 {Step: jobs.Resumed},
		"restarting":                              {Step: jobs.Restarted},
		"running":                                 {Step: jobs.Ran},
		"no quota":                                {Step: jobs.Waits, Message: "no quota"},
	} {
		if got := Moment(m); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	job := state.Job{Meta: state.Meta{Name: "x"}}
	for want, p := range map[string]wait.Progress{
		"x is Pending, 3rd of 7 in its queue: no quota": {Job: job, Status: jobs.Status{State: jobs.Pending, Message: "no quota", Reason: "R"}, Position: 3, Of: 7},
		"x is Pending: R":                        {Job: job, Status: jobs.Status{State: jobs.Pending, Reason: "R"}, Position: 1, Of: 1},
		"x is Starting, 1 of 4 pods ready: soon": {Job: job, Status: jobs.Status{State: jobs.Starting, Message: "soon", Ready: 1, Wanted: 4}},
	} {
		if got := Progress(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	short := ShorterProgress(wait.Progress{Job: job, Status: jobs.Status{State: jobs.Pending, Message: "couldn't assign flavors to pod set worker: no quota"}})
	if len(short) != 2 || short[1] != "Pending: no quota" {
		t.Errorf("got %q", short)
	}
}

// An object that exists in no namespace is not said to be in one.
func TestExistingObject(t *testing.T) {
	named := func(r kinds.Resource) submit.Object {
		return submit.Object{Resource: r, Body: map[string]any{"metadata": map[string]any{"name": "x"}}}
	}
	for want, o := range map[string]submit.Object{
		`ConfigMap "x" already exists in a and differs: nothing was changed`: named(kinds.ConfigMap),
		`RuntimeClass "x" already exists and differs: nothing was changed`:   named(kinds.RuntimeClass),
	} {
		if got := Error(&submit.Error{Code: submit.Differs, Object: o, Namespace: "a"}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
