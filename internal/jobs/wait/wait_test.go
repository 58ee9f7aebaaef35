package wait

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/state"
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

const namespace = "hyperpod-ns-team-b"

// cluster is a sandbox with a waiting job "x".
func cluster(t *testing.T) (*kube.Client, string) {
	t.Helper()
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := kube.NewInProcess(box, "sandbox", kube.Options{})
	var made map[string]any
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "x", "labels": map[string]any{kinds.QueueLabel: namespace + "-localqueue"}},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{
			map[string]any{"name": "main", "image": "example.com/i", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "40"}}}}}}}}
	if err := c.Create(t.Context(), kinds.BatchJob.Resource, namespace, job, kube.CreateOptions{}, &made); err != nil {
		t.Fatal(err)
	}
	return c, kinds.Text(made, "metadata", "uid")
}

func TestWait(t *testing.T) {
	remove := func(ctx context.Context, c *kube.Client) error {
		return c.Delete(ctx, kinds.BatchJob.Resource, namespace, "x", kube.DeleteOptions{Propagation: "Background"})
	}
	hold := func(ctx context.Context, c *kube.Client) error {
		all, err := state.ListWorkloads(ctx, c, namespace, kube.ListOptions{})
		for _, w := range all {
			if strings.HasPrefix(w.Name, "job-x-") {
				return c.Change(ctx, kinds.Workload, namespace, w.Name, kube.MergePatch, map[string]any{"spec": map[string]any{"active": false}}, kube.ChangeOptions{}, nil)
			}
		}
		return err
	}
	for _, tt := range []struct {
		name    string
		goal    Goal
		held    bool
		uid     string // "" is the job's own
		timeout time.Duration
		given   time.Duration
		do      func(context.Context, *kube.Client) error // once it waits
		then    func(context.Context, *kube.Client) error // once it is suspended
		want    Outcome
	}{
		{name: "deleted", goal: Deleted, do: remove},
		{name: "deleted meanwhile", goal: Running, do: remove, want: Gone},
		{name: "out of time", goal: Running, timeout: time.Hour, want: TimedOut},
		{name: "out of what was left", goal: Running, timeout: time.Hour, given: 5 * time.Hour, want: TimedOut},
		{name: "suspended", goal: Running, held: true, do: hold, want: Held},
		{name: "suspended, and the wait continues", goal: Running, do: hold, then: remove, want: Gone},
		{name: "another job of the name", goal: Running, uid: "other", want: Gone},
		{name: "another job of the name, deleted", goal: Deleted, uid: "other"},
	} {
		// The clock of a bubble moves only when everything waits.
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, uid := cluster(t)
				if tt.uid != "" {
					uid = tt.uid
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				done := map[jobs.State]bool{}
				_, err := Wait(ctx, c, Request{Kind: kinds.BatchJob, Namespace: namespace, Name: "x", UID: uid, Goal: tt.goal, Timeout: tt.timeout, Given: tt.given, UntilHeld: tt.held,
					Progress: func(p Progress) {
						do := map[jobs.State]func(context.Context, *kube.Client) error{jobs.Pending: tt.do, jobs.Suspended: tt.then}[p.Status.State]
						if do != nil && !done[p.Status.State] {
							done[p.Status.State] = true
							if err := do(ctx, c); err != nil {
								t.Error(err)
							}
						}
					}})
				var missed *Unmet
				if errors.As(err, &missed); missed != nil && missed.Outcome != tt.want || missed == nil && (err != nil || tt.want != "") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			})
		})
	}
}

// Lists leave a Job without a queue out; a wait that names it sees it.
func TestWaitWithoutQueue(t *testing.T) {
	c, _ := cluster(t)
	var made map[string]any
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "free"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "example.com/i"}}}}}}
	if err := c.Create(t.Context(), kinds.BatchJob.Resource, "default", job, kube.CreateOptions{}, &made); err != nil {
		t.Fatal(err)
	}
	uid := kinds.Text(made, "metadata", "uid")
	for _, goal := range []Goal{Admitted, Running} {
		if _, err := Wait(t.Context(), c, Request{Kind: kinds.BatchJob, Namespace: "default", Name: "free", UID: uid, Goal: goal, Timeout: time.Minute}); err != nil {
			t.Errorf("%s: %v", goal, err)
		}
		ended, err := Several(t.Context(), c, SeveralRequest{Targets: []Target{{Kind: kinds.BatchJob, Namespace: "default", Name: "free", UID: uid}}, Goal: goal, Timeout: time.Minute})
		if err != nil || ended[0].Outcome != "" || ended[0].State() != jobs.Running {
			t.Errorf("%s of several: %s, %q, %v", goal, ended[0].State(), ended[0].Outcome, err)
		}
	}
}

func TestWaitInterrupted(t *testing.T) {
	c, uid := cluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Wait(ctx, c, Request{Kind: kinds.BatchJob, Namespace: namespace, Name: "x", UID: uid, Goal: Running, Timeout: time.Hour, Progress: func(Progress) { cancel() }})
	if errs.ExitOf(err) != errs.Interrupted {
		t.Errorf("exit code %d: %v", errs.ExitOf(err), err)
	}
}

// What was seen of the job counts, also where the time is over before it was reported.
func TestAnswerBeforeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := cluster(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		seen := errors.New("seen")
		err := follow.Follow(ctx, c, follow.Scope{Kinds: []kinds.Job{kinds.BatchJob}, Namespace: namespace, Name: "x", Pods: true}, func(follow.Change) error {
			time.Sleep(2 * time.Hour) // the deadline passes, and the other streams end
			synctest.Wait()
			return seen
		})
		if !errors.Is(err, seen) {
			t.Errorf("got %v", err)
		}
	})
}
