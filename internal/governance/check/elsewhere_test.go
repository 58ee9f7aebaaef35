package check_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// The check does not promise a start to a job that does not say what its pods need, or that runs on the pods of another object.
func TestPodsElsewhere(t *testing.T) {
	for _, c := range []struct {
		name                    string
		kind                    kinds.Job
		spec                    string
		queue                   bool
		verdict                 check.Outcome
		reason, detail, summary string
	}{
		{"JumpStartModel", kinds.JumpStartModel, `{"server":{"instanceType":"ml.g5.xlarge"}}`, true,
			check.Unknown, check.NotReadable, check.PodsElsewhere, "cannot be decided: the JumpStartModel does not say what its pods need"},
		{"Workspace of a template", kinds.Workspace, `{"displayName":"d","templateRef":{"name":"t"}}`, true,
			check.Unknown, check.NotReadable, check.PodsElsewhere, "cannot be decided: the Workspace does not say what its pods need"},
		{"Workspace with resources", kinds.Workspace, `{"displayName":"d","image":"i","templateRef":{"name":"t"},"resources":{"limits":{"nvidia.com/gpu":"1"}}}`, true,
			check.Never, "NoMatchingFlavor", check.ResourceNotCovered, "cannot run in b: b has no quota for cpu, memory"},
		{"RayJob on another cluster", kinds.RayJob, `{"entrypoint":"e","clusterSelector":{"ray.io/cluster":"c"}}`, false,
			check.Admitted, "", "", "would start now, the job has no pods: Kueue has nothing to admit"},
		{"Notebook without a queue", kinds.Notebook, `{"template":{"spec":{"containers":[{"name":"n","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}`, false,
			check.Admitted, "", "", "would start now, outside quota: the job has no queue, and Kueue does not manage it: 1 nvidia.com/gpu"},
		{"RayJob on another cluster in a queue", kinds.RayJob, `{"entrypoint":"e","clusterSelector":{"ray.io/cluster":"c"}}`, true,
			check.Never, "Misconfigured", check.NeverResumed, "cannot run: Kueue suspends a RayJob with a queue (queue), and never resumes one that runs on the pods of another object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			labels := `{}`
			if c.queue {
				labels = `{"kueue.x-k8s.io/queue-name":"queue"}`
			}
			job := json.RawMessage(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"j","labels":%s},"spec":%s}`, c.kind.GroupVersion(), c.kind.Kind, labels, c.spec))
			v := ask(t, checker(t, fixture.LendThree()), check.Request{Object: object(t, job), Namespace: "b"})
			if pods := c.name == "Workspace with resources" || c.name == "Notebook without a queue"; v.Verdict != c.verdict || v.Reason != c.reason || v.Detail != c.detail || v.Summary != c.summary || (len(v.Job.PodSets) > 0) != pods {
				t.Errorf("%s %s %s: %s (quota %s, %d pod sets)", v.Verdict, v.Reason, v.Detail, v.Summary, v.Quota.Status, len(v.Job.PodSets))
			}
		})
	}
}
