package admissioncheck

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestDeadlines: one list for each kind that holds quota, one for each of its
// namespaces where all may not be listed, and none for what has no job here.
func TestDeadlines(t *testing.T) {
	s := fixture.LendThree()
	s.Add(json.RawMessage(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"run-a","namespace":"a","uid":"uid-a-run-a"},"spec":{"runPolicy":{"activeDeadlineSeconds":7200}}}`),
		json.RawMessage(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"run-b","namespace":"b","uid":"uid-b-run-b"},"spec":{}}`))
	in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []bool{false, true} {
		var asked []string
		s.Forbid = func(_, plural, namespace, _ string) bool {
			return member && plural == "pytorchjobs" && namespace != "a"
		}
		client := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			s.ServeHTTP(w, r)
		}), "test", kube.Options{})
		deadline := Deadlines(context.Background(), &factory.Cluster{Client: client}, in, nil)
		for name, want := range map[string]time.Duration{"run-a": 2 * time.Hour, "run-b": 0} {
			for _, w := range in.Workloads {
				if w.OwnerReferences[0].Name == name && deadline(w).Deadline != want {
					t.Errorf("member %v: %s: %s, want %s", member, name, deadline(w).Deadline, want)
				}
			}
		}
		if want := map[bool]int{false: 1, true: 3}[member]; len(asked) != want {
			t.Errorf("member %v: asked %q", member, asked)
		}
	}
}

// What a TrainJob reports is older than the answer.
func TestReported(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`{}`: 0,
		`{"trainerStatus":{"progressPercentage":3}}`:                                                   0,
		`{"trainerStatus":{"estimatedRemainingSeconds":600}}`:                                          10 * time.Minute,
		`{"trainerStatus":{"estimatedRemainingSeconds":600,"lastUpdatedTime":"2026-11-20T11:58:00Z"}}`: 8 * time.Minute,
		`{"trainerStatus":{"estimatedRemainingSeconds":600,"lastUpdatedTime":"2026-11-20T11:00:00Z"}}`: time.Second,
	} {
		var j limited
		if err := json.Unmarshal([]byte(`{"status":`+text+`}`), &j); err != nil {
			t.Fatal(err)
		}
		if got := j.left(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
