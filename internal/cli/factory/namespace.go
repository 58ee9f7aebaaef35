package factory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/choices"
)

// settingsNamespace returns the namespace of the settings. It replaces -n where a command works in one namespace; a
// command that shows all teams ignores it.
func (f *Factory) settingsNamespace() string {
	return cmp.Or(f.Env(namespaceEnv), f.Config.Namespace)
}

// namespaceEnv names the namespace of a session.
const namespaceEnv = "HYPERPOD_NAMESPACE"

// OwnNamespace returns the namespace to work in for a user who may not list namespaces:
// the settings', the context's, that of the user's service account, or the last one
// that worked. refused is the error of the list.
func (c *Cluster) OwnNamespace(refused error) string {
	own := cmp.Or(c.SettingsNamespace, c.ContextNamespace, kube.ServiceAccountNamespace(refused))
	if own == "" && c.lastNamespace != nil {
		own = c.lastNamespace()
	}
	return own
}

// KnownNamespaces returns the namespaces to read for a user who may not list in all of them: the given one, which may be "",
// and the team namespaces with permission to list a kind; with neither, that of [Cluster.OwnNamespace]. The error is that of
// finding the team namespaces.
func (c *Cluster) KnownNamespaces(ctx context.Context, given string, list kinds.Resource) ([]string, error) {
	names, err := discovery.AccessibleNamespaces(ctx, c.Client, "list", list)
	if given != "" {
		names = append(names, given)
	}
	if own := c.OwnNamespace(err); len(names) == 0 && own != "" {
		names = append(names, own)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// namespacesFile has the last namespace that worked, by server. It is in the state
// folder and serves only users who may not list namespaces.
const (
	namespacesFile = "namespaces.json"
	mostNamespaces = 1 << 16 // bytes of the file
	mostServers    = 200
)

func (f *Factory) namespacesPath() (string, error) {
	dir, err := config.StateDir(f.Env)
	return filepath.Join(dir, namespacesFile), err
}

// lastNamespaces reads the file. A file that cannot be read has none.
func (f *Factory) lastNamespaces() map[string]string {
	out := map[string]string{}
	path, err := f.namespacesPath()
	if err != nil {
		return out
	}
	text, err := bounded.File(path, mostNamespaces)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return map[string]string{}
	}
	return out
}

// lastNamespace returns the last namespace that worked on a cluster, "" for none.
func (f *Factory) lastNamespace(c *Cluster) string { return f.lastNamespaces()[c.Server()] }

// RememberNamespace saves the namespace of -n for later commands of a user who may not
// list namespaces. Call it when the command has worked. It saves nothing about a
// sandbox or a snapshot. The command succeeds without the file too.
func (f *Factory) RememberNamespace() {
	c, name := f.cluster, f.Global.Namespace
	if c == nil || name == "" || c.Sandbox != "" || c.Snapshot != nil || c.SettingsNamespace != "" || c.ContextNamespace != "" {
		return
	}
	last := f.lastNamespaces()
	path, err := f.namespacesPath()
	if err != nil || last[c.Server()] == name {
		return
	}
	if len(last) >= mostServers {
		clear(last)
	}
	last[c.Server()] = name
	text, err := json.Marshal(last)
	if err == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_, _ = atomicfile.Write(path, func(file *os.File) error {
			_, err := file.Write(text)
			return err
		})
	}
}

// Namespace resolves the namespace for a verb on a kind and prints its notes.
func (f *Factory) Namespace(ctx context.Context, c *Cluster, verb string, r kinds.Resource) (discovery.NamespaceChoice, error) {
	return f.NamespaceNamed(ctx, c, f.Global.Namespace, verb, r)
}

// NamespaceToList is Namespace for a command that lists jobs and has -A, which the error about a missing namespace offers.
func (f *Factory) NamespaceToList(ctx context.Context, c *Cluster) (discovery.NamespaceChoice, error) {
	choice, err := f.Namespace(ctx, c, "list", kinds.PyTorchJob.Resource)
	var e *errs.Error
	if errors.As(err, &e) && errs.ExitOf(err) == errs.Usage {
		e.Suggest(errs.Option("-A").WithNote("all namespaces"))
	}
	return choice, err
}

// NamespaceNamed is Namespace with a name that wins over the context's, or "".
func (f *Factory) NamespaceNamed(ctx context.Context, c *Cluster, name, verb string, r kinds.Resource) (discovery.NamespaceChoice, error) {
	choice, err := discovery.Namespace(ctx, c.Client, discovery.NamespaceQuery{
		Flag: cmp.Or(name, f.settingsNamespace()), ContextNamespace: c.ContextNamespace, ContextName: c.Context, Verb: verb, Resource: r,
		Last: c.lastNamespace,
	})
	if err != nil {
		return choice, err
	}
	f.Notes(choices.Texts(choice.Notes))
	return choice, nil
}
