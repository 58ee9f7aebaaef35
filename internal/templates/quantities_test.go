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
		{"{requests: {ephemeral-storage: 1Gi, hugepages-2Mi: 5120Mi}}", ""},
		{"{limits: {nvidia.com/gpu: 0.5}}", "resources.limits.nvidia.com/gpu counts devices, and 0.5 is no whole number"},
		{"{limits: {nvidia.com/gpu: 500m}}", "no whole number"},
		{"{limits: {nvidia.com/gpu: -1}}", "resources.limits.nvidia.com/gpu is below 0 (-1)"},
		{"{requests: {memory: -4Gi}}", "resources.requests.memory is below 0"},
		{"{requests: {cpu: 2}, limits: {cpu: 1500m}}", "the cpu limit of 1500m is below the request of 2"},
		{"{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}", "its limit (2) and request (1) have to be the same"},
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
