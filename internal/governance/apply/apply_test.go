package apply

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

const (
	changed = "hyperpod-ns-interns-clusterqueue"
	pruned  = "hyperpod-ns-researchers-clusterqueue"
	made    = "hyperpod-ns-vision-clusterqueue"
	class   = "training-priority"
)

// planned reads a cluster and returns the operations of a file that changes a team's quota and a class's weight,
// adds a team and prunes one.
func planned(t *testing.T, c *kube.Client) []policy.Operation {
	t.Helper()
	in, err := inputs.Load(t.Context(), c, inputs.Options{Declared: true, Namespaces: func(context.Context) ([]string, error) { return nil, nil }}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	live := &policy.Live{Objects: policy.Objects{Namespaces: in.Namespaces, Classes: in.WorkloadPriority, Flavors: in.Flavors,
		Cohorts: in.Cohorts, ClusterQueues: in.ClusterQueues, LocalQueues: in.LocalQueues}}
	doc, _ := policy.FromKueue(live, policy.DefaultMapping())
	two := 2
	doc.Team("interns").Quota[0].Count = &two
	for i := range doc.Policy.PriorityClasses {
		if doc.Policy.PriorityClasses[i].Name == "training" {
			doc.Policy.PriorityClasses[i].Weight++
		}
	}
	vision := *doc.Team("interns")
	vision.Team, vision.Name, vision.Kueue = "vision", "", nil
	doc.Teams = append(doc.Teams, vision)
	want, err := policy.ToKueue(doc, policy.DefaultMapping())
	if err != nil {
		t.Fatal(err)
	}
	return policy.Differences(live, want, policy.Prune{Queues: []string{pruned}})
}

// TestChangedMeanwhile: what somebody else changes, creates or deletes between the plan and the change is not overwritten,
// whoever owns the fields. A new status does not count.
func TestChangedMeanwhile(t *testing.T) {
	set := func(r kinds.Resource, name string, body map[string]any) func(context.Context, *kube.Client) error {
		return func(ctx context.Context, c *kube.Client) error {
			return c.Change(ctx, r, "", name, kube.MergePatch, body, kube.ChangeOptions{FieldManager: Manager}, nil)
		}
	}
	weight := map[string]any{"spec": map[string]any{"fairSharing": map[string]any{"weight": "7"}}}
	for _, tt := range []struct {
		name      string
		meanwhile func(context.Context, *kube.Client) error
		refused   string // the object, "" none
		gone      bool
	}{
		{name: "nothing"},
		{name: "a label", meanwhile: set(kinds.ClusterQueue, changed, map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}})},
		{name: "the spec of a queue", meanwhile: set(kinds.ClusterQueue, changed, weight), refused: changed},
		{name: "the value of a class", meanwhile: set(kinds.WorkloadPriorityClass, class, map[string]any{"value": 7}), refused: class},
		{name: "the spec of a queue that goes", meanwhile: set(kinds.ClusterQueue, pruned, weight), refused: pruned},
		{name: "a class is gone", meanwhile: func(ctx context.Context, c *kube.Client) error {
			return c.Delete(ctx, kinds.WorkloadPriorityClass, "", class, kube.DeleteOptions{})
		}, refused: class, gone: true},
		{name: "the queue exists", meanwhile: func(ctx context.Context, c *kube.Client) error {
			return c.Create(ctx, kinds.ClusterQueue, "", map[string]any{"apiVersion": kinds.ClusterQueue.GroupVersion(), "kind": "ClusterQueue",
				"metadata": map[string]any{"name": made}, "spec": map[string]any{"cohortName": "other", "namespaceSelector": map[string]any{}}}, kube.CreateOptions{}, nil)
		}, refused: made},
	} {
		t.Run(tt.name, func(t *testing.T) {
			box, err := sandbox.Create(t.Context(), filepath.Join(t.TempDir(), "box.json"), "enterprise", sandbox.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := kube.NewInProcess(box, "sandbox", kube.Options{})
			ops := planned(t, c)
			if tt.meanwhile != nil {
				if err := tt.meanwhile(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			for step, err := range map[string]error{"check": Check(t.Context(), c, ops, Options{}), "run": Run(t.Context(), c, ops, Options{})} {
				var failure *Failure
				var moved *ChangedError
				errors.As(err, &failure)
				switch {
				case tt.refused == "" && err != nil:
					t.Errorf("%s: %v", step, err)
				case tt.refused == "":
				case !errors.As(err, &moved) || moved.Gone != tt.gone || failure.Operation.Name != tt.refused:
					t.Errorf("%s: %v of %+v, want that %s changed", step, err, failure, tt.refused)
				}
			}
			var q kueue.ClusterQueue
			if err := c.Get(t.Context(), kinds.ClusterQueue, "", made, &q); tt.refused == made && (err != nil || q.Spec.CohortName != "other") {
				t.Errorf("the queue of somebody else: %+v, %v", q.Spec, err)
			}
		})
	}
}

// TestStatusMeanwhile: a status that Kueue writes between the look at an object and its change makes another look, and no
// failure.
func TestStatusMeanwhile(t *testing.T) {
	box, err := sandbox.Create(t.Context(), filepath.Join(t.TempDir(), "box.json"), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	direct := kube.NewInProcess(box, "sandbox", kube.Options{})
	conflicts := 0
	c := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/clusterqueues/"+changed) && conflicts < 3 {
			conflicts++
			if err := direct.Change(r.Context(), kinds.ClusterQueue, "", changed, kube.MergePatch, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"n": strings.Repeat("x", conflicts)}}},
				kube.ChangeOptions{}, nil); err != nil {
				t.Error(err)
			}
		}
		box.ServeHTTP(w, r)
	}), "sandbox", kube.Options{})
	if err := Run(t.Context(), c, planned(t, c), Options{}); err != nil || conflicts != 3 {
		t.Errorf("%v after %d conflicts", err, conflicts)
	}
}
