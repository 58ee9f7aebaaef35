package reader

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// The reasons of a Missing.
const (
	Forbidden = "Forbidden" // the user has no permission
	NotServed = "NotServed" // the cluster does not have the kind
	Failed    = "Failed"    // the request failed
	NotInFile = "NotInFile" // the snapshot, or the file, has no objects of the kind
)

// Missing is a list or an object that could not be read.
type Missing struct {
	Resource  kinds.Resource
	Namespace string // "" for all namespaces, or for a cluster-scoped kind
	Verb      string // list, get or watch
	Reason    string // Forbidden, NotServed, Failed or NotInFile
	Err       error
	// Partly reports that some of it was read: certain namespaces, or objects by name.
	Partly bool
}

// NewMissing returns the Missing of a read that failed with err.
func NewMissing(r kinds.Resource, namespace, verb string, err error) Missing {
	m := Missing{Resource: r, Namespace: namespace, Verb: verb, Reason: Failed, Err: err}
	switch {
	case kube.IsNotInFile(err):
		m.Reason = NotInFile
	case kube.IsForbidden(err):
		m.Reason = Forbidden
	case kube.IsNotServed(err):
		m.Reason = NotServed
	}
	return m
}

// Unread is a Missing in a document.
type Unread struct {
	Resource  string
	Namespace string `json:",omitempty"`
	Verb      string
	Reason    string
}

// Document returns what could not be read as documents have it: without the kinds that
// the cluster does not serve.
func Document(missing []Missing) (out []Unread) {
	for _, m := range missing {
		if m.Reason != NotServed {
			out = append(out, Unread{Resource: m.Resource.FullName(), Namespace: m.Namespace, Verb: m.Verb, Reason: m.Reason})
		}
	}
	return out
}

// Refused reports whether a part of it may be readable all the same: one
// namespace, or an object by name.
func (m *Missing) Refused() bool { return m.Reason == Forbidden || m.Reason == NotInFile }

// Of reports whether it concerns a kind, at any version.
func (m *Missing) Of(r kinds.Resource) bool {
	return m.Resource.Group == r.Group && m.Resource.Plural == r.Plural
}

// order sorts by kind and namespace; reads end in any order.
func order(a, b Missing) int {
	return cmp.Or(strings.Compare(a.Resource.FullName(), b.Resource.FullName()), strings.Compare(a.Namespace, b.Namespace))
}

// Worst returns the error that explains most: a failure before a refusal before
// a kind that is not served, and of each the kind that comes first in kinds.All.
// It returns nil when nothing is missing.
func Worst(missing []Missing) error {
	for _, reason := range []string{Failed, Forbidden, NotInFile, NotServed} {
		for _, r := range kinds.All() {
			for _, m := range missing {
				if m.Reason == reason && m.Of(r) {
					return m.Err
				}
			}
		}
		if i := slices.IndexFunc(missing, func(m Missing) bool { return m.Reason == reason }); i >= 0 {
			return missing[i].Err
		}
	}
	return nil
}
