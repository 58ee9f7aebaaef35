package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// follow starts a watch and returns its events as they come. It ends with the test.
func follow(t *testing.T, url string, headers ...string) <-chan map[string]any {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(headers) > 0 {
		r.Header.Set("Accept", headers[0])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan map[string]any, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(events)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			m := map[string]any{}
			if json.Unmarshal(lines.Bytes(), &m) == nil {
				events <- m
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return events
}

// patience is how long tests wait for what must come, on a machine under load.
const patience = 2 * time.Minute

// next waits for an event.
func next(t *testing.T, events <-chan map[string]any) (kind, name string, o map[string]any) {
	t.Helper()
	select {
	case e, ok := <-events:
		if !ok {
			t.Fatal("the watch ended")
		}
		return object.Text(e, "type"), object.Text(e, "object", "metadata", "name"), object.Map(e, "object")
	case <-time.After(patience):
		t.Fatal("no event")
	}
	return "", "", nil
}

func want(t *testing.T, events <-chan map[string]any, kind, name string) map[string]any {
	t.Helper()
	k, n, o := next(t, events)
	if k != kind || n != name {
		t.Fatalf("%s %s, want %s %s", k, n, kind, name)
	}
	return o
}

func TestWatch(t *testing.T) {
	b := newBench(t, "john-smith")
	const maps = "/api/v1/namespaces/default/configmaps"
	b.must(201, "POST", maps, `{"metadata":{"name":"before","labels":{"a":"1"}}}`)
	version := object.Text(b.must(200, "GET", maps, ""), "metadata", "resourceVersion")
	all := follow(t, b.url+maps+"?watch=1")
	later := follow(t, b.url+maps+"?watch=true&resourceVersion="+version)
	labelled := follow(t, b.url+maps+"?watch=1&labelSelector=a%3D1")
	one := follow(t, b.url+maps+"?watch=1&fieldSelector=metadata.name%3Dnew")
	want(t, all, "ADDED", "before")
	want(t, labelled, "ADDED", "before")

	b.must(201, "POST", "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"elsewhere"}}`)
	b.must(201, "POST", maps, `{"metadata":{"name":"new"}}`)
	want(t, all, "ADDED", "new")
	want(t, later, "ADDED", "new")
	want(t, one, "ADDED", "new")
	// Beginning and ceasing to match a selector are additions and deletions.
	b.must(200, "PATCH", maps+"/new", `{"metadata":{"labels":{"a":"1"}}}`, mergePatch)
	want(t, all, "MODIFIED", "new")
	want(t, labelled, "ADDED", "new")
	b.must(200, "PATCH", maps+"/before", `{"metadata":{"labels":{"a":"2"}}}`, mergePatch)
	want(t, labelled, "DELETED", "before")
	b.must(200, "DELETE", maps+"/new", "")
	gone := want(t, labelled, "DELETED", "new")
	if rv(gone) <= rv(b.must(200, "GET", maps+"/before", "")) {
		t.Errorf("the deletion has the object's old version %d", rv(gone))
	}
	// What was missed is sent when the watch starts from where it was.
	resumed := follow(t, b.url+maps+"?watch=1&resourceVersion="+version)
	want(t, resumed, "ADDED", "new")
	want(t, resumed, "MODIFIED", "new")
	want(t, resumed, "MODIFIED", "before")
	want(t, resumed, "DELETED", "new")
}

// The streaming list that newer clients ask for, in all shapes.
func TestWatchInitialEvents(t *testing.T) {
	b := newBench(t, "john-smith")
	const query = "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
	queues := kinds.ClusterQueue.Path("", "")
	events := follow(t, b.url+queues+query)
	want(t, events, "ADDED", johnNS+"-clusterqueue")
	want(t, events, "ADDED", smithNS+"-clusterqueue")
	if k, _, o := next(t, events); k != "BOOKMARK" || object.Text(o, "metadata", "annotations", "k8s.io/initial-events-end") != "true" || object.Text(o, "kind") != "ClusterQueue" {
		t.Errorf("%s %v", k, o)
	}
	table := follow(t, b.url+queues+"?watch=1", "application/json;as=Table;v=v1;g=meta.k8s.io")
	_, _, first := next(t, table)
	_, _, second := next(t, table)
	if object.Text(first, "kind") != "Table" || len(object.List(first, "columnDefinitions")) == 0 || len(object.List(second, "columnDefinitions")) != 0 || len(object.List(second, "rows")) != 1 {
		t.Errorf("tables %v, %v", first, second)
	}
	meta := follow(t, b.url+queues+"?watch=1", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	if _, _, o := next(t, meta); object.Text(o, "kind") != "PartialObjectMetadata" || o["spec"] != nil {
		t.Errorf("%v", o)
	}
}

func TestWatchEnds(t *testing.T) {
	b := newBench(t, "john-smith")
	for e := range follow(t, b.url+"/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1") {
		t.Errorf("event %v", e)
	}
	// The history starts when the file was read: earlier versions are too old.
	again, err := Open(b.path, b.options())
	if err != nil {
		t.Fatal(err)
	}
	b.url = serve(t, again)
	a := b.send("GET", "/api/v1/configmaps?watch=1&resourceVersion=1", "")
	if m := a.object(t); a.code != 410 || object.Text(m, "reason") != "Expired" {
		t.Errorf("%d %v", a.code, m)
	}
}

// A watch that falls behind the history ends with an error.
func TestHistoryIsLimited(t *testing.T) {
	st := store.New()
	for i := range store.MaxHistory * 2 {
		if _, err := st.Put("configmaps", map[string]any{"metadata": map[string]any{"name": "c", "uid": "u", "n": fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Since(1); err != store.ErrExpired {
		t.Errorf("since 1: %v", err)
	}
	if c, err := st.Since(st.RV() - 10); err != nil || len(c) != 10 || c[0].RV != st.RV()-9 {
		t.Errorf("the last ten: %d, %v", len(c), err)
	}
	if _, err := st.Since(st.RV() + 1); err != store.ErrExpired {
		t.Errorf("from the future: %v", err)
	}
	clone := st.Clone()
	clone.Remove("configmaps", "", "c")
	if st.Get("configmaps", "", "c") == nil || st.RV() == clone.RV() {
		t.Error("a change of a clone changed the original")
	}
}

// Jobs end by the clock while somebody watches.
func TestWatchSeesTime(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4, lasting("30m")))
	version := object.Text(b.must(200, "GET", kinds.PyTorchJob.Path(smithNS, ""), ""), "metadata", "resourceVersion")
	events := follow(t, b.url+kinds.PyTorchJob.Path(smithNS, "")+"?watch=1&resourceVersion="+version)
	b.clock.move(time.Hour)
	if o := want(t, events, "MODIFIED", "j"); !object.True(o, "Succeeded") {
		t.Errorf("%v", object.At(o, "status"))
	}
}

func TestLogs(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4, lasting("5m")))
	path := kinds.Pod.Path(smithNS, "j-worker-0", "log")
	b.clock.move(150 * time.Second)
	if a := b.send("GET", path, ""); a.code != 200 || string(a.body) != "sandbox: j-worker-0 started on "+object.Text(b.get(kinds.Pod, smithNS, "j-worker-0"), "spec", "nodeName")+
		" (simulated: no process runs)\nsandbox: step 10\nsandbox: step 20\n" {
		t.Errorf("%d %s", a.code, a.body)
	}
	if a := b.send("GET", path+"?tailLines=1&timestamps=true", ""); string(a.body) != "2026-11-21T12:02:00Z sandbox: step 20\n" {
		t.Errorf("tail: %q", a.body)
	}
	if a := b.send("GET", path+"?sinceSeconds=60", ""); string(a.body) != "sandbox: step 20\n" {
		t.Errorf("since: %q", a.body)
	}
	if a := b.send("GET", path+"?container=other", ""); a.code != 400 {
		t.Errorf("container: %d", a.code)
	}
	done := make(chan string)
	go func() { done <- string(b.send("GET", path+"?follow=true", "").body) }()
	b.advance(10 * time.Minute)
	select {
	case text := <-done:
		if !strings.HasSuffix(text, "sandbox: step 40\nsandbox: finished\n") {
			t.Errorf("followed: %q", text)
		}
	case <-time.After(patience):
		t.Error("following does not end with the pod")
	}
}
