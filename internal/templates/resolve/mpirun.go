package resolve

import (
	"slices"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// mpirunFlags are the number of processes and the environment to pass on, which
// the workers' SSH sessions do not have otherwise. Slots and hosts come from the
// operator's hostfile.
func (s *Plan) MpirunFlags(env []string) []string {
	flags := []string{"-np", strconv.Itoa(s.Nodes.N * s.Tasks.N)}
	for _, name := range env {
		flags = append(flags, "-x", name)
	}
	return flags
}

// environmentNames are the variables that a rendered job's launching container
// will have, sorted.
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

// fabric is the environment that goes with EFA, nothing where there is none.
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
