package factory

import (
	"cmp"
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/namecache"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Cluster is the cluster a command works on.
type Cluster struct {
	*kube.Client
	// Context, ContextNamespace and ClusterName come from the kubeconfig; they are
	// empty for a sandbox.
	Context, ContextNamespace, ClusterName string
	// SettingsNamespace is the namespace of the settings, "" for none.
	SettingsNamespace string
	// Sandbox is the sandbox's name, or empty for a live cluster.
	Sandbox string
	// Snapshot is the snapshot that is used in place of a cluster, or nil.
	Snapshot *Snapshot
	// Now is the cluster's clock: the sandbox's may be ahead of the wall clock, a
	// snapshot's stands at the time it was taken.
	Now func() time.Time

	// Names keeps what completion reads; nil for a sandbox, a snapshot, and where it is switched off.
	Names *namecache.Cache

	// lastNamespace returns the namespace of the last command that worked, or "".
	lastNamespace func() string
}

// Cluster returns the cluster that the global flags choose, connected on first use.
func (f *Factory) Cluster(ctx context.Context) (*Cluster, error) {
	if f.cluster != nil {
		return f.cluster, nil
	}
	path, err := f.SnapshotPath()
	if err != nil {
		return nil, err
	}
	if path != "" {
		f.cluster, err = f.openSnapshot(ctx, path)
	} else if name := f.SandboxName(""); name != "" && live(f.Global) == "" {
		f.cluster, err = f.openSandbox(ctx, name)
	} else if c, wrong := f.Slurm(); c != nil || wrong != nil {
		return nil, cmp.Or(wrong, needsKubernetes(f.Command))
	} else {
		f.cluster, err = Interruptible(ctx, f.kubeconfig)
	}
	if err == nil {
		f.cluster.SettingsNamespace = f.settingsNamespace()
		f.cluster.lastNamespace = func() string { return f.lastNamespace(f.cluster) }
	}
	return f.cluster, err
}

// Connect returns the output format and the cluster of a command.
func (f *Factory) Connect(ctx context.Context) (output.Format, *Cluster, error) {
	format, err := f.Format()
	if err != nil {
		return format, nil, err
	}
	c, err := f.Cluster(ctx)
	return format, c, err
}

// Reconnect returns the cluster with a new client, from the kubeconfig as it is now. A sandbox or a snapshot of this
// process stays.
func (f *Factory) Reconnect(ctx context.Context) (*Cluster, error) {
	if c := f.cluster; c != nil && c.Snapshot == nil && c.Sandbox == "" {
		f.cluster = nil
		again, err := f.Cluster(ctx)
		if err != nil {
			f.cluster = c
		}
		return again, err
	}
	return f.Cluster(ctx)
}

func (f *Factory) kubeconfig() (*Cluster, error) {
	return f.InContext(cmp.Or(f.Global.Context, f.Config.Context))
}

// InContext returns the cluster of a context of the kubeconfig, "" for the current one.
func (f *Factory) InContext(name string) (*Cluster, error) {
	t, err := kube.Locate(kube.Location{Kubeconfig: f.Global.Kubeconfig, Context: name}, f.Env)
	if err != nil {
		return nil, err
	}
	options := f.clientOptions()
	f.namePlugin(t.Config.ExecProvider, options)
	names := f.nameCache(t)
	if !f.completing {
		options.Observe = forgetting(names, options.Observe)
	}
	c, err := kube.New(t.Config, options)
	if err != nil {
		return nil, err
	}
	return &Cluster{Client: c, Context: t.Context, ContextNamespace: t.Namespace, ClusterName: t.Cluster, Now: f.Now, Names: names}, nil
}

// ClusterAt returns the cluster of a configuration that does not come from the kubeconfig of the user.
func (f *Factory) ClusterAt(cfg *rest.Config) (*Cluster, error) {
	c, err := kube.New(cfg, f.clientOptions())
	if err != nil {
		return nil, err
	}
	return &Cluster{Client: c, Now: f.Now}, nil
}
