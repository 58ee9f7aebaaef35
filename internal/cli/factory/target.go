package factory

import (
	"cmp"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// IsOffline reports whether this run is about a sandbox or a snapshot, by its flags or the environment.
func (f *Factory) IsOffline() bool {
	path, err := f.SnapshotPath()
	return err != nil || path != "" || f.SandboxName("") != "" && live(f.Global) == ""
}

// ContextName returns the context of the kubeconfig that this run is about, "" if it is about a sandbox, a snapshot, Slurm or
// nothing.
func (f *Factory) ContextName() string {
	if f.IsOffline() {
		return ""
	}
	if c, wrong := f.Slurm(); c != nil || wrong != nil {
		return ""
	}
	t, err := kube.Locate(kube.Location{Kubeconfig: f.Global.Kubeconfig, Context: cmp.Or(f.Global.Context, f.Config.Context)}, f.Env)
	if err != nil {
		return "" // the run reports it
	}
	return t.Context
}
