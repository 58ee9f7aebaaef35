package sandbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// A sandbox refuses what the definition of a kind and the webhook of its operator refuse, and accepts what only the operator refuses.
func TestRulesOfJobs(t *testing.T) {
	b := newBench(t, "john-smith")
	template := func(container string) string {
		return fmt.Sprintf(`{"spec":{"containers":[{"name":%q,"image":"i:1"}]}}`, container)
	}
	for name, c := range map[string]struct {
		kind kinds.Job
		spec string
		want string // "" for an object that is accepted
	}{
		"a word of a JobSet":         {kinds.JobSet, `{"successPolicy":{"operator":"Some"},"replicatedJobs":[{"name":"w","template":{"spec":{"template":` + template("c") + `}}}]}`, `spec.successPolicy.operator: Unsupported value: "Some": supported values: "All", "Any"`},
		"two jobs of one name":       {kinds.JobSet, `{"replicatedJobs":[{"name":"w","template":{"spec":{"template":` + template("c") + `}}},{"name":"w","template":{"spec":{"template":` + template("c") + `}}}]}`, `spec.replicatedJobs[1].name: Duplicate value: "w"`},
		"an unknown target":          {kinds.JobSet, `{"successPolicy":{"operator":"All","targetReplicatedJobs":["x"]},"replicatedJobs":[{"name":"w","template":{"spec":{"template":` + template("c") + `}}}]}`, `spec.successPolicy.targetReplicatedJobs[0]: Invalid value: "x": no replicated job has this name`},
		"an unknown role":            {kinds.PyTorchJob, `{"pytorchReplicaSpecs":{"Chief":{"replicas":1,"template":` + template("pytorch") + `}}}`, `spec.pytorchReplicaSpecs.Chief: Unsupported value: "Chief": supported values: "Master", "Worker"`},
		"a TFJob without pods":       {kinds.TFJob, `{"tfReplicaSpecs":{"Worker":{"replicas":0,"template":` + template("tensorflow") + `}}}`, ""},
		"an MPIJob without launcher": {kinds.MPIJob, `{"mpiReplicaSpecs":{"Worker":{"replicas":1,"template":` + template("c") + `}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			code := 201
			if c.want != "" {
				code = 422
			}
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"j-%d"},"spec":%s}`, c.kind.GroupVersion(), c.kind.Kind, len(name), c.spec)
			a := b.send("POST", c.kind.Path("hyperpod-ns-smith", ""), body)
			if text := object.Text(a.object(t), "message"); a.code != code || !strings.Contains(text, c.want) {
				t.Errorf("%d %s\nwant %d %s", a.code, text, code, c.want)
			}
		})
	}
}
