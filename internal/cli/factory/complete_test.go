package factory

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// lab is a cluster with two jobs. The PyTorchJob can be deleted.
type lab struct {
	*fixture.Server
	deleted atomic.Bool
}

func newLab() *lab {
	object := func(apiVersion, kind, namespace, name string, labels map[string]any) map[string]any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name, "labels": labels}}
	}
	const ns = "hyperpod-ns-researchers"
	return &lab{Server: fixture.New(
		object("v1", "Namespace", "", ns, nil),
		object("kueue.x-k8s.io/v1beta2", "LocalQueue", ns, "queue", nil),
		object("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", "", "training-priority", nil),
		object("kubeflow.org/v1", "PyTorchJob", ns, "vit-huge", map[string]any{"app": "vit"}),
		object("batch/v1", "Job", ns, "evaluate", map[string]any{"kueue.x-k8s.io/queue-name": "queue"}),
	)}
}

func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodDelete:
		l.deleted.Store(true)
		answer(w, http.StatusOK, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	case l.deleted.Load() && strings.HasSuffix(r.URL.Path, "/pytorchjobs"):
		answer(w, http.StatusOK, `{"kind":"PyTorchJobList","apiVersion":"kubeflow.org/v1","metadata":{},"items":[]}`)
	default:
		l.Server.ServeHTTP(w, r)
	}
}

// answer writes a JSON document.
func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

// TestJobsOfTheKindsThatCanBeListed: a kind that cannot be listed leaves the names of
// the other kinds, and its error is not lost.
func TestJobsOfTheKindsThatCanBeListed(t *testing.T) {
	box := newLab()
	c := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/rayjobs") {
			answer(w, http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
			return
		}
		box.ServeHTTP(w, r)
	}), "test", kube.Options{})
	f := &Factory{cluster: &Cluster{Client: c, Now: time.Now}, Env: func(string) string { return "" }, Global: Global{Namespace: "hyperpod-ns-researchers"}}
	names, err := Jobs(t.Context(), f)
	if !slices.ContainsFunc(names, func(n string) bool { return Word(n) == "vit-huge" }) || !kube.IsForbidden(err) {
		t.Errorf("%v, %v", names, err)
	}
}

// TestNamesAreKept: completion asks a server once for the same names, and again after a command that changes something.
func TestNamesAreKept(t *testing.T) {
	box := newLab()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		box.ServeHTTP(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: c, cluster: {server: %q}}]\n"+
		"contexts: [{name: a, context: {cluster: c, user: alice}}, {name: b, context: {cluster: c, user: bob}}]\nusers: [{name: alice, user: {}}, {name: bob, user: {}}]\n", server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home, "XDG_CACHE_HOME": filepath.Join(home, "cache"), "KUBECONFIG": kubeconfig}
	run := func(context string, lasting time.Duration) *Factory {
		return &Factory{Env: func(name string) string { return env[name] }, Now: time.Now, IO: &output.IO{Err: io.Discard},
			Global: Global{Namespace: "hyperpod-ns-researchers", Context: context, Quiet: true}, Config: config.Config{CompletionCache: lasting}}
	}
	// complete returns the number of requests of all lookups.
	complete := func(f *Factory) int {
		t.Helper()
		before := requests.Load()
		f.completing = true
		for _, lookup := range []Lookup{Jobs, Selectors, Queues, Priorities, Namespaces} {
			words, err := lookup(t.Context(), f)
			if err != nil || len(words) == 0 {
				t.Fatalf("%v, %v", words, err)
			}
		}
		return int(requests.Load() - before)
	}
	if n := complete(run("a", time.Hour)); n == 0 {
		t.Fatal("no requests: this is not the server's data")
	}
	if n := complete(run("a", time.Hour)); n != 0 {
		t.Errorf("%d requests for names that were read before", n)
	}
	if n := complete(run("b", time.Hour)); n == 0 {
		t.Error("another user gets the names of the first")
	}
	if n := complete(run("a", 0)); n == 0 {
		t.Error("names are kept although the setting forbids it")
	}
	c, err := run("a", time.Hour).Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), kinds.PyTorchJob.Resource, "hyperpod-ns-researchers", "vit-huge", kube.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	words, err := Jobs(t.Context(), run("a", time.Hour))
	if err != nil || len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return Word(w) == "vit-huge" }) {
		t.Errorf("after the deletion: %v, %v", words, err)
	}
}

// TestTaintsAndWorkers: a taint is one word with the nodes that have it; what is typed of a list of workers stays.
func TestTaintsAndWorkers(t *testing.T) {
	node := func(name string, taints ...any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name}, "spec": map[string]any{"taints": taints}}
	}
	gpu := map[string]any{"key": "gpu", "value": "a100", "effect": "NoSchedule"}
	worker := func(name string) map[string]any {
		return map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueCluster", "metadata": map[string]any{"name": name}}
	}
	server := fixture.New(node("a", gpu, map[string]any{"key": "reserved", "effect": "NoExecute"}), node("b", gpu), node("c"), worker("east"), worker("west"))
	c := kube.NewInProcess(server, "test", kube.Options{})
	f := &Factory{cluster: &Cluster{Client: c, Now: time.Now}, Env: func(string) string { return "" }}
	for _, test := range []struct {
		name string
		by   Lookup
		want []string
	}{
		{"taints", Taints, []string{"gpu=a100:NoSchedule\t2 nodes", "reserved:NoExecute\t1 node"}},
		{"first worker", Workers(""), []string{"east=", "west="}},
		{"second worker", Workers("west=ctx,ea"), []string{"west=ctx,east=", "west=ctx,west="}},
	} {
		got, err := test.by(t.Context(), f)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}
