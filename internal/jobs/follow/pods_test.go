package follow

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// TestFollowPodsOfTheNextCluster: a RayJob that was preempted comes back with another
// Ray cluster, whose pods are followed then, and not the first one's.
func TestFollowPodsOfTheNextCluster(t *testing.T) {
	job := func(version, cluster string) string {
		return fmt.Sprintf(`{"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":%q},
			"spec":{"rayClusterSpec":{"headGroupSpec":{"template":{"spec":{}}}}},"status":{"rayClusterName":%q,"jobDeploymentStatus":"Running"}}`, version, cluster)
	}
	back := make(chan struct{}) // closed when the first cluster's pod was seen
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		watch, items := r.URL.Query().Get("watch") != "", ""
		cluster := strings.TrimPrefix(r.URL.Query().Get("labelSelector"), "ray.io/cluster=")
		switch {
		case strings.HasSuffix(r.URL.Path, "/rayjobs"):
			items = job("1", "a-1")
		case strings.HasSuffix(r.URL.Path, "/pods") && strings.HasPrefix(cluster, "a-"):
			items = fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-of-%[1]s","namespace":"ns","uid":"pod-of-%[1]s","resourceVersion":"1"},"status":{"phase":"Running"}}`, cluster)
		case strings.Count(r.URL.Path, "/") == 2: // a group
			group := strings.TrimPrefix(r.URL.Path, "/apis/")
			version := map[bool]string{true: "v1", false: "v1beta2"}[group == "ray.io"]
			fmt.Fprintf(w, `{"kind":"APIGroup","apiVersion":"v1","name":%[1]q,"versions":[{"groupVersion":"%[1]s/%[2]s","version":%[2]q}]}`, group, version)
			return
		}
		if !watch {
			fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, items)
			return
		}
		w.(http.Flusher).Flush()
		if strings.HasSuffix(r.URL.Path, "/rayjobs") && r.URL.Query().Get("resourceVersion") == "1" {
			select {
			case <-back:
				fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`+"\n", strings.ReplaceAll(job("2", "a-2"), "\n", " "))
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
			}
		}
		<-r.Context().Done()
	})
	c := kube.NewInProcess(h, "sandbox", kube.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	first, second := true, ""
	err := Follow(ctx, c, Scope{Kinds: []kinds.Job{kinds.RayJob}, Namespace: "ns", Name: "a", Pods: true}, func(ch Change) error {
		if ch.Type == kube.Synced || ch.Pods == nil {
			return nil
		}
		var names []string
		for _, p := range ch.Pods {
			names = append(names, p.Name)
		}
		all := strings.Join(names, " ")
		switch {
		case first && all == "pod-of-a-1":
			first = false
			close(back)
		case !first && all != "pod-of-a-1":
			if second = all; all != "" {
				return kube.ErrStop
			}
		}
		return nil
	})
	if err != nil || second != "pod-of-a-2" {
		t.Errorf("%v: the pods in the second life are %q", err, second)
	}
}
