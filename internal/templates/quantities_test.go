package templates

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// The API server's rules for resources, found before anything is sent.
func TestResourcesOfAManifest(t *testing.T) {
	manifest := func(resources string) string {
		return "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: i, resources: " + resources + "}]}}}}}\n"
	}
	for _, c := range []struct{ resources, want string }{
		{"{requests: {cpu: 2, memory: 4Gi, nvidia.com/gpu: 8}, limits: {cpu: 2, memory: 8Gi, nvidia.com/gpu: 8}}", ""},
		{"{limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4}}", ""},
		{"{requests: {ephemeral-storage: 1Gi, memory: 8Gi, hugepages-2Mi: 5120Mi}, limits: {hugepages-2Mi: 5120Mi}}", ""},
		{"{limits: {nvidia.com/gpu: 0.5}}", "resources.limits.nvidia.com/gpu 0.5: must be a whole number of devices"},
		{"{limits: {nvidia.com/gpu: 500m}}", "must be a whole number of devices"},
		{"{limits: {nvidia.com/gpu: -1}}", "invalid resources.limits.nvidia.com/gpu -1: must be at least 0"},
		{"{requests: {memory: -4Gi}}", "invalid resources.requests.memory -4Gi: must be at least 0"},
		{"{requests: {cpu: 2}, limits: {cpu: 1500m}}", "invalid cpu limit 1500m: must be at least the request, 2"},
		{"{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}", "must be equal (limit 2, request 1)"},
	} {
		tpl, err := parse.Text("t", "t.yaml", []byte(manifest(c.resources)))
		if err == nil {
			_, err = render.Objects(tpl, values.Values{Namespace: "ns"})
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.resources, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || errs.ExitOf(err) != errs.Usage):
			t.Errorf("%s: %v (exit code %d), want %q", c.resources, err, errs.ExitOf(err), c.want)
		}
	}
}
