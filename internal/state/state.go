package state

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// Want says what to load. Every kind costs one request, all of them in parallel.
type Want struct {
	Namespace string // of the namespaced kinds; "" means all
	Selector  string // label selector of jobs
	Jobs      []kinds.Job
	// PodSets also reads what the workloads' pods ask for.
	PodSets bool

	Workloads, ClusterQueues, LocalQueues, Cohorts, Flavors, PriorityClasses, Namespaces, Nodes, Pods bool
	// Parallel is how many requests Load has open at a time; 0 is as many as the
	// client allows.
	Parallel int
	// PodSelector and WorkloadSelector narrow those lists.
	PodSelector, WorkloadSelector string
	// FallbackNamespaces names the namespaces to read one by one when a list over
	// all namespaces is forbidden; it is called at most once. Nil: no fallback.
	FallbackNamespaces func(context.Context) ([]string, error)
	// FallbackQueues names the ClusterQueues to read one by one when their list is
	// forbidden, as it is to members of a team. Nil: no fallback. Load silently leaves
	// out those that the user may not read or that do not exist.
	FallbackQueues func(context.Context) ([]string, error)
}

// Missing is a list or an object that could not be read.
type Missing = reader.Missing

// Unread is a Missing in a document; UnreadOf makes them.
type Unread = reader.Unread

// ReasonOf returns why a list could not be read: a reason of a Missing.
func ReasonOf(err error) string { return reader.NewMissing(kinds.Resource{}, "", "list", err).Reason }

// UnreadOf returns what could not be read as documents have it.
func UnreadOf(missing []Missing) []Unread { return reader.Document(missing) }

// The reasons of a Missing.
const (
	Forbidden = reader.Forbidden
	NotServed = reader.NotServed
	Failed    = reader.Failed
	NotInFile = reader.NotInFile
)

// State is what was read.
type State struct {
	Taken           time.Time
	Server          string
	Jobs            []Job
	Workloads       []Workload
	ClusterQueues   []ClusterQueue
	LocalQueues     []LocalQueue
	Cohorts         []Cohort
	Flavors         []ResourceFlavor
	PriorityClasses []PriorityClass
	Namespaces      []Namespace
	Nodes           []Node
	Pods            []Pod
	Missing         []Missing
	// Fallback are the namespaces that were read one at a time, where a list over all of them is forbidden.
	Fallback []string
}

// MissingOf returns what is missing of a kind.
func (s *State) MissingOf(r kinds.Resource) []Missing {
	var out []Missing
	for _, m := range s.Missing {
		if m.Of(r) {
			out = append(out, m)
		}
	}
	return out
}
