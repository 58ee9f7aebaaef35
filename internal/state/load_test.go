package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// cluster is a server of lists: by path, the JSON of the items; a number is an error. Groups are served as
// their paths say. It records the requests.
type cluster struct {
	t     *testing.T
	lists map[string]string
	mu    sync.Mutex
	asked []string
}

func (f *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimSuffix(r.URL.Path+"?"+r.URL.RawQuery, "?"))
	f.mu.Unlock()
	body, ok := f.lists[r.URL.Path]
	code := http.StatusNotFound
	if _, err := fmt.Sscanf(body, "%d", &code); ok && err != nil {
		if strings.HasPrefix(body, "group ") {
			v := strings.Fields(body)[1]
			fmt.Fprintf(w, `{"kind":"APIGroup","versions":[{"version":%q}],"preferredVersion":{"version":%q}}`, v, v)
			return
		}
		fmt.Fprintf(w, `{"kind":"List","metadata":{"resourceVersion":"1"},"items":[%s]}`, body)
		return
	}
	if code == http.StatusNotFound {
		http.Error(w, "404 page not found", code)
		return
	}
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","code":%d,"reason":%q,"message":"User \"u\" cannot list resource"}`, code, map[int]string{403: "Forbidden", 401: "Unauthorized"}[code])
}

func (f *cluster) client() *kube.Client {
	srv := httptest.NewServer(f)
	f.t.Cleanup(srv.Close)
	return liveClient(f.t, srv)
}

func (f *cluster) requests() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(f.asked)), "\n")
}

func named(names ...string) string {
	for i, n := range names {
		names[i] = fmt.Sprintf(`{"metadata":{"name":%q,"uid":%[1]q,"labels":{"kueue.x-k8s.io/queue-name":"q"}}}`, n)
	}
	return strings.Join(names, ",")
}

func jobNames(s *State) string {
	var out []string
	for _, j := range s.Jobs {
		out = append(out, j.Kind.Kind+"/"+j.Name)
	}
	return strings.Join(out, " ")
}

func missing(s *State) string {
	var out []string
	for _, m := range s.Missing {
		out = append(out, fmt.Sprintf("%s %s/%s %s", m.Verb, m.Namespace, m.Resource.Plural, m.Reason))
	}
	return strings.Join(out, ", ")
}

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func everything() map[string]string {
	return map[string]string{
		"/apis/kubeflow.org":                                   "group v1",
		"/apis/kubeflow.org/v1/pytorchjobs":                    named("a", "b"),
		"/apis/kueue.x-k8s.io":                                 "group v1beta2",
		"/apis/kueue.x-k8s.io/v1beta2/workloads":               named("w"),
		"/apis/kueue.x-k8s.io/v1beta2/clusterqueues":           named("cq"),
		"/apis/kueue.x-k8s.io/v1beta2/localqueues":             named("lq"),
		"/apis/kueue.x-k8s.io/v1beta2/cohorts":                 named("co"),
		"/apis/kueue.x-k8s.io/v1beta2/resourceflavors":         `{"metadata":{"name":"f"},"spec":{"nodeLabels":{"a":"b"},"nodeTaints":[{"key":"k","value":"v","effect":"NoSchedule"}],"topologyName":"t"}}`,
		"/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses": `{"metadata":{"name":"p"},"value":40,"description":"d"}`,
		"/apis/batch/v1/jobs": named("batch") + `,{"metadata":{"name":"cron"}},
			{"metadata":{"name":"launcher","labels":{"kueue.x-k8s.io/queue-name":"q"},"ownerReferences":[{"apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob","name":"m","controller":true}]}},
			{"metadata":{"name":"nightly-1","labels":{"kueue.x-k8s.io/queue-name":"q"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"CronJob","name":"nightly","controller":true}]}}`,
		"/api/v1/namespaces": `{"metadata":{"name":"team","labels":{"sagemaker.amazonaws.com/sagemaker-managed-queue":"true","sagemaker.amazonaws.com/quota-allocation-id":"ml"}},"status":{"phase":"Active"}}`,
		"/api/v1/nodes": `{"metadata":{"name":"n","labels":{"node.kubernetes.io/instance-type":"ml.p5.48xlarge"}},"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]},
			"status":{"allocatable":{"cpu":"191450m","memory":"2062607Mi","nvidia.com/gpu":"8"},"capacity":{"cpu":"192"},"conditions":[{"type":"Ready","status":"True"}]}}`,
		"/api/v1/pods": `{"metadata":{"name":"p","uid":"p"},"spec":{"nodeName":"n","schedulingGates":[{"name":"g"}],"priorityClassName":"pc","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},
			"status":{"phase":"Running","startTime":"2026-11-20T10:00:00Z","conditions":[{"type":"Ready","status":"True"}],
			"initContainerStatuses":[{"name":"i","restartCount":1,"state":{"terminated":{"reason":"Completed","exitCode":0,"finishedAt":"2026-11-20T10:00:00Z"}}}],
			"containerStatuses":[{"name":"c","ready":true,"restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},"lastState":{"terminated":{"reason":"OOMKilled","exitCode":137}}}]}}`,
	}
}

func TestLoadIsOneListAKind(t *testing.T) {
	f := &cluster{t: t, lists: everything()}
	c := f.client()
	want := Want{Jobs: []kinds.Job{kinds.PyTorchJob, kinds.BatchJob}, Selector: "app=x", Workloads: true, WorkloadSelector: "l=w", ClusterQueues: true, LocalQueues: true, Cohorts: true,
		Flavors: true, PriorityClasses: true, Namespaces: true, Nodes: true, Pods: true, PodSelector: "l=p"}
	s, err := Load(t.Context(), c, want, now)
	if err != nil || len(s.Missing) != 0 {
		t.Fatal(err, missing(s))
	}
	wantAsked := `/api/v1/namespaces
/api/v1/nodes
/api/v1/pods?labelSelector=l%3Dp
/apis/batch/v1/jobs?labelSelector=kueue.x-k8s.io%2Fqueue-name%2Capp%3Dx
/apis/kubeflow.org
/apis/kubeflow.org/v1/pytorchjobs?labelSelector=app%3Dx
/apis/kueue.x-k8s.io
/apis/kueue.x-k8s.io/v1beta2/clusterqueues
/apis/kueue.x-k8s.io/v1beta2/cohorts
/apis/kueue.x-k8s.io/v1beta2/localqueues
/apis/kueue.x-k8s.io/v1beta2/resourceflavors
/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses
/apis/kueue.x-k8s.io/v1beta2/workloads?labelSelector=l%3Dw`
	if got := f.requests(); got != wantAsked {
		t.Errorf("asked for\n%s\nwant\n%s", got, wantAsked)
	}
	if got := jobNames(s); got != "PyTorchJob/a PyTorchJob/b Job/batch Job/nightly-1" {
		t.Errorf("jobs: %s", got)
	}
	if s.Taken != now || s.Server != c.Server() || s.Workloads[0].Name != "w" || s.ClusterQueues[0].Name != "cq" || s.LocalQueues[0].Name != "lq" || s.Cohorts[0].Name != "co" {
		t.Errorf("got %+v", s)
	}
	if f := s.Flavors[0]; f.NodeLabels["a"] != "b" || f.NodeTaints[0] != (Taint{"k", "v", "NoSchedule"}) || f.Topology != "t" {
		t.Errorf("flavor %+v", f)
	}
	if p := s.PriorityClasses[0]; p.Value != 40 || p.Description != "d" {
		t.Errorf("priority class %+v", p)
	}
	if n := s.Namespaces[0]; !n.Managed() || n.Team() != "ml" || n.Phase != "Active" {
		t.Errorf("namespace %+v", n)
	}
	if n := s.Nodes[0]; !n.Ready || !n.Unschedulable || n.InstanceType() != "ml.p5.48xlarge" || len(n.Taints) != 1 ||
		!maps.Equal(n.Allocatable, Amounts{"cpu": 191450, "memory": 2062607 << 20, "nvidia.com/gpu": 8}) || n.Capacity["cpu"] != 192000 {
		t.Errorf("node %+v", n)
	}
	p := s.Pods[0]
	if p.Phase != "Running" || p.NodeName != "n" || !p.Ready || !p.Gated || p.Restarts != 3 || p.PriorityClass != "pc" || p.Start == nil || p.Requests["cpu"] != 1000 || len(p.Containers) != 2 {
		t.Errorf("pod %+v", p)
	}
	if i := p.Containers[0]; !i.Init || i.Terminated != "Completed" || i.FinishedAt == nil {
		t.Errorf("container %+v", i)
	}
	if c := p.Containers[1]; c.Init || c.Waiting != "CrashLoopBackOff" || c.Message != "back-off" || c.LastTerminated != "OOMKilled" || c.LastExitCode != 137 || c.Restarts != 2 {
		t.Errorf("container %+v", c)
	}
	// The second load knows the versions.
	before := c.Requests()
	if _, err := Load(t.Context(), c, want, now); err != nil || c.Requests()-before != 11 {
		t.Errorf("%d requests, %v", c.Requests()-before, err)
	}
}

func TestLoadOneNamespace(t *testing.T) {
	f := &cluster{t: t, lists: map[string]string{"/apis/kubeflow.org": "group v1", "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs": named("a"), "/api/v1/nodes": ""}}
	s, err := Load(t.Context(), f.client(), Want{Namespace: "team", Jobs: []kinds.Job{kinds.PyTorchJob}, Nodes: true}, now)
	if err != nil || jobNames(s) != "PyTorchJob/a" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// Kinds that are not served are quietly absent; the rest is read.
func TestLoadNotServed(t *testing.T) {
	lists := everything()
	delete(lists, "/apis/kueue.x-k8s.io")
	f := &cluster{t: t, lists: lists}
	s, err := Load(t.Context(), f.client(), Want{Jobs: []kinds.Job{kinds.PyTorchJob, kinds.MPIJob, kinds.RayJob}, Workloads: true}, now)
	if err != nil || jobNames(s) != "PyTorchJob/a PyTorchJob/b" {
		t.Fatalf("got %v, %v", s, err)
	}
	// kubeflow.org is served, but not at the version of MPIJob.
	if got := missing(s); got != "list /mpijobs NotServed, list /rayjobs NotServed, list /workloads NotServed" {
		t.Errorf("missing %s", got)
	}
	if m := s.MissingOf(kinds.Workload); len(m) != 1 || m[0].Reason != NotServed || !kube.IsNotServed(m[0].Err) {
		t.Errorf("got %+v", m)
	}
}

func TestLoadForbidden(t *testing.T) {
	lists := everything()
	lists["/apis/kueue.x-k8s.io/v1beta2/clusterqueues"] = "403"
	lists["/api/v1/nodes"] = "500"
	f := &cluster{t: t, lists: lists}
	s, err := Load(t.Context(), f.client(), Want{Jobs: []kinds.Job{kinds.PyTorchJob}, ClusterQueues: true, Nodes: true}, now)
	if err != nil || jobNames(s) != "PyTorchJob/a PyTorchJob/b" {
		t.Fatalf("got %v, %v", s, err)
	}
	if got := missing(s); got != "list /clusterqueues Forbidden, list /nodes Failed" {
		t.Errorf("missing %s", got)
	}
}

func TestLoadNothing(t *testing.T) {
	for code, want := range map[string]struct {
		exit errs.Exit
		text string
	}{
		"401": {errs.Denied, "credentials missing, invalid or expired"},
		"403": {errs.Denied, "permission"},
		"500": {errs.Failure, "the server failed"},
		"404": {errs.NotFound, "does not serve"},
	} {
		f := &cluster{t: t, lists: map[string]string{"/apis/kubeflow.org": "group v1", "/apis/kubeflow.org/v1/pytorchjobs": code, "/api/v1/pods": code}}
		s, err := Load(t.Context(), f.client(), Want{Jobs: []kinds.Job{kinds.PyTorchJob}, Pods: code != "404"}, now)
		if s != nil || err == nil || errs.ExitOf(err) != want.exit || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: got %v, %v", code, s, err)
		}
	}
}

// Of several reasons the most telling is given: a failure, then a refusal.
func TestLoadNothingSaysMost(t *testing.T) {
	for text, lists := range map[string]map[string]string{
		"HTTP 500":   {"/apis/kubeflow.org": "group v1", "/apis/kubeflow.org/v1/pytorchjobs": "403", "/api/v1/pods": "500"},
		"permission": {"/api/v1/pods": "403"}, // and kubeflow.org is not served
	} {
		f := &cluster{t: t, lists: lists}
		if _, err := Load(t.Context(), f.client(), Want{Jobs: []kinds.Job{kinds.PyTorchJob}, Pods: true}, now); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want %s, got %v", text, err)
		}
	}
}

// A list over all namespaces that is forbidden is read namespace by namespace.
func TestLoadFallback(t *testing.T) {
	lists := map[string]string{
		"/apis/kubeflow.org": "group v1", "/apis/kueue.x-k8s.io": "group v1beta2",
		"/apis/kubeflow.org/v1/pytorchjobs":                        "403",
		"/apis/kubeflow.org/v1/namespaces/team-a/pytorchjobs":      named("a"),
		"/apis/kubeflow.org/v1/namespaces/team-b/pytorchjobs":      named("b"),
		"/apis/kueue.x-k8s.io/v1beta2/workloads":                   "403",
		"/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads": named("w"),
		"/apis/kueue.x-k8s.io/v1beta2/namespaces/team-b/workloads": "403",
		"/api/v1/nodes": "403",
	}
	f := &cluster{t: t, lists: lists}
	c := f.client()
	calls := 0
	want := Want{Jobs: []kinds.Job{kinds.PyTorchJob}, Workloads: true, Nodes: true,
		FallbackNamespaces: func(context.Context) ([]string, error) { calls++; return []string{"team-a", "team-b"}, nil }}
	s, err := Load(t.Context(), c, want, now)
	if err != nil || jobNames(s) != "PyTorchJob/a PyTorchJob/b" || len(s.Workloads) != 1 || calls != 1 {
		t.Fatalf("got %+v, %v, %d calls", s, err, calls)
	}
	if got := missing(s); got != "list /nodes Forbidden, list /pytorchjobs Forbidden, list /workloads Forbidden, list team-b/workloads Forbidden" {
		t.Errorf("missing %s", got)
	}
	if got := partly(s); got != "/pytorchjobs /workloads" {
		t.Errorf("read in some namespaces: %s", got)
	}
	if c.Requests() != 2+3+4 {
		t.Errorf("%d requests:\n%s", c.Requests(), f.requests())
	}
	// The error of the fallback itself is not lost.
	broken := errors.New("broken")
	want.FallbackNamespaces = func(context.Context) ([]string, error) { return nil, broken }
	if _, err := Load(t.Context(), c, want, now); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	want.FallbackNamespaces = func(ctx context.Context) ([]string, error) {
		_, err := ListNodes(ctx, c, kube.ListOptions{})
		return nil, err
	}
	if _, err := Load(t.Context(), c, want, now); !kube.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

// partly are the lists that were read in part.
func partly(s *State) string {
	var out []string
	for _, m := range s.Missing {
		if m.Partly {
			out = append(out, m.Namespace+"/"+m.Resource.Plural)
		}
	}
	return strings.Join(out, " ")
}

func TestLoadInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }))
	defer srv.Close()
	_, err := Load(ctx, liveClient(t, srv), Want{Jobs: []kinds.Job{kinds.PyTorchJob}, Nodes: true}, now)
	if errs.ExitOf(err) != errs.Interrupted {
		t.Errorf("got %v", err)
	}
}

// A remembered version that is gone is looked up again, once.
func TestServedAfterUpgrade(t *testing.T) {
	f := &cluster{t: t, lists: map[string]string{"/apis/kueue.x-k8s.io": "group v1beta1", "/apis/kueue.x-k8s.io/v1beta1/workloads": named("old")}}
	srv := httptest.NewServer(f)
	defer srv.Close()
	clock, dir := now, t.TempDir()
	client := func() *kube.Client {
		c := liveClient(t, srv, func(o *kube.Options) { o.CacheDir = dir; o.Now = func() time.Time { return clock } })
		return c
	}
	check := func(want string, requests int) {
		t.Helper()
		c := client()
		got, err := ListWorkloads(t.Context(), c, "", kube.ListOptions{})
		if err != nil || len(got) != 1 || got[0].Name != want || c.Requests() != requests {
			t.Errorf("got %+v, %v, %d requests", got, err, c.Requests())
		}
	}
	check("old", 2)
	f.lists = map[string]string{"/apis/kueue.x-k8s.io": "group v1beta2", "/apis/kueue.x-k8s.io/v1beta2/workloads": named("new")}
	clock = clock.Add(time.Hour)
	check("new", 3)
	check("new", 1)
}

func TestServedJobs(t *testing.T) {
	f := &cluster{t: t, lists: map[string]string{"/apis/kubeflow.org": "group v2beta1", "/apis/ray.io": "group v1"}}
	c := f.client()
	got, err := ServedJobs(t.Context(), c)
	var names []string
	for _, j := range got {
		names = append(names, j.Kind+" "+j.GroupVersion())
	}
	if err != nil || strings.Join(names, ", ") != "MPIJob kubeflow.org/v2beta1, Job batch/v1, RayJob ray.io/v1, RayCluster ray.io/v1, RayService ray.io/v1, Deployment apps/v1, StatefulSet apps/v1, Pod v1" {
		t.Errorf("got %v, %v", names, err)
	}
	if c.Requests() != 10 {
		t.Errorf("%d requests, want one a group", c.Requests())
	}
	f = &cluster{t: t, lists: map[string]string{"/apis/ray.io": "500"}}
	if _, err := ServedJobs(t.Context(), f.client()); err == nil {
		t.Error("no error")
	}
	// Where the list of versions is forbidden the preferred version is tried.
	f = &cluster{t: t, lists: map[string]string{"/apis/ray.io": "403"}}
	if r, err := reader.Served(t.Context(), f.client(), kinds.RayJob.Resource); err != nil || r.Version != "v1" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestGetAndFollow(t *testing.T) {
	lists := everything()
	f := &cluster{t: t, lists: lists}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("watch") != "":
			fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`, named("a"))
		case strings.HasSuffix(r.URL.Path, "/train"):
			fmt.Fprint(w, named("train"))
		default:
			f.ServeHTTP(w, r)
		}
	}))
	defer srv.Close()
	c := liveClient(t, srv)
	j, err := GetJob(t.Context(), c, kinds.PyTorchJob, "team", "train")
	if err != nil || j.Name != "train" || j.Kind.Kind != "PyTorchJob" {
		t.Errorf("got %+v, %v", j, err)
	}
	if _, err := GetJob(t.Context(), c, kinds.RayJob, "team", "train"); !kube.IsNotServed(err) {
		t.Errorf("got %v", err)
	}
	var got []string
	note := func(kind, name string) error {
		if got = append(got, strings.TrimSuffix(kind+" "+name, " ")); kind == kube.Modified {
			return kube.ErrStop
		}
		return nil
	}
	check := func(err error, want string) {
		t.Helper()
		if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("got %v, %v; want %s", got, err, want)
		}
		got = nil
	}
	all := kube.ListOptions{}
	check(FollowJobs(t.Context(), c, kinds.PyTorchJob, "", all, func(e kube.Event[Job]) error { return note(e.Type, e.Object.Name) }), "ADDED a, ADDED b, SYNCED, MODIFIED a")
	check(FollowWorkloads(t.Context(), c, "", all, func(e kube.Event[Workload]) error { return note(e.Type, e.Object.Name) }), "ADDED w, SYNCED, MODIFIED a")
	check(FollowPods(t.Context(), c, "", all, func(e kube.Event[Pod]) error { return note(e.Type, e.Object.Name) }), "ADDED p, SYNCED, MODIFIED a")
}
