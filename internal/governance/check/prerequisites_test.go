package check_test

import (
	"cmp"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// A job that Kueue admits is not promised to run when its pods could not be created or started.
func TestPrerequisites(t *testing.T) {
	zone := func(name string) corev1.NodeSelector {
		return corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "topology.kubernetes.io/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}}}}
	}
	quota := func(entry, hard, used string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Status: corev1.ResourceQuotaStatus{
			Hard: corev1.ResourceList{corev1.ResourceName(entry): resource.MustParse(hard)},
			Used: corev1.ResourceList{corev1.ResourceName(entry): resource.MustParse(used)}}}
	}
	limits := func(text string) any {
		return json.RawMessage(`{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l","namespace":"b"},"spec":{"limits":[` + text + `]}}`)
	}
	job := func(pods int, volume string) map[string]any {
		o := object(t, fixture.Job("task", pods, 2, ""))
		if volume != "" {
			k, _ := kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind"))
			k.Parts(o)[0].Template["spec"].(map[string]any)["volumes"] = []any{map[string]any{"name": "v", "persistentVolumeClaim": map[string]any{"claimName": volume}}}
		}
		return o
	}
	for _, c := range []struct {
		name            string
		add             []any
		pods            int // 2 if not set
		volume          string
		found           prerequisite.Found
		verdict         check.Outcome
		detail, summary string
	}{
		{name: "nothing missing", verdict: check.Admitted},
		{name: "a runtime class", found: prerequisite.Found{Absent: []prerequisite.Reference{{Resource: kinds.RuntimeClass, Name: "gvisor"}}},
			verdict: check.Never, detail: check.ReferenceMissing, summary: "cannot run in b: the pods need runtimeclass gvisor, which does not exist"},
		{name: "a missing object and too much for the queue", pods: 200, found: prerequisite.Found{Absent: []prerequisite.Reference{{Resource: kinds.RuntimeClass, Name: "gvisor"}}},
			verdict: check.Never, detail: check.ReferenceMissing, summary: "cannot run in b: the pods need runtimeclass gvisor, which does not exist"},
		{name: "a quota in use and too much for the queue", pods: 200, found: prerequisite.Found{Quotas: []*corev1.ResourceQuota{quota("requests.nvidia.com/gpu", "400", "1")}},
			verdict: check.Never, detail: check.ExceedsCohort},
		{name: "a pull secret", found: prerequisite.Found{Absent: []prerequisite.Reference{{Resource: kinds.Secret, Name: "x", Pull: true}}}, verdict: check.Admitted},
		{name: "a quota of devices", found: prerequisite.Found{Quotas: []*corev1.ResourceQuota{quota("requests.nvidia.com/gpu", "3", "0")}},
			verdict: check.Never, detail: check.ResourceQuotaSmall, summary: "cannot run in b: resourcequota q allows 3 requests.nvidia.com/gpu; the pods need 4"},
		{name: "a quota in use", found: prerequisite.Found{Quotas: []*corev1.ResourceQuota{quota("requests.nvidia.com/gpu", "4", "1")}},
			verdict: check.Waits, detail: check.ResourceQuotaInUse, summary: "would not start now: resourcequota q has 3 of 4 requests.nvidia.com/gpu left; the pods need 4"},
		{name: "a quota that wants values", found: prerequisite.Found{Quotas: []*corev1.ResourceQuota{quota("limits.cpu", "100", "0")}},
			verdict: check.Never, detail: check.ResourceQuotaSmall, summary: "cannot run in b: resourcequota q needs a value for limits.cpu in every container"},
		{name: "a quota that wants values, with defaults", add: []any{limits(`{"type":"Container","default":{"cpu":"1"}}`)},
			found:   prerequisite.Found{Quotas: []*corev1.ResourceQuota{quota("limits.cpu", "100", "0")}},
			verdict: check.Never, detail: check.ResourceNotCovered, summary: "cannot run in b: b has no quota for cpu"},
		{name: "a quota of other things", found: prerequisite.Found{Quotas: []*corev1.ResourceQuota{quota("services", "0", "0"), quota("requests.storage", "0", "0")}}, verdict: check.Admitted},
		{name: "a volume in the zone", volume: "data", found: prerequisite.Found{Volumes: []prerequisite.Volume{{Claim: "data", Nodes: zone("here")}}}, verdict: check.Admitted},
		{name: "a volume elsewhere", volume: "data", found: prerequisite.Found{Volumes: []prerequisite.Volume{{Claim: "data", Nodes: zone("there")}}},
			verdict: check.Never, summary: "cannot run in b: too few nodes can use the volume of persistentvolumeclaim data: 0 of 2 pods (worker) fit even on empty nodes: 2 nodes do not match the job's node selector (topology.kubernetes.io/zone=there)"},
		{name: "a claim that the job does not mount", found: prerequisite.Found{Volumes: []prerequisite.Volume{{Claim: "data", Nodes: zone("there")}}}, verdict: check.Admitted},
		{name: "a limit range", add: []any{limits(`{"type":"Container","max":{"nvidia.com/gpu":"1"}}`)}, verdict: check.Never, detail: check.InvalidRequests},
		{name: "Pod Security", add: []any{json.RawMessage(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"b","labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)},
			verdict: check.Never, detail: check.PodSecurity},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fixture.LendThree()
			s.Add(c.add...)
			in := checker(t, s)
			for _, n := range in.In.Nodes {
				n.Labels["topology.kubernetes.io/zone"] = "here"
			}
			v := ask(t, in, check.Request{Object: job(cmp.Or(c.pods, 2), c.volume), Namespace: "b", Found: &c.found})
			if v.Verdict != c.verdict || v.Detail != c.detail || c.summary != "" && v.Summary != c.summary {
				t.Errorf("%s %s %s: %s", v.Verdict, v.Reason, v.Detail, v.Summary)
			}
		})
	}
}
