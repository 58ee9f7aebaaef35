package snapshot_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

func capture(t testing.TB, c *kube.Client, o snapshot.Options) *snapshot.Snapshot {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = fixture.Noon
	}
	s, err := snapshot.Capture(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func save(t testing.TB, s *snapshot.Snapshot, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if _, err := s.Save(path, snapshot.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func client(s *snapshot.Snapshot) *kube.Client {
	return kube.NewInProcess(s.Handler(), "snapshot", kube.Options{Retries: -1})
}

func TestRoundTrip(t *testing.T) {
	live := fixture.Teams(10, "").Client()
	s := capture(t, live, snapshot.Options{Context: "prod", ContextNamespace: "team-01", By: "hyperpod test"})
	for _, name := range []string{"s.json", "s.json.gz"} {
		path := save(t, s, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", name, info.Mode().Perm())
		}
		got := open(t, path)
		if got.Objects() != s.Objects() || !got.Info.Taken.Equal(fixture.Noon) || got.Info.Context != "prod" || got.Info.Namespace != "team-01" {
			t.Errorf("%s: %d objects, info %+v", name, got.Objects(), got.Info)
		}
		if n := got.Count(kinds.Workload); n != 600 {
			t.Errorf("%s: %d workloads", name, n)
		}
	}
}

// TestSameAnswers reads the fixture once live and once from a snapshot: what the
// engine is given must be the same.
func TestSameAnswers(t *testing.T) {
	live := fixture.Teams(10, "").Client()
	s := open(t, save(t, capture(t, live, snapshot.Options{}), "s.json"))
	want := load(t, live)
	got := load(t, client(s))
	if len(got.Workloads) != len(want.Workloads) || len(got.Nodes) != len(want.Nodes) || len(got.ClusterQueues) != len(want.ClusterQueues) {
		t.Fatalf("%d workloads, %d nodes, %d queues", len(got.Workloads), len(got.Nodes), len(got.ClusterQueues))
	}
	byName := map[string]string{}
	for _, w := range want.Workloads {
		byName[w.Namespace+"/"+w.Name] = describe(w)
	}
	for _, w := range got.Workloads {
		if d := describe(w); d != byName[w.Namespace+"/"+w.Name] {
			t.Fatalf("workload %s/%s:\n%s\n%s", w.Namespace, w.Name, d, byName[w.Namespace+"/"+w.Name])
		}
	}
}

func load(t testing.TB, c *kube.Client) *inputs.Inputs {
	t.Helper()
	in, err := inputs.Load(context.Background(), c, inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestWritesAndWatchesAreRefused(t *testing.T) {
	c := client(open(t, save(t, capture(t, fixture.Teams(10, "").Client(), snapshot.Options{}), "s.json")))
	ctx := context.Background()
	ns := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "x"}}
	for what, err := range map[string]error{
		"create": c.Create(ctx, kinds.Namespace, "", ns, kube.CreateOptions{}, nil),
		"patch":  c.Change(ctx, kinds.Namespace, "", "team-01", kube.MergePatch, map[string]any{}, kube.ChangeOptions{}, nil),
		"delete": c.Delete(ctx, kinds.Namespace, "", "team-01", kube.DeleteOptions{}),
	} {
		if err == nil || !strings.Contains(errs.Text(err, false), "a snapshot can only be read") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := c.Stream(ctx, kinds.Pod, "team-01", "p", "log", nil); err == nil || !strings.Contains(errs.Text(err, false), "holds no log") {
		t.Errorf("log: %v", err)
	}
	if ok, err := c.CanI(ctx, "create", kinds.PyTorchJob.Resource, "team-01", ""); err != nil || !ok {
		t.Errorf("access review: %v %v", ok, err)
	}
}

// A member's snapshot is refused what the member was refused.
func TestPartial(t *testing.T) {
	server := fixture.Teams(10, "")
	server.Forbid = func(verb, plural, namespace, name string) bool {
		switch plural {
		case "nodes", "configmaps", "deployments", "cohorts":
			return true
		case "clusterqueues":
			return name != "team-07"
		case "namespaces":
			return verb == "list"
		}
		return verb == "list" && namespace != "team-07" && (plural == "workloads" || plural == "localqueues" || plural == "pods")
	}
	s := open(t, save(t, capture(t, server.Client(), snapshot.Options{
		Namespaces: func(context.Context) ([]string, error) { return []string{"team-07"}, nil },
	}), "s.json"))
	c, ctx := client(s), context.Background()
	if n := s.Count(kinds.Workload); n != 60 {
		t.Errorf("%d workloads of one team", n)
	}
	if _, err := kube.List[map[string]any](ctx, c, kinds.Workload, "", kube.ListOptions{}); !kube.IsForbidden(err) {
		t.Errorf("all workloads: %v", err)
	}
	page, err := kube.List[map[string]any](ctx, c, kinds.Workload, "team-07", kube.ListOptions{})
	if err != nil || len(page.Items) != 60 {
		t.Errorf("workloads of the team: %d, %v", len(page.Items), err)
	}
	if _, err := kube.List[map[string]any](ctx, c, kinds.Workload, "team-08", kube.ListOptions{}); !kube.IsForbidden(err) {
		t.Errorf("another team's: %v", err)
	}
	var q map[string]any
	if err := c.Get(ctx, kinds.ClusterQueue, "", "team-07", &q); err != nil {
		t.Errorf("own queue: %v", err)
	}
	if err := c.Get(ctx, kinds.ClusterQueue, "", "team-08", &q); !kube.IsForbidden(err) {
		t.Errorf("other queue: %v", err)
	}
	if _, err := kube.List[map[string]any](ctx, c, kinds.Node, "", kube.ListOptions{}); !kube.IsForbidden(err) ||
		!strings.Contains(errs.Text(err, false), "its creator had no permission") {
		t.Errorf("nodes: %v", err)
	}
	if len(s.Lacks()) == 0 {
		t.Error("it does not say what it lacks")
	}
}

func TestOlderKueue(t *testing.T) {
	server := fixture.New(
		rawJSON(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"a"},"spec":{"cohort":"pool","resourceGroups":[]}}`),
		rawJSON(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}`))
	server.KueueVersion = "v1beta1"
	s := open(t, save(t, capture(t, server.Client(), snapshot.Options{}), "s.json"))
	in := load(t, client(s))
	if q := in.ClusterQueue("a"); q == nil || q.Spec.CohortName != "pool" || s.Info.KueueAPI != "v1beta1" {
		t.Errorf("queue %+v, API %q", q, s.Info.KueueAPI)
	}
}

func TestReplacing(t *testing.T) {
	s := capture(t, fixture.New(rawJSON(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","uid":"u"}}`)).Client(), snapshot.Options{})
	dir := t.TempDir()
	for _, name := range []string{"a.json", "a.json.gz"} {
		path := filepath.Join(dir, name)
		for range 2 { // an older snapshot may be replaced
			if _, err := s.Save(path, snapshot.SaveOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	thesis := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(thesis, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(thesis, snapshot.SaveOptions{}); err == nil {
		t.Error("a file that is not a snapshot was replaced")
	}
	if _, err := s.Save(thesis, snapshot.SaveOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if _, err := s.Save(dir, snapshot.SaveOptions{Force: true}); errs.ExitOf(err) != errs.Usage {
		t.Errorf("a directory: %v", err)
	}
	if _, err := s.Save(filepath.Join(dir, "no", "such", "folder"), snapshot.SaveOptions{}); err == nil || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("no folder: %v", err)
	}
}

// A kind whose objects cannot be used is reported as a fault of the file, not of a cluster.
func TestDamagedKind(t *testing.T) {
	path := write(t, []byte(`{"kind":"hyperpod-snapshot","format":1,"taken":"2026-01-02T15:04:05Z","objects":{"nodes":[1,null]}}`))
	_, err := kube.List[map[string]any](context.Background(), client(open(t, path)), kinds.Node, "", kube.ListOptions{})
	if err == nil || !strings.Contains(err.Error(), "the snapshot is damaged: its nodes cannot be read") {
		t.Errorf("%v", err)
	}
}

func TestAReleasedSnapshotAnswersWithAnError(t *testing.T) {
	s := capture(t, fixture.Teams(1, "").Client(), snapshot.Options{})
	c := client(s)
	var got json.RawMessage
	if err := c.Get(t.Context(), kinds.ClusterQueue, "", "team-00", &got); err != nil {
		t.Fatal(err)
	}
	s.Release()
	if err := c.Get(t.Context(), kinds.ClusterQueue, "", "team-00", &got); err == nil || errs.ExitOf(err) == errs.NotFound {
		t.Errorf("error %v, want a failure", err)
	}
}
