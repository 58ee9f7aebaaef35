package validatetemplate

import (
	"strings"
	"testing"

	"sigs.k8s.io/kueue/pkg/features"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
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
