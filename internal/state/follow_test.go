package state

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// watched is a server of lists and watches: what is sent to a path's channel goes
// to the watch of that path; a nil ends the connection.
type watched struct {
	cluster
	streams map[string]chan []string
	began   chan string
}

func newWatched(t *testing.T, lists map[string]string) *watched {
	w := &watched{cluster: cluster{t: t, lists: lists}, streams: map[string]chan []string{}, began: make(chan string, 100)}
	for path := range lists {
		w.streams[path] = make(chan []string)
	}
	return w
}

func (f *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		f.cluster.ServeHTTP(w, r)
		return
	}
	w.(http.Flusher).Flush()
	f.began <- r.URL.Path
	for {
		select {
		case lines := <-f.streams[r.URL.Path]:
			if lines == nil {
				return
			}
			for _, l := range lines {
				fmt.Fprintln(w, l)
			}
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (f *watched) start() *kube.Client {
	srv := httptest.NewServer(f)
	f.t.Cleanup(srv.Close)
	return liveClient(f.t, srv)
}

const kueuePath = "/apis/kueue.x-k8s.io/v1beta2/"

func added(name, version string) string {
	return fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"name":%q,"namespace":"ns","uid":%q,"resourceVersion":%q}}}`, name, name, version)
}

func names[T any](all []T, name func(T) string) string {
	var out []string
	for _, x := range all {
		out = append(out, name(x))
	}
	return strings.Join(out, " ")
}

// TestFollow: everything first, then changes, in one piece per tick; a lost
// connection is taken up again; nothing is shown while nothing changes.
func TestFollow(t *testing.T) {
	f := newWatched(t, map[string]string{
		"/apis/kueue.x-k8s.io":      "group v1beta2",
		kueuePath + "workloads":     `{"metadata":{"name":"a","namespace":"ns","uid":"a"}}`,
		kueuePath + "clusterqueues": `{"metadata":{"name":"q","uid":"q"}}`,
	})
	tick := make(chan time.Time)
	shown := make(chan string)
	done := make(chan error, 1)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	go func() {
		done <- Follow(t.Context(), f.start(), Want{Workloads: true, ClusterQueues: true}, Pace{Tick: tick, Now: func() time.Time { return now }}, func(s *State) error {
			text := names(s.Workloads, func(w Workload) string { return w.Name }) + " | " + names(s.ClusterQueues, func(q ClusterQueue) string { return q.Name })
			if !s.Taken.Equal(now) {
				text += " at the wrong time"
			}
			shown <- text
			if strings.Contains(text, "last") {
				return kube.ErrStop
			}
			return nil
		})
	}()
	expect := func(want string) {
		t.Helper()
		if got := <-shown; got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
	}
	expect("a | q")
	<-f.began
	<-f.began
	tick <- now // nothing has changed
	// next ticks until something is shown: events are on their way.
	next := func() string {
		for {
			select {
			case tick <- now:
			case got := <-shown:
				return got
			}
		}
	}
	f.streams[kueuePath+"workloads"] <- []string{added("c", "5"), added("b", "6"), strings.Replace(added("a", "7"), "ADDED", "DELETED", 1)}
	f.streams[kueuePath+"workloads"] <- nil // the connection is lost
	<-f.began
	if got := next(); got != "b c | q" {
		t.Errorf("shown %q", got)
	}
	f.streams[kueuePath+"clusterqueues"] <- []string{added("last", "8")}
	if got := next(); got != "b c | q last" {
		t.Errorf("shown %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestFollowAsAMember: what may not be listed is followed where it may.
func TestFollowAsAMember(t *testing.T) {
	f := newWatched(t, map[string]string{
		"/apis/kueue.x-k8s.io":                  "group v1beta2",
		kueuePath + "workloads":                 "403",
		kueuePath + "clusterqueues":             "403",
		kueuePath + "cohorts":                   "403",
		kueuePath + "namespaces/mine/workloads": `{"metadata":{"name":"w","namespace":"mine","uid":"w"}}`,
	})
	want := Want{Workloads: true, ClusterQueues: true, Cohorts: true,
		FallbackNamespaces: func(context.Context) ([]string, error) { return []string{"mine", "other"}, nil },
		FallbackQueues:     func(context.Context) ([]string, error) { return []string{"mine-clusterqueue"}, nil }}
	err := Follow(t.Context(), f.start(), want, Pace{Tick: make(chan time.Time), Now: time.Now}, func(s *State) error {
		if len(s.Workloads) != 1 || s.Workloads[0].Name != "w" {
			t.Errorf("workloads: %+v", s.Workloads)
		}
		// Of the other namespace nothing is served.
		if got := missing(s); !strings.Contains(got, "clusterqueues") || !strings.Contains(got, "cohorts") || !strings.Contains(got, "workloads") {
			t.Errorf("missing: %s", got)
		}
		if got := partly(s); got != "/workloads" {
			t.Errorf("read in some namespaces: %s", got)
		}
		return kube.ErrStop
	})
	if err != nil {
		t.Fatal(err)
	}
	if asked := f.requests(); !strings.Contains(asked, "clusterqueues?fieldSelector=metadata.name%3Dmine-clusterqueue") {
		t.Errorf("the own queue was not asked for by name:\n%s", asked)
	}
}

// TestFollowFails: with nothing to read it ends with the reason, as a load does;
// an interrupted one with the context's error.
func TestFollowFails(t *testing.T) {
	f := newWatched(t, map[string]string{"/apis/kueue.x-k8s.io": "group v1beta2", kueuePath + "workloads": "403"})
	never := func(*State) error { t.Error("shown"); return nil }
	if err := Follow(t.Context(), f.start(), Want{Workloads: true}, Pace{Now: time.Now}, never); !kube.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	broken := newWatched(t, map[string]string{"/apis/kueue.x-k8s.io": "group v1beta2", kueuePath + "workloads": "401"})
	if err := Follow(t.Context(), broken.start(), Want{Workloads: true}, Pace{Now: time.Now}, never); err == nil {
		t.Error("not signed in, and no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	held := newWatched(t, map[string]string{"/apis/kueue.x-k8s.io": "group v1beta2", kueuePath + "workloads": ""})
	err := Follow(ctx, held.start(), Want{Workloads: true}, Pace{Tick: make(chan time.Time), Now: time.Now}, func(*State) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestFallbackQueues: a member's own ClusterQueue is read by name.
func TestFallbackQueues(t *testing.T) {
	f := &cluster{t: t, lists: map[string]string{"/apis/kueue.x-k8s.io": "group v1beta2", kueuePath + "clusterqueues": "403"}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == kueuePath+"clusterqueues/mine" {
			fmt.Fprint(w, `{"metadata":{"name":"mine"}}`)
			return
		}
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s, err := Load(t.Context(), liveClient(t, srv), Want{ClusterQueues: true,
		FallbackQueues: func(context.Context) ([]string, error) { return []string{"mine", "theirs"}, nil }}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.ClusterQueues) != 1 || s.ClusterQueues[0].Name != "mine" || len(s.MissingOf(s.Missing[0].Resource)) != 1 {
		t.Errorf("read %+v, missing %s", s.ClusterQueues, missing(s))
	}
}

// TestFollowOfJobs: the jobs of all kinds are one list, without the parts of other jobs; a kind that is refused is named,
// also an optional one, and hides nothing else.
func TestFollowOfJobs(t *testing.T) {
	job := func(name, more string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":%q,"labels":{"kueue.x-k8s.io/queue-name":"q"}%s}}`, name, name, more)
	}
	owned := `,"ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"p","uid":"p","controller":true}]`
	f := newWatched(t, map[string]string{
		"/apis/kueue.x-k8s.io":              "group v1beta2",
		"/apis/kubeflow.org":                "group v1",
		"/apis/batch":                       "group v1",
		"/apis/apps":                        "group v1",
		kueuePath + "workloads":             "",
		"/apis/kubeflow.org/v1/pytorchjobs": job("p", ""),
		"/apis/batch/v1/jobs":               job("b", "") + "," + job("part", owned),
		"/apis/apps/v1/deployments":         "403",
	})
	tick, shown := make(chan time.Time), make(chan string)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Follow(ctx, f.start(), Want{Workloads: true, Jobs: []kinds.Job{kinds.PyTorchJob, kinds.BatchJob, kinds.DeploymentKind}}, Pace{Tick: tick, Now: time.Now}, func(s *State) error {
			shown <- names(s.Jobs, func(j Job) string { return j.Kind.Kind + "/" + j.Name }) + " | " + missing(s)
			return nil
		})
	}()
	if got := <-shown; !strings.HasPrefix(got, "PyTorchJob/p Job/b | ") || !strings.Contains(got, "deployments") {
		t.Errorf("shown %q", got)
	}
	for range 3 {
		<-f.began
	}
	f.streams["/apis/batch/v1/jobs"] <- []string{`{"type":"ADDED","object":` + strings.Replace(job("c", ""), `"uid"`, `"resourceVersion":"9","uid"`, 1) + `}`}
	for got := ""; got == ""; {
		select {
		case tick <- time.Now():
		case got = <-shown:
			if !strings.HasPrefix(got, "PyTorchJob/p Job/b Job/c | ") {
				t.Errorf("shown %q", got)
			}
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
