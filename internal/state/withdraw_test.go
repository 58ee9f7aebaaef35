package state

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// withdrawing serves lists and watches until permission to read workloads in all namespaces is withdrawn: the
// watch ends, and later requests get 403.
type withdrawing struct {
	*watched
	withdrawn atomic.Bool
	// atOnce withdraws the permission with the first list.
	atOnce bool
}

func (f *withdrawing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == kueuePath+"workloads" {
		if f.withdrawn.Load() {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","code":403,"reason":"Forbidden","message":"User \"u\" cannot list resource"}`)
			return
		}
		f.withdrawn.Store(f.atOnce)
	}
	f.watched.ServeHTTP(w, r)
}

func (f *withdrawing) start() *kube.Client {
	srv := httptest.NewServer(f)
	f.t.Cleanup(srv.Close)
	return liveClient(f.t, srv)
}

func withdrawingServer(t *testing.T, atOnce bool) *withdrawing {
	return &withdrawing{atOnce: atOnce, watched: newWatched(t, map[string]string{
		"/apis/kueue.x-k8s.io":                  "group v1beta2",
		kueuePath + "workloads":                 `{"metadata":{"name":"theirs","namespace":"other","uid":"o"}},{"metadata":{"name":"ours","namespace":"mine","uid":"w"}}`,
		kueuePath + "clusterqueues":             `{"metadata":{"name":"q","uid":"q"}}`,
		kueuePath + "namespaces/mine/workloads": `{"metadata":{"name":"ours","namespace":"mine","uid":"w"}}`,
	})}
}

func followWithdrawn(t *testing.T, f *withdrawing, tick <-chan time.Time, show func(text string) error) error {
	want := Want{Workloads: true, ClusterQueues: true,
		FallbackNamespaces: func(context.Context) ([]string, error) { return []string{"mine"}, nil }}
	return Follow(t.Context(), f.start(), want, Pace{Tick: tick, Now: time.Now}, func(s *State) error {
		return show(strings.TrimSpace(names(s.Workloads, func(w Workload) string { return w.Name }) + " | " + missing(s) + " | " + partly(s)))
	})
}

// TestFollowPermissionWithdrawn: permission is withdrawn while its list is followed: what may not be read any
// more disappears, what may be read is followed on, and the loss is reported.
func TestFollowPermissionWithdrawn(t *testing.T) {
	f := withdrawingServer(t, false)
	tick, shown, done := make(chan time.Time), make(chan string), make(chan error, 1)
	go func() {
		done <- followWithdrawn(t, f, tick, func(text string) error {
			shown <- text
			if strings.Contains(text, "Forbidden") {
				return kube.ErrStop
			}
			return nil
		})
	}()
	if got := <-shown; got != "ours theirs |  |" {
		t.Errorf("before: %q", got)
	}
	<-f.began
	<-f.began
	f.withdrawn.Store(true)
	f.streams[kueuePath+"workloads"] <- nil
	after := ""
	for after == "" {
		select {
		case tick <- time.Time{}:
		case after = <-shown:
		}
	}
	if want := "ours | watch /workloads Forbidden | /workloads"; after != want {
		t.Errorf("after: %q, want %q", after, want)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A permission is withdrawn while other lists are still on their way: whatever
// comes first, every state is complete.
func TestFollowPermissionWithdrawnAtOnce(t *testing.T) {
	for range 5 {
		f := withdrawingServer(t, true)
		tick := make(chan time.Time)
		ended := make(chan struct{})
		go func() {
			for {
				select {
				case tick <- time.Time{}:
				case <-ended:
					return
				}
			}
		}()
		err := followWithdrawn(t, f, tick, func(text string) error {
			switch text {
			case "ours theirs |  |":
				return nil
			case "ours | watch /workloads Forbidden | /workloads":
				return kube.ErrStop
			}
			return fmt.Errorf("shown: %s", text)
		})
		close(ended)
		if err != nil {
			t.Fatal(err)
		}
	}
}
