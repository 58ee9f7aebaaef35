package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// wallClock is a clock that tests move.
type wallClock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *wallClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *wallClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// bench is a sandbox behind real HTTP, with a clock that stands still.
type bench struct {
	t     *testing.T
	s     *Sandbox
	clock *wallClock
	path  string
	url   string
}

func newBench(t *testing.T, scenario string) *bench {
	t.Helper()
	b := &bench{t: t, clock: &wallClock{t: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, path: filepath.Join(t.TempDir(), "test.json")}
	s, err := Create(context.Background(), b.path, scenario, b.options())
	if err != nil {
		t.Fatal(err)
	}
	b.s, b.url = s, serve(t, s)
	return b
}

func (b *bench) options() Options {
	return Options{Now: b.clock.now, Poll: 5 * time.Millisecond}
}

// serve offers a handler on loopback until the test ends.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	m := map[string]any{}
	if err := kjson.Unmarshal(a.body, &m); err != nil {
		t.Fatalf("not JSON: %v: %s", err, a.body)
	}
	return m
}

// send makes one request; headers are "Name: value".
func (b *bench) send(method, path, body string, headers ...string) answer {
	b.t.Helper()
	r, err := http.NewRequest(method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, out}
}

// must makes a request that has to be answered with code.
func (b *bench) must(code int, method, path, body string, headers ...string) map[string]any {
	b.t.Helper()
	a := b.send(method, path, body, headers...)
	if a.code != code {
		b.t.Fatalf("%s %s: %d, want %d: %s", method, path, a.code, code, a.body)
	}
	return a.object(b.t)
}

func (b *bench) get(r kinds.Resource, namespace, name string) map[string]any {
	b.t.Helper()
	return b.must(200, "GET", r.Path(namespace, name), "")
}

func (b *bench) items(path string) []map[string]any {
	b.t.Helper()
	var out []map[string]any
	for _, i := range object.List(b.must(200, "GET", path, ""), "items") {
		out = append(out, object.Map(i))
	}
	return out
}

func (b *bench) create(namespace string, m map[string]any) map[string]any {
	b.t.Helper()
	j, ok := kinds.JobFor(object.Text(m, "apiVersion"), object.Text(m, "kind"))
	if !ok {
		b.t.Fatalf("not a job: %v", m)
	}
	return b.must(201, "POST", j.Path(namespace, ""), mustJSON(b.t, m))
}

func (b *bench) advance(d time.Duration) {
	b.t.Helper()
	if err := b.s.Advance(context.Background(), d); err != nil {
		b.t.Fatal(err)
	}
}

// workload returns the workload of a job.
func (b *bench) workload(namespace, jobName string) map[string]any {
	b.t.Helper()
	for _, w := range b.items(kinds.Workload.Path(namespace, "")) {
		for _, o := range object.List(w, "metadata", "ownerReferences") {
			if object.Text(o, "name") == jobName {
				return w
			}
		}
	}
	b.t.Fatalf("%s/%s has no workload", namespace, jobName)
	return nil
}

// podPhases returns the phases of a job's pods, by pod name.
func (b *bench) podPhases(namespace, jobName string) map[string]string {
	b.t.Helper()
	out := map[string]string{}
	for _, p := range b.items(kinds.Pod.Path(namespace, "")) {
		for _, o := range object.List(p, "metadata", "ownerReferences") {
			if object.Text(o, "name") == jobName {
				out[object.Text(p, "metadata", "name")] = object.Text(p, "status", "phase")
			}
		}
	}
	return out
}

// usage returns what a ClusterQueue uses and borrows of a resource in a flavor.
func (b *bench) usage(queue, flavor, resource string) (total, borrowed string) {
	b.t.Helper()
	for _, f := range object.List(b.get(kinds.ClusterQueue, "", queue), "status", "flavorsUsage") {
		for _, r := range object.List(f, "resources") {
			if object.Text(f, "name") == flavor && object.Text(r, "name") == resource {
				return object.Text(r, "total"), object.Text(r, "borrowed")
			}
		}
	}
	b.t.Fatalf("%s has no %s in %s", queue, resource, flavor)
	return "", ""
}

// reasons returns the reasons of the events about an object, oldest first.
func (b *bench) reasons(namespace, name string) []string {
	b.t.Helper()
	var out []string
	for _, e := range b.items(kinds.Event.Path(namespace, "") + "?fieldSelector=involvedObject.name=" + name) {
		out = append(out, object.Text(e, "reason"))
	}
	return out
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// pytorch is a PyTorchJob of nodes pods with gpus GPUs each, for a team.
func pytorch(name, team string, nodes, gpus int, change ...func(m map[string]any)) map[string]any {
	requests := map[string]any{"nvidia.com/gpu": fmt.Sprint(gpus), "cpu": fmt.Sprint(2 * gpus), "memory": fmt.Sprintf("%dGi", 8*gpus)}
	m := map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
		"metadata": map[string]any{"name": name, "labels": map[string]any{kinds.QueueLabel: "hyperpod-ns-" + team + "-localqueue"}, "annotations": map[string]any{}},
		"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": nodes,
			"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "pytorch", "image": "i", "resources": map[string]any{"requests": requests, "limits": requests}}}}}}}},
	}
	for _, f := range change {
		f(m)
	}
	return m
}

func lasting(d string) func(map[string]any) {
	return func(m map[string]any) { object.Set(m, d, "metadata", "annotations", kinds.DurationAnnotation) }
}

func priority(class string) func(map[string]any) {
	return func(m map[string]any) { object.Set(m, class, "metadata", "labels", kinds.PriorityLabel) }
}
