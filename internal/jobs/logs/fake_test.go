package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// fake is an API server with one job, its pods and their logs, which a test
// changes as it goes.
type fake struct {
	t  *testing.T
	mu sync.Mutex
	// changed is closed and replaced at every change.
	changed chan struct{}
	version int
	job     map[string]any // nil: deleted
	pods    map[string]map[string]any
	owners  map[string]string // by the UID of the pod: the UID of its job
	events  []event
	logs    map[string]*fakeLog // by uid/run
	// refuse answers log requests with this code and message instead.
	refuse  map[string]refusal // by pod
	queries []string
	// cut drops the connection of the n-th log request (from 1) after so many bytes.
	cut map[int]int
	// mute keeps streams open after the container's end.
	mute bool
}

type refusal struct {
	code            int
	reason, message string
}

type event struct {
	version int
	kind    string // of the object
	typ     string
	object  any
}

type fakeLog struct {
	text []byte // as the API gives it with timestamps
	done bool
}

const ns = "team-a"

func newFake(t *testing.T) *fake {
	f := &fake{t: t, version: 1, changed: make(chan struct{}), pods: map[string]map[string]any{}, logs: map[string]*fakeLog{}, refuse: map[string]refusal{}, cut: map[int]int{}}
	f.job = map[string]any{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
		"metadata": map[string]any{"name": "train", "namespace": ns, "uid": "job-1", "creationTimestamp": "2026-01-02T03:00:00Z"},
		"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": 2, "template": map[string]any{
			"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch"}}}}}}}}
	return f
}

// start serves it and returns an engine and a query for its job.
func (f *fake) start() (Engine, Query) {
	srv := httptest.NewServer(f)
	f.t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	c, err := kube.New(&rest.Config{Host: srv.URL}, kube.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	data, err := json.Marshal(f.job)
	if err != nil {
		f.t.Fatal(err)
	}
	j, err := state.DecodeJob(kinds.PyTorchJob, data)
	if err != nil {
		f.t.Fatal(err)
	}
	return Engine{Client: c, After: quick}, Query{Job: j}
}

// quick is a clock a hundred times as fast as the real one.
func quick(d time.Duration) <-chan time.Time { return time.After(d / 100) }

func (f *fake) change(kind, typ string, object any) {
	f.version++
	data, err := json.Marshal(object)
	if err != nil {
		f.t.Fatal(err)
	}
	var copied map[string]any
	_ = json.Unmarshal(data, &copied)
	copied["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(f.version)
	f.events = append(f.events, event{f.version, kind, typ, copied})
	close(f.changed)
	f.changed = make(chan struct{})
}

// pod makes or changes a pod of the worker with an index.
func (f *fake) pod(uid string, index int, state map[string]any, restarts int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	typ := kube.Modified
	if f.pods[uid] == nil {
		typ = kube.Added
	}
	phase := "Running"
	if state["waiting"] != nil {
		phase = "Pending"
	}
	if end, ok := state["terminated"].(map[string]any); ok {
		if phase = "Succeeded"; end["exitCode"] != 0 {
			phase = "Failed"
		}
		if l := f.log(uid, restarts); l != nil {
			l.done = true
		}
	}
	for run := range restarts {
		f.log(uid, run).done = true
	}
	f.pods[uid] = map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": fmt.Sprintf("train-worker-%d", index), "namespace": ns, "uid": uid, "creationTimestamp": "2026-01-02T03:00:00Z",
			"labels": map[string]any{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": strconv.Itoa(index)}},
		"spec": map[string]any{"nodeName": "node-1", "containers": []any{map[string]any{"name": "pytorch"}, map[string]any{"name": "sidecar"}}},
		"status": map[string]any{"phase": phase, "containerStatuses": []any{map[string]any{"name": "pytorch", "restartCount": restarts,
			"containerID": "containerd://" + uid, "state": state}}}}
	if owner := f.owners[uid]; owner != "" {
		f.pods[uid]["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"kind": "PyTorchJob", "name": "train", "uid": owner, "controller": true}}
	}
	f.change("pods", typ, f.pods[uid])
}

func running() map[string]any {
	return map[string]any{"running": map[string]any{"startedAt": "2026-01-02T03:00:10Z"}}
}

func terminated(code int) map[string]any {
	return map[string]any{"terminated": map[string]any{"exitCode": code, "reason": map[bool]string{true: "Completed", false: "Error"}[code == 0],
		"startedAt": "2026-01-02T03:00:10Z", "finishedAt": "2026-01-02T03:30:00Z"}}
}

// gone deletes a pod.
func (f *fake) gone(uid string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pods[uid]
	delete(f.pods, uid)
	for key, l := range f.logs {
		if strings.HasPrefix(key, uid+"/") {
			l.done = true
		}
	}
	f.change("pods", kube.Deleted, p)
}

// end gives the job a final condition.
func (f *fake) end(condition string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.job["status"] = map[string]any{"conditions": []any{map[string]any{"type": condition, "status": "True", "message": "it is over", "lastTransitionTime": "2026-01-02T03:30:00Z"}}}
	f.change("pytorchjobs", kube.Modified, f.job)
}

func (f *fake) deleteJob() {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.job
	f.job = nil
	f.change("pytorchjobs", kube.Deleted, j)
}

func (f *fake) log(uid string, run int) *fakeLog {
	key := fmt.Sprintf("%s/%d", uid, run)
	if f.logs[key] == nil {
		f.logs[key] = &fakeLog{}
	}
	return f.logs[key]
}

// write appends lines to a log; each is its stamp's offset in milliseconds and its text.
func (f *fake) write(uid string, run int, lines ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.log(uid, run)
	for _, line := range lines {
		l.text = append(l.text, line...)
		l.text = append(l.text, '\n')
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// at stamps a line: so many milliseconds after the start.
func at(ms int, text string) string {
	return time.Date(2026, 1, 2, 3, 0, 10, 0, time.UTC).Add(time.Duration(ms)*time.Millisecond).Format("2006-01-02T15:04:05.000000000Z07:00") + " " + text
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case r.URL.Path == "/apis/kubeflow.org":
		fmt.Fprint(w, `{"kind":"APIGroup","versions":[{"groupVersion":"kubeflow.org/v1","version":"v1"}]}`)
	case last == "log":
		f.serveLog(w, r, parts[len(parts)-2])
	case last == "pods" || last == "pytorchjobs":
		f.serveList(w, r, last)
	case len(parts) > 2 && parts[len(parts)-2] == "pods":
		f.mu.Lock()
		_, p := f.named(last)
		f.mu.Unlock()
		if p == nil {
			fail(w, refusal{404, "NotFound", `pods "` + last + `" not found`}, last)
			return
		}
		_ = json.NewEncoder(w).Encode(p)
	default:
		fail(w, refusal{404, "NotFound", "the server could not find the requested resource"}, "")
	}
}

func fail(w http.ResponseWriter, r refusal, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.code)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "code": r.code, "reason": r.reason, "message": r.message, "details": map[string]any{"name": name}})
}

func (f *fake) named(name string) (uid string, pod map[string]any) {
	for uid, p := range f.pods {
		if p["metadata"].(map[string]any)["name"] == name {
			return uid, p
		}
	}
	return "", nil
}

func (f *fake) serveList(w http.ResponseWriter, r *http.Request, kind string) {
	f.mu.Lock()
	if r.URL.Query().Get("watch") == "" {
		defer f.mu.Unlock()
		items := []any{}
		if kind == "pods" {
			for _, p := range f.pods {
				items = append(items, p)
			}
		} else if f.job != nil {
			items = append(items, f.job)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "List", "metadata": map[string]any{"resourceVersion": strconv.Itoa(f.version)}, "items": items})
		return
	}
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	f.mu.Unlock()
	for {
		f.mu.Lock()
		var out []event
		for _, e := range f.events {
			if e.kind == kind && e.version > since {
				out = append(out, e)
			}
		}
		changed := f.changed
		f.mu.Unlock()
		for _, e := range out {
			since = e.version
			_ = json.NewEncoder(w).Encode(map[string]any{"type": e.typ, "object": e.object})
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fake) serveLog(w http.ResponseWriter, r *http.Request, pod string) {
	q := r.URL.Query()
	f.mu.Lock()
	f.queries = append(f.queries, pod+"?"+r.URL.RawQuery)
	cut, cuts := f.cut[len(f.queries)]
	uid, p := f.named(pod)
	refused, refuse := f.refuse[pod]
	var l *fakeLog
	if p != nil {
		status := p["status"].(map[string]any)["containerStatuses"].([]any)[0].(map[string]any)
		run := status["restartCount"].(int)
		switch state := status["state"].(map[string]any); {
		case q.Get("previous") == "true" && run == 0:
			refused, refuse = refusal{400, "BadRequest", fmt.Sprintf("previous terminated container %q in pod %q not found", q.Get("container"), pod)}, true
		case q.Get("previous") == "true":
			l = f.log(uid, run-1)
		case state["waiting"] != nil:
			refused, refuse = refusal{400, "BadRequest", fmt.Sprintf("container %q in pod %q is waiting to start: ContainerCreating", q.Get("container"), pod)}, true
		default:
			l = f.log(uid, run)
		}
	} else {
		refused, refuse = refusal{404, "NotFound", "pods " + pod + " not found"}, true
	}
	f.mu.Unlock()
	if refuse {
		fail(w, refused, pod)
		return
	}
	from, _ := time.Parse(time.RFC3339, q.Get("sinceTime"))
	sent := 0
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	tail, tailed := -1, q.Has("tailLines")
	if tailed {
		tail, _ = strconv.Atoi(q.Get("tailLines"))
	}
	for done := 0; ; {
		f.mu.Lock()
		text, over, changed := l.text[done:], l.done && !f.mute, f.changed
		f.mu.Unlock()
		done += len(text)
		if tailed {
			lines := bytes.SplitAfter(text, []byte("\n"))
			if n := len(lines) - 1; n > tail {
				text = bytes.Join(lines[n-tail:], nil)
			}
			tailed = false
		}
		text = since(text, from)
		if cuts && sent+len(text) >= cut {
			_, _ = w.Write(text[:cut-sent])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		sent += len(text)
		_, _ = w.Write(text)
		w.(http.Flusher).Flush()
		if q.Get("follow") != "true" || over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// since leaves out lines from before a moment, line by line as a kubelet does.
func since(text []byte, from time.Time) []byte {
	if from.IsZero() {
		return text
	}
	var out []byte
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		stamp, _, _ := bytes.Cut(line, []byte(" "))
		if t, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil && t.Before(from) {
			continue
		}
		out = append(out, line...)
	}
	return out
}

// record is a Sink that keeps everything.
type record struct {
	mu     sync.Mutex
	cond   *sync.Cond
	lines  map[string][]string // by pod/run
	all    []string            // in the order they came, with their pod
	events []string
	open   map[Source]string
	slow   func()
	errAt  int
}

func newRecord() *record {
	r := &record{lines: map[string][]string{}, open: map[Source]string{}}
	r.cond = sync.NewCond(&r.mu)
	return r
}

func (r *record) Lines(s *Source, lines []Line) error {
	if r.slow != nil {
		r.slow()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.cond.Broadcast()
	for _, l := range lines {
		if !l.Rest {
			delete(r.open, *s)
		}
		r.open[*s] += string(l.Text)
		if l.More {
			continue
		}
		key := fmt.Sprintf("%s/%d", s.UID, s.Run)
		r.lines[key] = append(r.lines[key], r.open[*s])
		r.all = append(r.all, s.Pod+" "+r.open[*s])
		delete(r.open, *s)
		if r.errAt > 0 && len(r.all) >= r.errAt {
			return errFull
		}
	}
	return nil
}

var errFull = fmt.Errorf("the disk is full")

func (r *record) Event(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.cond.Broadcast()
	text := string(e.Kind)
	if e.Source != nil {
		text += " " + e.Source.Pod
	}
	if e.Trouble != (jobs.PodTrouble{}) {
		text += " " + e.Trouble.Reason
	}
	r.events = append(r.events, text)
	return nil
}

// await waits until something holds.
func (r *record) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.AfterFunc(10*time.Second, r.cond.Broadcast)
	defer late.Stop()
	deadline := time.Now().Add(10 * time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s; lines %v, events %q", what, r.lines, r.events)
		}
		r.cond.Wait()
	}
}

func (r *record) has(key string, n int) func() bool {
	return func() bool { return len(r.lines[key]) >= n }
}
