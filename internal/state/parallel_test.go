package state

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// TestParallel: no more requests are open at a time than wanted, with a member's
// rights and very many namespaces too, and as many as that are.
func TestParallel(t *testing.T) {
	f := &cluster{t: t, lists: map[string]string{"/apis/kueue.x-k8s.io": "group v1beta2"}}
	const kueue = "/apis/kueue.x-k8s.io/v1beta2/"
	for _, plural := range []string{"clusterqueues", "workloads", "localqueues", "cohorts", "resourceflavors"} {
		f.lists[kueue+plural] = "403"
	}
	var namespaces, queues []string
	for i := range 20 {
		ns := fmt.Sprint("ns", i)
		namespaces, queues = append(namespaces, ns), append(queues, ns)
		f.lists[kueue+"namespaces/"+ns+"/workloads"] = named("w")
		f.lists[kueue+"namespaces/"+ns+"/localqueues"] = named("q")
		f.lists[kueue+"clusterqueues/"+ns] = `{"metadata":{"name":"q"}}`
	}
	const limit = 3
	var mu sync.Mutex
	open, most := 0, 0
	full := make(chan struct{}) // closed when as many are open as may be
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		open++
		if most = max(most, open); open == limit {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		if r.URL.Path != "/apis/kueue.x-k8s.io" {
			<-full
		}
		f.ServeHTTP(w, r)
		mu.Lock()
		open--
		mu.Unlock()
	}))
	t.Cleanup(srv.Close)
	list := func(of []string) func(context.Context) ([]string, error) {
		return func(context.Context) ([]string, error) { return of, nil }
	}
	s, err := Load(t.Context(), liveClient(t, srv), Want{ClusterQueues: true, Workloads: true, LocalQueues: true, Cohorts: true, Flavors: true, Parallel: limit,
		FallbackNamespaces: list(namespaces), FallbackQueues: list(queues)}, now)
	if err != nil {
		t.Fatal(err)
	}
	if most != limit || len(s.Workloads) != 20 || len(s.LocalQueues) != 20 {
		t.Errorf("%d requests at a time; %d workloads and %d queues read", most, len(s.Workloads), len(s.LocalQueues))
	}
}
