package wait

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestJudge(t *testing.T) {
	names := map[Verdict]string{NotYet: "-", Reached: "yes", Never: "never", Held: "held"}
	for goal, want := range map[Goal]string{
		//          Pending Preempted Suspended Starting Running Restarting Succeeded Failed
		Admitted:  "- - held yes yes yes yes never",
		Running:   "- - held - yes - yes never",
		Succeeded: "- - held - - - yes never",
		Finished:  "- - held - - - yes yes",
		Deleted:   "- - - - - - - -",
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

func TestProgressText(t *testing.T) {
	job := state.Job{Meta: state.Meta{Name: "x"}}
	for want, p := range map[string]Progress{
		"x is Pending, 3rd of 7 in its queue: no quota": {Job: job, Status: jobs.Status{State: jobs.Pending, Message: "no quota", Reason: "R"}, Place: 3, Of: 7},
		"x is Pending: R":                        {Job: job, Status: jobs.Status{State: jobs.Pending, Reason: "R"}, Place: 1, Of: 1},
		"x is Starting, 1 of 4 pods ready: soon": {Job: job, Status: jobs.Status{State: jobs.Starting, Message: "soon", Ready: 1, Wanted: 4}},
	} {
		if got := p.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
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
		exit    errs.Exit
		says    string
	}{
		{name: "deleted", goal: Deleted, do: remove},
		{name: "deleted meanwhile", goal: Running, do: remove, exit: errs.NotFound, says: "it was deleted while it was waited for"},
		{name: "out of time", goal: Running, timeout: 300 * time.Millisecond, exit: errs.Timeout, says: "job x is not running after 300ms"},
		{name: "out of what was left", goal: Running, timeout: 300 * time.Millisecond, given: 5 * time.Second, exit: errs.Timeout, says: "job x is not running after 5s"},
		{name: "held back", goal: Running, held: true, do: hold, exit: errs.Pending, says: "job x is suspended"},
		{name: "held back, and waited for all the same", goal: Running, do: hold, then: remove, exit: errs.NotFound, says: "it was deleted"},
		{name: "another job of the name", goal: Running, uid: "other", exit: errs.NotFound, says: "is gone"},
		{name: "another job of the name, deleted", goal: Deleted, uid: "other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, uid := cluster(t)
			if tt.uid != "" {
				uid = tt.uid
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
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
			if errs.ExitOf(err) != tt.exit || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("exit code %d: %v", errs.ExitOf(err), err)
			}
		})
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
