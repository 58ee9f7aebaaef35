package listpods

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestSubmitter: the pod that submits a RayJob is listed, in its role, and not
// counted among those that the job wants.
func TestSubmitter(t *testing.T) {
	c := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const pod = `{"metadata":{"name":%q,"uid":%q,"labels":{%s}},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
		items := ""
		switch r.URL.Query().Get("labelSelector") {
		case "batch.kubernetes.io/job-name=r":
			items = fmt.Sprintf(pod, "r-submit", "1", `"batch.kubernetes.io/job-name":"r"`)
		case "ray.io/cluster=c":
			items = fmt.Sprintf(pod, "c-head", "2", `"ray.io/cluster":"c","ray.io/node-type":"head"`)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, items)
	}), "test", kube.Options{})
	j := state.Job{Kind: kinds.RayJob, Meta: state.Meta{Name: "r", Namespace: "n"}, PodSelector: "ray.io/cluster=c", Roles: []state.RoleCount{{Name: "head", Replicas: 1}}}
	pods, err := Pods(t.Context(), c, j)
	if err != nil {
		t.Fatal(err)
	}
	rows := RowsOf(j, pods, nil)
	if len(rows) != 2 || rows[0].PodName != "r-submit" || rows[0].Role != "submitter" || rows[1].PodName != "c-head" || rows[1].Role != "head" {
		t.Errorf("%+v", rows)
	}
	if s := jobs.StatusOf(j, nil, pods); s.Wanted != 1 || s.Ready != 1 {
		t.Errorf("%d of %d ready", s.Ready, s.Wanted)
	}
}
