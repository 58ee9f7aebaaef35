package factory

import (
	"context"
	"net/http"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Offline opens the clusters that are files on this machine. The root command sets it, so that the other commands link nothing
// that sandboxes and snapshots are made of.
type Offline interface {
	// OpenSandbox opens the sandbox of a name. With create, one that is named like a scenario is made on first use.
	OpenSandbox(ctx context.Context, name string, create bool) (Sandbox, error)
	// OpenSnapshot reads a file from save-snapshot, or one of Kubernetes objects.
	OpenSnapshot(path string) (*Snapshot, error)
	// Sandboxes returns the sandboxes on this machine, Scenarios what they can be made of.
	Sandboxes() ([]Named, error)
	Scenarios() []Named
	// HasSandbox reports whether a sandbox or a scenario has a name.
	HasSandbox(name string) bool
}

// Named is a name and what it stands for.
type Named struct{ Name, Text string }

// Sandbox is the API server of a sandbox, and its clock.
type Sandbox interface {
	http.Handler
	Now() time.Time
}

// Snapshot is a file that is used in place of a cluster.
type Snapshot struct {
	Path string
	// Plain is a file of Kubernetes objects, which does not record what the cluster had besides.
	Plain bool
	Taken time.Time
	// Context and Namespace are those of the kubeconfig at that time; Scope is the only namespace that was read, or "".
	Context, Namespace, Scope string
	Handler                   http.Handler
	// Release frees memory of objects that were read.
	Release func()
	// Count returns the number of objects of a kind.
	Count func(kinds.Resource) int
}
