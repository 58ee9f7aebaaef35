package validatetemplate

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kueue/pkg/features"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
)

// In `hyperpod mcp`, an earlier tool may have used the gates of a cluster: a template is checked with the defaults.
func TestGatesOfAnEarlierEngine(t *testing.T) {
	t.Cleanup(embedded.UseDefaults)
	if _, err := admission.New(admission.Config{Gates: map[string]bool{string(features.TopologyAwareScheduling): false}}); err != nil {
		t.Fatal(err)
	}
	template, err := parse.Text("t", "t.yaml", []byte(`
apiVersion: batch/v1
kind: Job
metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: "a b"}}
    spec: {restartPolicy: Never, containers: [{name: a, image: b}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	found := refusedByKueue(t.Context(), template, nil)
	if len(found) != 1 || !strings.HasPrefix(found[0].Message, "Kueue refuses this job unless the feature gate TopologyAwareScheduling is off: ") {
		t.Errorf("%+v", found)
	}
}

// Kueue's rules hold for each document without a fault of its own, whatever is wrong with the others.
func TestFaultsOfOtherDocuments(t *testing.T) {
	job := func(name, more string) string {
		return `apiVersion: batch/v1
kind: Job
metadata: {name: ` + name + `, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: "a b"}}
    spec: {` + more + `restartPolicy: Never, containers: [{name: a, image: "b:1"}]}
`
	}
	for what, c := range map[string]struct {
		text string
		want []int // lines of Kueue's faults
	}{
		"no fault":                       {job("a", "") + "---\n" + job("b", ""), []int{6, 14}},
		"a comment before":               {"# a\n---\n" + job("a", ""), []int{8}},
		"a broken document before":       {"kind: [a\n---\n" + job("a", ""), []int{8}},
		"a broken document between":      {job("a", "") + "---\nkind: [a\n---\n" + job("b", ""), []int{6, 16}},
		"a broken document at the end":   {job("a", "") + "---\nkind: [a\n", []int{6}},
		"text before":                    {"a: b\n---\n" + job("a", ""), []int{8}},
		"text between":                   {job("a", "") + "---\na: b\n---\n" + job("b", ""), []int{6, 16}},
		"an unknown parameter type":      {"parameters: {X: {type: odd}}\n---\n" + job("a", ""), []int{8}},
		"a fault in the first document":  {job("a", "restartPolicyy: Never, ") + "---\n" + job("b", ""), []int{14}},
		"a fault in the second document": {job("a", "") + "---\n" + job("b", "restartPolicyy: Never, "), []int{6}},
		"a list with a fault": {`{"kind": "List", "apiVersion": "v1", "items": [{"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "a"}, "speck": 1},
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "b", "labels": {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {"template":
{"metadata": {"annotations": {"kueue.x-k8s.io/podset-required-topology": "a b"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b:1"}]}}}}]}`, []int{3}},
	} {
		template, faults, _ := render.Check("t", "t.yaml", []byte(c.text))
		var got []int
		for _, f := range refusedByKueue(t.Context(), template, faults) {
			got = append(got, f.Line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: Kueue refuses lines %v, want %v; other faults: %+v", what, got, c.want, faults)
		}
	}
}
