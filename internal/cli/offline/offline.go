// Package offline opens the clusters that are files on this machine, sandboxes and snapshots, for the commands.
package offline

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
)

// Use lets the commands of a factory work on sandboxes and snapshots.
func Use(f *factory.Factory) { f.Offline = opener{f} }

type opener struct{ f *factory.Factory }

func (o opener) OpenSandbox(ctx context.Context, name string, create bool) (factory.Sandbox, error) {
	return open(ctx, o.f, name, create)
}

func (o opener) OpenSnapshot(path string) (*factory.Snapshot, error) {
	s, err := snapshot.Open(path)
	if err != nil {
		return nil, err
	}
	return &factory.Snapshot{Path: s.Path, Plain: s.Plain, Taken: s.Info.Taken, Context: s.Info.Context, Namespace: s.Info.Namespace, Scope: s.Info.Scope,
		Handler: s.Handler(), Release: s.Release, Count: s.Count}, nil
}

func (o opener) Sandboxes() ([]factory.Named, error) {
	dir, err := o.f.SandboxDir()
	if err != nil {
		return nil, nil
	}
	boxes, err := sandbox.List(dir, Options(o.f))
	var out []factory.Named
	for _, b := range boxes {
		out = append(out, factory.Named{Name: b.Name, Text: "a sandbox of scenario " + b.Scenario})
	}
	return out, err
}

func (opener) Scenarios() []factory.Named {
	var out []factory.Named
	for _, s := range sandbox.Scenarios() {
		out = append(out, factory.Named{Name: s.Name, Text: s.Help})
	}
	return out
}

func (o opener) HasSandbox(name string) bool {
	if slices.ContainsFunc(sandbox.Scenarios(), func(s sandbox.Scenario) bool { return s.Name == name }) {
		return true
	}
	path, err := Path(o.f, name)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

// Path returns the file of a sandbox.
func Path(f *factory.Factory, name string) (string, error) {
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

// Options returns how sandboxes are opened.
func Options(f *factory.Factory) sandbox.Options {
	return sandbox.Options{Now: f.Now, Waiting: func(holder string) { f.Notef("waiting for %s to finish changing the sandbox", holder) }}
}

// OpenSandbox opens a sandbox. One that is named like a scenario is made on first use.
func OpenSandbox(ctx context.Context, f *factory.Factory, name string) (*sandbox.Sandbox, error) {
	return open(ctx, f, name, true)
}

func open(ctx context.Context, f *factory.Factory, name string, create bool) (*sandbox.Sandbox, error) {
	path, err := Path(f, name)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Open(path, Options(f))
	if errs.ExitOf(err) == errs.NotFound && create && slices.ContainsFunc(sandbox.Scenarios(), func(s sandbox.Scenario) bool { return s.Name == name }) {
		f.Notef("note: creating the sandbox %q on this machine", name)
		made, err := sandbox.Create(ctx, path, name, Options(f))
		if err != nil {
			// Another process may have made it a moment ago.
			if there, openErr := sandbox.Open(path, Options(f)); openErr == nil {
				return there, nil
			}
		}
		return made, err
	}
	return box, err
}
