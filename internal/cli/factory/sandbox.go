package factory

import (
	"context"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
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

// SandboxPath returns the file of a sandbox.
func (f *Factory) SandboxPath(name string) (string, error) {
	dir, err := f.SandboxDir()
	if err != nil {
		return "", err
	}
	if msg := validation.IsDNS1123Label(name); len(msg) > 0 {
		return "", errs.Usagef("invalid sandbox name %q", name).
			WithAdvice("use at most 63 lower-case letters, digits and -, with a letter or digit at both ends")
	}
	return filepath.Join(dir, name+sandbox.Extension), nil
}

// SandboxOptions returns how sandboxes are opened.
func (f *Factory) SandboxOptions() sandbox.Options {
	return sandbox.Options{Now: f.Now, Waiting: func(holder string) { f.Notef("waiting for %s to finish changing the sandbox", holder) }}
}

// OpenSandbox opens a sandbox. One that is named like a scenario is made on
// first use.
func (f *Factory) OpenSandbox(ctx context.Context, name string) (*sandbox.Sandbox, error) {
	path, err := f.SandboxPath(name)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Open(path, f.SandboxOptions())
	if errs.ExitOf(err) == errs.NotFound && !f.completing && slices.ContainsFunc(sandbox.Scenarios(), func(s sandbox.Scenario) bool { return s.Name == name }) {
		f.Notef("note: creating the sandbox %q on this machine", name)
		made, err := sandbox.Create(ctx, path, name, f.SandboxOptions())
		if err != nil {
			// Another process may have made it a moment ago.
			if there, openErr := sandbox.Open(path, f.SandboxOptions()); openErr == nil {
				return there, nil
			}
		}
		return made, err
	}
	return box, err
}

func (f *Factory) openSandbox(ctx context.Context, name string) (*Cluster, error) {
	box, err := f.OpenSandbox(ctx, name)
	if err != nil {
		return nil, err
	}
	c := kube.NewInProcess(box, "sandbox "+name, f.clientOptions())
	return &Cluster{Client: c, Sandbox: name, Now: box.Now}, nil
}
