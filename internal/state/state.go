package state

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
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
	// forbidden, as it is to members of a team. Nil: no fallback. Those that may not
	// be read, or do not exist, are left out without a word.
	FallbackQueues func(context.Context) ([]string, error)
}

// The reasons of a Missing.
const (
	Forbidden = "Forbidden"
	NotServed = "NotServed"
	Failed    = "Failed"
	// NotInFile: the snapshot or file that is looked at has none of them.
	NotInFile = "NotInFile"
)

// Missing is something that was wanted and could not be read.
type Missing struct {
	Resource  kinds.Resource
	Namespace string // "" means all namespaces, or a cluster-scoped kind
	Verb      string
	Reason    string // Forbidden, NotServed, Failed or NotInFile
	Err       error
	// Partly: not all of it is missing; some namespaces, or objects by their name,
	// could be read instead.
	Partly bool
}

// Refused reports that a part of it may be readable all the same: another
// namespace, or an object by its name.
func (m *Missing) Refused() bool { return m.Reason == Forbidden || m.Reason == NotInFile }

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
}

// MissingOf returns what is missing of a kind.
func (s *State) MissingOf(r kinds.Resource) []Missing {
	var out []Missing
	for _, m := range s.Missing {
		if m.Resource.Group == r.Group && m.Resource.Plural == r.Plural {
			out = append(out, m)
		}
	}
	return out
}

// partly notes that a part of what is missing of a kind was read all the same.
func (s *State) partly(r kinds.Resource) {
	for i := range s.Missing {
		if m := &s.Missing[i]; m.Resource.FullName() == r.FullName() && m.Namespace == "" {
			m.Partly = true
		}
	}
}

// Load reads everything that is wanted in parallel. What could not be read is in
// Missing; an error means that nothing at all could be read.
func Load(ctx context.Context, c *kube.Client, w Want, now time.Time) (*State, error) {
	l := &loader{c: c, w: w, out: &State{Taken: now, Server: c.Server()}}
	if w.Parallel > 0 {
		l.slots = make(chan struct{}, w.Parallel)
	}
	return l.run(ctx)
}
