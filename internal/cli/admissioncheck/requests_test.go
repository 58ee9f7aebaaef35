package admissioncheck

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// counted returns a cluster with the objects of a server, and how often a path was requested.
func counted(s *fixture.Server) (*factory.Cluster, func() map[string]int) {
	var mu sync.Mutex
	requests := map[string]int{}
	client := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.URL.Path]++
		mu.Unlock()
		s.ServeHTTP(w, r)
	}), "test", kube.Options{})
	return &factory.Cluster{Client: client}, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		out := requests
		requests = map[string]int{}
		return out
	}
}

// TestJobsAreReadOnce: who created the jobs that hold quota comes from the list with their deadlines.
func TestJobsAreReadOnce(t *testing.T) {
	s := fixture.New(fixture.Team("a", "", 8, "", "")...)
	v := &check.Verdict{}
	for name, meta := range map[string]string{
		"run-label":      fmt.Sprintf(`"labels":{%q:"dora"}`, kinds.CreatedByLabel),
		"run-annotation": fmt.Sprintf(`"annotations":{%q:"dora"}`, kinds.CreatedByAnnotation),
		"run-unknown":    `"labels":{}`,
	} {
		s.Add(fixture.Work("a", name, 1, 0, time.Hour, true),
			json.RawMessage(fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q,"namespace":"a",%s},"spec":{}}`, name, meta)))
		v.Holders = append(v.Holders, remedy.Holder{Kind: "PyTorchJob", Namespace: "a", Name: name})
	}
	v.Holders = append(v.Holders, remedy.Holder{Kind: "PyTorchJob", Namespace: "a", Name: "deleted"})
	c, requests := counted(s)
	in, err := inputs.Load(context.Background(), c.Client, inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	requests()
	var read Creators
	Deadlines(context.Background(), c, in, &read)
	Owners(context.Background(), c, v, &read)
	if got := requests(); len(got) != 1 || got["/apis/kubeflow.org/v1/pytorchjobs"] != 1 {
		t.Errorf("requests: %v", got)
	}
	for _, h := range v.Holders {
		if want := map[string]string{"run-label": "dora", "run-annotation": "dora"}[h.Name]; h.Owner != want {
			t.Errorf("%s: %q, want %q", h.Name, h.Owner, want)
		}
	}
}

// TestOneQuestion: a user who can create jobs in all namespaces is asked about once, others for each namespace of a team.
func TestOneQuestion(t *testing.T) {
	const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	for _, c := range []struct {
		everywhere bool
		questions  int
		queues     int
	}{{true, 1, 3}, {false, 4, 2}} {
		s := fixture.New()
		for _, team := range []string{"a", "b", "c"} {
			s.Add(json.RawMessage(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q,"labels":{%q:"true"}}}`, team, kinds.ManagedQueueLabel)))
			s.Add(fixture.Team(team, "", 8, "", "")[1:]...) // without its namespace
		}
		s.Forbid = func(verb, plural, namespace, _ string) bool {
			return !c.everywhere && verb == "create" && plural == "pytorchjobs" && namespace != "a" && namespace != "b"
		}
		cluster, requests := counted(s)
		in, err := inputs.Load(context.Background(), cluster.Client, inputs.Options{}, fixture.Noon)
		if err != nil {
			t.Fatal(err)
		}
		requests()
		if got := Queues(context.Background(), cluster, in, "a"); len(got) != c.queues || got[0].Namespace != "a" {
			t.Errorf("everywhere %v: %d queues: %v", c.everywhere, len(got), got)
		}
		if got := requests(); got[reviews] != c.questions {
			t.Errorf("everywhere %v: %v", c.everywhere, got)
		}
	}
}
