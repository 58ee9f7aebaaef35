package factory

import (
	"context"
	"path/filepath"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// DefaultSandbox is the sandbox of a bare --sandbox; it is made on first use
// from the scenario of the same name.
const DefaultSandbox = "enterprise"

// sandboxEnv names the sandbox where --sandbox does not.
const sandboxEnv = "HYPERPOD_SANDBOX"

// SandboxName returns the sandbox that --sandbox or the environment chooses,
// else the fallback.
func (f *Factory) SandboxName(fallback string) string {
	name := f.Global.Sandbox
	if name == "" {
		name = f.Env(sandboxEnv)
	}
	switch name {
	case "", "0", "false":
		return fallback
	case "1", "true":
		return DefaultSandbox
	}
	return BareName(name, "sandbox")
}

// SandboxDir returns the folder that holds the sandboxes' files.
func (f *Factory) SandboxDir() (string, error) {
	if f.Config.SandboxDirectory != "" {
		return f.Config.SandboxDirectory, nil
	}
	dir, err := config.StateDir(f.Env)
	return filepath.Join(dir, "sandboxes"), err
}

func (f *Factory) openSandbox(ctx context.Context, name string) (*Cluster, error) {
	box, err := f.Offline.OpenSandbox(ctx, name, !f.completing)
	if err != nil {
		return nil, err
	}
	c := kube.NewInProcess(box, "sandbox "+name, f.clientOptions())
	return &Cluster{Client: c, Sandbox: name, Now: box.Now}, nil
}
