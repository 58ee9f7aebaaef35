// Package snapshot keeps a cluster in a file: everything that the read commands,
// the dry run and the simulation look at, and nothing that could be a secret. An
// open snapshot is an API that can only be read, so whatever works on a cluster
// works on it. A file of plain Kubernetes objects opens as one, too.
package snapshot

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// Where Kueue keeps its controller and its configuration.
const (
	managerNamespace  = "kueue-system"
	managerConfig     = "kueue-manager-config"
	managerDeployment = "kueue-controller-manager"
)

const (
	fileKind   = "hyperpod-snapshot"
	fileFormat = 1
)

// Info is the header of a snapshot.
type Info struct {
	Kind   string `json:"kind"`
	Format int    `json:"format"`
	// Taken is the snapshot's time, and the clock of everything computed from it.
	Taken time.Time `json:"taken"`
	// By is the program that took it.
	By string `json:"by,omitempty"`
	// Server is the address of the cluster, Context the name the user had for it,
	// Namespace the one the context names.
	Server    string `json:"server,omitempty"`
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Scope is the one namespace that was captured, or "" for all that could be read.
	Scope string `json:"scope,omitempty"`
	// Namespaces are those that were read one by one, where not all could be.
	Namespaces []string `json:"namespaces,omitempty"`
	// KueueAPI is the version of Kueue's API that the cluster served; the objects are
	// kept at the newest one that is understood.
	KueueAPI string `json:"kueueApi,omitempty"`
	// Devices reports that what counts the devices of resource claims was read.
	Devices bool `json:"devices,omitempty"`
	// ResourceVersion is the newest one of any object.
	ResourceVersion int64 `json:"resourceVersion"`
	// Missing is what could not be read.
	Missing []Missing `json:"missing,omitempty"`
	// Unread is why: it is not in the file.
	Unread []reader.Missing `json:"-"`
}

// The reasons of a Missing.
const (
	Forbidden   = "Forbidden"   // whoever took the snapshot had no permission
	NotServed   = "NotServed"   // the cluster has no such kind
	Failed      = "Failed"      // the cluster did not answer
	NotInFile   = "NotInFile"   // a file of plain objects has none of the kind
	NotCaptured = "NotCaptured" // never part of a snapshot
)

// Missing is a list that is not in the snapshot.
type Missing struct {
	Resource  string `json:"resource"`            // plural.group
	Namespace string `json:"namespace,omitempty"` // "" means all namespaces, or a cluster-scoped kind
	Reason    string `json:"reason"`
}

// Snapshot is an open snapshot. It is safe for concurrent use.
type Snapshot struct {
	Info Info
	// Plain: the file holds plain Kubernetes objects, so server and time are not
	// known; Taken is the newest time found in it.
	Plain bool
	// Path is the file it was read from.
	Path string

	raw    map[string][]json.RawMessage // by plural.group, as the API has them
	counts map[string]int               // of raw, once it is released
	tables tables
}

// Count returns how many objects of a kind there are.
func (s *Snapshot) Count(r kinds.Resource) int {
	if s.counts != nil {
		return s.counts[r.FullName()]
	}
	return len(s.raw[r.FullName()])
}

// Objects returns how many objects there are in all.
func (s *Snapshot) Objects() int {
	n := 0
	for _, list := range s.raw {
		n += len(list)
	}
	return n
}

// Lacks returns the kinds that could not be read, with the reason, sorted; kinds
// the cluster does not have are not among them.
func (s *Snapshot) Lacks() []Missing {
	out := slices.DeleteFunc(slices.Clone(s.Info.Missing), func(m Missing) bool { return m.Reason == NotServed })
	slices.SortFunc(out, func(a, b Missing) int {
		return strings.Compare(a.Resource+" "+a.Namespace, b.Resource+" "+b.Namespace)
	})
	return out
}
