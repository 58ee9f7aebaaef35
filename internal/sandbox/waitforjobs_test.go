package sandbox_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

const namespace = "hyperpod-ns-team-b"

// withWaitingJob returns a sandbox with the waiting job "x", and the UID of the job.
func withWaitingJob(t *testing.T) (*kube.Client, string) {
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
		goal    wait.Goal
		held    bool
		uid     string // "" is the job's own
		timeout time.Duration
		given   time.Duration
		do      func(context.Context, *kube.Client) error // once it waits
		then    func(context.Context, *kube.Client) error // once it is suspended
		want    wait.Outcome
	}{
		{name: "deleted", goal: wait.Deleted, do: remove},
		{name: "deleted meanwhile", goal: wait.Running, do: remove, want: wait.Gone},
		{name: "out of time", goal: wait.Running, timeout: time.Hour, want: wait.TimedOut},
		{name: "out of what was left", goal: wait.Running, timeout: time.Hour, given: 5 * time.Hour, want: wait.TimedOut},
		{name: "suspended", goal: wait.Running, held: true, do: hold, want: wait.Held},
		{name: "suspended, and the wait continues", goal: wait.Running, do: hold, then: remove, want: wait.Gone},
		{name: "another job of the name", goal: wait.Running, uid: "other", want: wait.Gone},
		{name: "another job of the name, deleted", goal: wait.Deleted, uid: "other"},
	} {
		// The clock of a bubble moves only when everything waits.
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, uid := withWaitingJob(t)
				if tt.uid != "" {
					uid = tt.uid
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				done := map[jobs.State]bool{}
				_, err := wait.Wait(ctx, c, wait.Request{Kind: kinds.BatchJob, Namespace: namespace, Name: "x", UID: uid, Goal: tt.goal, Timeout: tt.timeout, Given: tt.given, UntilHeld: tt.held,
					Progress: func(p wait.Progress) {
						do := map[jobs.State]func(context.Context, *kube.Client) error{jobs.Pending: tt.do, jobs.Suspended: tt.then}[p.Status.State]
						if do != nil && !done[p.Status.State] {
							done[p.Status.State] = true
							if err := do(ctx, c); err != nil {
								t.Error(err)
							}
						}
					}})
				var missed *wait.Unmet
				if errors.As(err, &missed); missed != nil && missed.Outcome != tt.want || missed == nil && (err != nil || tt.want != "") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			})
		})
	}
}

// Lists leave a Job without a queue out; a wait that names it sees it.
func TestWaitWithoutQueue(t *testing.T) {
	c, _ := withWaitingJob(t)
	var made map[string]any
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "free"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "example.com/i"}}}}}}
	if err := c.Create(t.Context(), kinds.BatchJob.Resource, "default", job, kube.CreateOptions{}, &made); err != nil {
		t.Fatal(err)
	}
	uid := kinds.Text(made, "metadata", "uid")
	for _, goal := range []wait.Goal{wait.Admitted, wait.Running} {
		if _, err := wait.Wait(t.Context(), c, wait.Request{Kind: kinds.BatchJob, Namespace: "default", Name: "free", UID: uid, Goal: goal, Timeout: time.Minute}); err != nil {
			t.Errorf("%s: %v", goal, err)
		}
		ended, err := wait.Several(t.Context(), c, wait.SeveralRequest{Targets: []wait.Target{{Kind: kinds.BatchJob, Namespace: "default", Name: "free", UID: uid}}, Goal: goal, Timeout: time.Minute})
		if err != nil || ended[0].Outcome != "" || ended[0].State() != jobs.Running {
			t.Errorf("%s of several: %s, %q, %v", goal, ended[0].State(), ended[0].Outcome, err)
		}
	}
}

func TestWaitInterrupted(t *testing.T) {
	c, uid := withWaitingJob(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := wait.Wait(ctx, c, wait.Request{Kind: kinds.BatchJob, Namespace: namespace, Name: "x", UID: uid, Goal: wait.Running, Timeout: time.Hour, Progress: func(wait.Progress) { cancel() }})
	if errs.ExitOf(err) != errs.Interrupted {
		t.Errorf("exit code %d: %v", errs.ExitOf(err), err)
	}
}

// What was seen of the job counts, also where the time is over before it was reported.
func TestAnswerBeforeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := withWaitingJob(t)
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
