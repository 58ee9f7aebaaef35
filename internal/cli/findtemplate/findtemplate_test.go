package findtemplate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// The Workload of a job is its newest: an elastic job has one for each of its sizes. A pod's is the one that the pod owns.
func TestWorkloadOf(t *testing.T) {
	workload := func(name, created, uid string) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":%q,"namespace":"ns","creationTimestamp":%q,
			"labels":{"kueue.x-k8s.io/job-uid":%[3]q},"ownerReferences":[{"uid":%[3]q}]}}`, name, created, uid))
	}
	sizes := []any{workload("a-new", "2026-01-02T00:00:00Z", "u"), workload("b-old", "2026-01-01T00:00:00Z", "u")}
	ofUID, all := fixture.New(sizes...), fixture.New(append(sizes, workload("c-other", "2026-01-03T00:00:00Z", "v"))...) // it ignores selectors
	for _, c := range []struct {
		server    *fixture.Server
		kind      kinds.Job
		uid, want string
	}{{ofUID, kinds.PyTorchJob, "u", `"name":"a-new"`}, {all, kinds.PodKind, "u", `"name":"a-new"`}, {all, kinds.PodKind, "v", `"name":"c-other"`}, {all, kinds.PodKind, "w", ""}} {
		got, err := WorkloadOf(t.Context(), c.server.Client(), findjob.Job{Kind: c.kind, Namespace: "ns", Object: map[string]any{"metadata": map[string]any{"uid": c.uid}}})
		if err != nil || c.want == "" && got != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s %s: %s, %v", c.kind.Kind, c.uid, got, err)
		}
	}
}
