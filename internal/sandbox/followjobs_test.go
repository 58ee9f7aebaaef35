package sandbox_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/follow"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestFollow sees the jobs that exist, a new one from its queue to its end, and
// a deletion, each change once.
func TestFollow(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := kube.NewInProcess(box, "sandbox", kube.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const ns = "hyperpod-ns-team-b"
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "new", "labels": map[string]any{kinds.QueueLabel: ns + "-localqueue"}},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{
			map[string]any{"name": "main", "image": "example.com/i", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "4"}}}}}}}}
	var seen []string
	err = follow.Follow(ctx, c, follow.Scope{Kinds: []kinds.Job{kinds.PyTorchJob, kinds.BatchJob}, Namespace: ns}, func(ch follow.Change) error {
		seen = append(seen, fmt.Sprintf("%s %s %s", ch.Type, ch.Job.Name, ch.Status.State))
		switch {
		case ch.Type == kube.Synced:
			return c.Create(ctx, kinds.BatchJob.Resource, ns, job, kube.CreateOptions{}, nil)
		case ch.Type == kube.Deleted:
			return kube.ErrStop
		case ch.Job.Name == "new" && ch.Status.State == jobs.Running:
			return c.Delete(ctx, kinds.BatchJob.Resource, ns, "new", kube.DeleteOptions{Propagation: "Background"})
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v after %v", err, seen)
	}
	// How many steps it takes to run depends on which stream is read first.
	if len(seen) < 4 || !slices.Equal(seen[:2], []string{"ADDED base-b Running", "SYNCED  "}) ||
		!strings.HasPrefix(seen[2], "ADDED new ") || !strings.HasSuffix(seen[len(seen)-2], " new Running") || seen[len(seen)-1] != "DELETED new Running" {
		t.Errorf("%q", seen)
	}
	if once := slices.Compact(slices.Clone(seen)); len(once) != len(seen) {
		t.Errorf("repeated: %q", seen)
	}
}

// TestFollowWithoutPermission: follow keeps what the user has permission for, and reports
// the rest once; with nothing left it fails.
func TestFollowWithoutPermission(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/apis/batch/") || strings.HasSuffix(r.URL.Path, "/workloads") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot list"}`)
			return
		}
		box.ServeHTTP(w, r)
	})
	c := kube.NewInProcess(h, "sandbox", kube.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var told [][]state.Missing
	scope := follow.Scope{Kinds: []kinds.Job{kinds.PyTorchJob, kinds.BatchJob}, Namespace: "hyperpod-ns-team-b", Missing: func(m []state.Missing) { told = append(told, m) }}
	var seen []string
	err = follow.Follow(ctx, c, scope, func(ch follow.Change) error {
		if ch.Type == kube.Synced {
			return kube.ErrStop
		}
		seen = append(seen, ch.Job.Name)
		return nil
	})
	if err != nil || !slices.Equal(seen, []string{"base-b"}) || len(told) != 1 || len(told[0]) != 2 {
		t.Errorf("%v: saw %q, told %+v", err, seen, told)
	}
	scope.Kinds = []kinds.Job{kinds.BatchJob}
	if err := follow.Follow(ctx, c, scope, func(follow.Change) error { return nil }); !kube.IsForbidden(err) {
		t.Errorf("with nothing to follow: %v", err)
	}
}

// TestFollowLosesQueue: a batch Job that loses its queue label no longer counts.
func TestFollowLosesQueue(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := kube.NewInProcess(box, "sandbox", kube.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const ns = "hyperpod-ns-team-b"
	// It waits: Kueue lets nobody change the queue of a job that runs.
	job := func(queue string) map[string]any {
		return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "x", "labels": map[string]any{kinds.QueueLabel: queue}},
			"spec": map[string]any{"suspend": true, "template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "i", "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "999"}}}}}}}}
	}
	if err := c.Create(ctx, kinds.BatchJob.Resource, ns, job(ns+"-localqueue"), kube.CreateOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err = follow.Follow(ctx, c, follow.Scope{Kinds: []kinds.Job{kinds.BatchJob}, Namespace: ns}, func(ch follow.Change) error {
		seen = append(seen, ch.Type+" "+ch.Job.Name)
		if ch.Type == kube.Deleted {
			return kube.ErrStop
		}
		if ch.Type == kube.Synced {
			return c.Change(ctx, kinds.BatchJob.Resource, ns, "x", kube.MergePatch, map[string]any{"metadata": map[string]any{"labels": map[string]any{kinds.QueueLabel: nil}}}, kube.ChangeOptions{}, nil)
		}
		return nil
	})
	if err != nil || seen[0] != "ADDED x" || seen[len(seen)-1] != "DELETED x" {
		t.Errorf("%v: %q", err, seen)
	}
}

// TestFollowEachNamespace follows namespace by namespace where all at once is
// forbidden, as the plain list does.
func TestFollowEachNamespace(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/namespaces/") && (strings.HasSuffix(r.URL.Path, "jobs") || strings.HasSuffix(r.URL.Path, "workloads")) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot list"}`)
			return
		}
		box.ServeHTTP(w, r)
	})
	c := kube.NewInProcess(h, "sandbox", kube.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var told []state.Missing
	asked := 0
	scope := follow.Scope{Kinds: []kinds.Job{kinds.PyTorchJob, kinds.BatchJob}, Missing: func(m []state.Missing) { told = append(told, m...) },
		Namespaces: func(context.Context) ([]string, error) {
			asked++
			return []string{"hyperpod-ns-team-a", "hyperpod-ns-team-b"}, nil
		}}
	var seen []string
	err = follow.Follow(ctx, c, scope, func(ch follow.Change) error {
		if ch.Type == kube.Synced {
			return kube.ErrStop
		}
		seen = append(seen, ch.Job.Namespace+" "+string(ch.Status.State))
		return nil
	})
	if err != nil || asked != 1 || !slices.Equal(seen, []string{"hyperpod-ns-team-a Running", "hyperpod-ns-team-b Running"}) {
		t.Errorf("%v: saw %q, asked %d times", err, seen, asked)
	}
	for _, m := range told {
		if m.Namespace != "" || m.Verb != "list" {
			t.Errorf("told %+v", m)
		}
	}
	scope.Namespaces = func(context.Context) ([]string, error) { return nil, nil }
	if err := follow.Follow(ctx, c, scope, func(follow.Change) error { return nil }); !kube.IsForbidden(err) {
		t.Errorf("with no namespace: %v", err)
	}
}

// TestFollowLosesRight: a permission that is withdrawn while changes are followed is
// reported at once, and the rest continues without a second SYNCED.
func TestFollowLosesRight(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const ns = "hyperpod-ns-team-b"
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "x", "labels": map[string]any{kinds.QueueLabel: ns + "-localqueue"}},
		"spec": map[string]any{"suspend": true, "template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "main", "image": "i"}}}}}}
	for name, scope := range map[string]follow.Scope{
		"one namespace":  {Namespace: ns},
		"all namespaces": {Namespaces: func(context.Context) ([]string, error) { return []string{"hyperpod-ns-team-a", ns}, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			revoked, revoke := context.WithCancel(context.Background())
			// What is revoked: PyTorchJobs of the namespace, or both kinds of all at once.
			of := func(r *http.Request) bool {
				if scope.Namespace != "" {
					return strings.HasSuffix(r.URL.Path, "/pytorchjobs")
				}
				return strings.HasSuffix(r.URL.Path, "jobs") && !strings.Contains(r.URL.Path, "/namespaces/")
			}
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !of(r) {
					box.ServeHTTP(w, r)
					return
				}
				if revoked.Err() != nil {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, `{"kind":"Status","reason":"Forbidden","code":403,"message":"User \"a\" cannot list"}`)
					return
				}
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				defer context.AfterFunc(revoked, cancel)()
				box.ServeHTTP(w, r.WithContext(ctx))
			})
			c := kube.NewInProcess(h, "sandbox", kube.Options{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			lost := make(chan state.Missing, 9)
			scope.Kinds = []kinds.Job{kinds.PyTorchJob, kinds.BatchJob}
			scope.Missing = func(all []state.Missing) {
				for _, m := range all {
					lost <- m
				}
			}
			var seen []string
			made := make(chan error, 1)
			err := follow.Follow(ctx, c, scope, func(ch follow.Change) error {
				seen = append(seen, ch.Type+" "+ch.Job.Name)
				switch {
				case ch.Type == kube.Synced:
					revoke()
					go func() {
						var err error
						for range map[string]int{ns: 1, "": 2}[scope.Namespace] {
							select {
							case <-lost:
							case <-ctx.Done():
								err = ctx.Err()
							}
						}
						if err == nil {
							err = c.Create(ctx, kinds.BatchJob.Resource, ns, job, kube.CreateOptions{}, nil)
						}
						made <- err
					}()
				case ch.Job.Name == "x":
					return kube.ErrStop
				}
				return nil
			})
			want := []string{"ADDED base-b", "SYNCED ", "ADDED x"}
			if scope.Namespace == "" {
				want = append([]string{"ADDED base-a"}, want...)
			}
			if err != nil || len(seen) < len(want) || !slices.Equal(seen[:len(want)], want) { // another stream may still have sent x again
				t.Errorf("%v: %q, want %q", err, seen, want)
			}
			if err := <-made; err != nil {
				t.Errorf("what was lost is not told: %v", err)
			}
			if err := c.Delete(context.Background(), kinds.BatchJob.Resource, ns, "x", kube.DeleteOptions{Propagation: "Background"}); err != nil {
				t.Error(err)
			}
		})
	}
}
