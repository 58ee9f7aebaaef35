package live

import (
	"bytes"
	"context"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// ApplyScenario applies the objects of a sandbox's scenario to a bed: the same teams, quota and nodes. Its jobs are left
// out unless withJobs.
func ApplyScenario(ctx context.Context, bed *cluster.Bed, name string, withJobs bool) error {
	data, err := sandbox.ScenarioObjects(name)
	if err != nil {
		return err
	}
	var rest, jobs bytes.Buffer
	for _, doc := range bytes.Split(data, []byte("\n---")) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil {
			return err
		}
		if head.Kind == "" || head.Kind == "ConfigMap" || bytes.Contains(doc, []byte("\n  name: kueue-system\n")) {
			continue // the bed's Kueue has its own configuration
		}
		to := &rest
		if _, isJob := kinds.JobFor(head.APIVersion, head.Kind); isJob {
			to = &jobs
		}
		to.WriteString("---\n")
		to.Write(doc)
		to.WriteByte('\n')
	}
	if err := bed.Apply(ctx, rest.Bytes()); err != nil || !withJobs || jobs.Len() == 0 {
		return err
	}
	return bed.Apply(ctx, jobs.Bytes())
}
