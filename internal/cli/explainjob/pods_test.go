package explainjob

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/explanation"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestSubmitter: the pod that submits a RayJob belongs to its explanation, as to
// list-pods, though it is not part of the Ray cluster.
func TestSubmitter(t *testing.T) {
	const job = `{"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"ray","namespace":"t","uid":"u-ray","creationTimestamp":"2026-01-02T10:28:00Z"},
"spec":{"rayClusterSpec":{"headGroupSpec":{"template":{"spec":{"containers":[{"name":"head"}]}}}}},"status":{"jobDeploymentStatus":"Running","jobStatus":"PENDING","rayClusterName":"ray-x"}}`
	pod := func(name, labels, status string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"t","labels":{%s}},"spec":{"containers":[{"name":"c"}]},"status":%s}`, name, labels, status)
	}
	pods := map[string]string{
		"batch.kubernetes.io/job-name=ray": pod("ray-abcde", `"batch.kubernetes.io/job-name":"ray"`, `{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ErrImagePull","message":"no such image"}}}]}`),
		"ray.io/cluster=ray-x":             pod("ray-x-head", `"ray.io/cluster":"ray-x","ray.io/node-type":"head"`, `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`),
	}
	rest := fixture.New()
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		selector := r.URL.Query().Get("labelSelector")
		if !strings.HasSuffix(r.URL.Path, "/pods") || selector == "" {
			rest.ServeHTTP(w, r)
			return
		}
		item, known := pods[selector]
		if !known {
			t.Errorf("pods asked for by %q", selector)
		}
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[%s]}`, item)
	})
	found := findjob.Job{Kind: kinds.RayJob, Namespace: "t"}
	if err := json.Unmarshal([]byte(job), &found.Object); err != nil {
		t.Fatal(err)
	}
	c := &factory.Cluster{Client: kube.NewInProcess(server, "test", kube.Options{}), Now: func() time.Time { return fixture.Noon }}
	q, _, err := read(context.Background(), c, found)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explain.Explain(context.Background(), nil, q, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	explanation.Fill(e, errs.Suggestion.String)
	var got []string
	for _, r := range e.Roles {
		got = append(got, fmt.Sprintf("%s %d/%d %d", r.Role, r.PodsReady, r.Pods, len(r.Problems)))
	}
	if all := strings.Join(got, "; "); all != "head 1/1 0; submitter 0/1 1" {
		t.Errorf("pods %s", all)
	}
	if page := explanation.Text(e, 80, false, time.Duration.String); !strings.Contains(page, "ErrImagePull: no such image") {
		t.Error(page)
	}
}
