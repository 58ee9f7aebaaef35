package resolve

import (
	"slices"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// MpirunFlags returns the flags for the number of processes and for the environment variables to pass on, which
// the SSH sessions of the workers do not have otherwise. Slots and hosts come from the host file of the
// operator.
func (s *Plan) MpirunFlags(env []string) []string {
	flags := []string{"-np", strconv.Itoa(s.Nodes.N * s.Tasks.N)}
	for _, name := range env {
		flags = append(flags, "-x", name)
	}
	return flags
}

// EnvironmentNames returns the sorted names of the variables in the launching container of the rendered job.
func (s *Plan) EnvironmentNames(job *jobobject.View) []string {
	names := append(manifest.SortedKeys(s.Environment), manifest.SortedKeys(s.FabricEnvironment())...)
	for _, e := range s.SecretEnv {
		if e.Name != "" {
			names = append(names, e.Name)
		}
	}
	if job != nil {
		for _, r := range job.Roles() {
			for _, e := range jobobject.MapsIn(jobobject.Container(r.Pod())["env"]) {
				names = append(names, manifest.TextOf(e["name"]))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// FabricEnvironment returns the environment variables for EFA, nil without EFA.
func (s *Plan) FabricEnvironment() map[string]string {
	if s.EFADevices.N == 0 || s.Nodes.N < 2 || !s.Fills() {
		return nil
	}
	env := map[string]string{"FI_PROVIDER": "efa"}
	if neuron(s.Resource) { // AWS Neuron, "EFA for multi-node training"
		env["FI_EFA_USE_DEVICE_RDMA"], env["FI_EFA_FORK_SAFE"] = "1", "1"
	}
	return env
}
