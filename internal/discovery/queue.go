package discovery

import (
	"context"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// QueueChoice is the local queue to use; Name is "" when there is none. Notes
// are for stderr.
type QueueChoice struct {
	Name         string
	ClusterQueue string // "" when not readable
	Source       string // flag, managed, only or none
	Notes        []string
}

// The further sources of a queue.
const (
	FromManaged = "managed" // the one that task governance made
	FromOnly    = "only"    // the namespace's only one
	FromNone    = "none"
)

// ManagedQueue returns the name of the local queue that SageMaker HyperPod task
// governance makes for a team.
func ManagedQueue(team string) string { return "hyperpod-ns-" + team + "-localqueue" }

// ManagedClusterQueue returns the name of a team's ClusterQueue.
func ManagedClusterQueue(team string) string { return "hyperpod-ns-" + team + "-clusterqueue" }

// TeamOf returns the quota allocation that task governance gave a namespace: as its
// labels say, else, where they could not be read, as its name does; "" for a
// namespace of another kind.
func TeamOf(namespace string, labels map[string]string) string {
	if labels[kinds.ManagedQueueLabel] == "true" {
		return labels[kinds.QuotaAllocationLabel]
	}
	team, ok := strings.CutPrefix(namespace, "hyperpod-ns-")
	if !ok {
		return ""
	}
	return team
}

// Queue chooses the local queue of a namespace: of the flag, else the managed
// one, else the only one, else none. Team members often may not read local
// queues; then the flag, or the managed name, is believed, and a note says so.
func Queue(ctx context.Context, c *kube.Client, ns NamespaceChoice, flag string) (QueueChoice, error) {
	queues, err := state.ListLocalQueues(ctx, c, ns.Name)
	switch {
	case kube.IsForbidden(err):
		return believed(ns, flag, err), nil
	case kube.IsNotServed(err):
		if flag != "" {
			return QueueChoice{}, errs.NotFoundf("there is no queue %q: this cluster has no Kueue", flag).WithCause(err)
		}
		return QueueChoice{Source: FromNone, Notes: []string{"this cluster has no Kueue: the job is not queued"}}, nil
	case err != nil:
		return QueueChoice{}, err
	}
	names := make([]string, len(queues))
	for i, q := range queues {
		names[i] = q.Name
	}
	pick := func(name, source string) (QueueChoice, bool) {
		for _, q := range queues {
			if q.Name != name {
				continue
			}
			out := QueueChoice{Name: name, ClusterQueue: q.ClusterQueue, Source: source}
			if q.StopPolicy != "" && q.StopPolicy != "None" {
				out.Notes = append(out.Notes, "queue "+name+" is stopped ("+q.StopPolicy+"): jobs wait until an administrator opens it")
			}
			return out, true
		}
		return QueueChoice{}, false
	}
	if flag != "" {
		if q, ok := pick(flag, FromFlag); ok {
			return q, nil
		}
		return QueueChoice{}, unknownQueue(flag, ns.Name, names)
	}
	if ns.Team != "" {
		if q, ok := pick(ManagedQueue(ns.Team), FromManaged); ok {
			return q, nil
		}
	}
	if len(queues) == 1 {
		q, _ := pick(names[0], FromOnly)
		return q, nil
	}
	return noQueue(ns, names), nil
}

func unknownQueue(name, namespace string, names []string) error {
	e := errs.NotFoundf("queue %q does not exist in namespace %s", name, namespace)
	if len(names) == 0 {
		return e.WithFact("it has", "none").WithAdvice("leave --queue-name out")
	}
	if near := errs.Near(name, names); len(near) > 0 {
		e.WithTry("--queue-name " + near[0])
	}
	return e.WithFact("it has", list(names))
}

// believed is a queue that cannot be looked up, for the reason in err.
func believed(ns NamespaceChoice, flag string, err error) QueueChoice {
	why := unread(err, "queues") + " of " + ns.Name
	switch {
	case flag != "":
		return QueueChoice{Name: flag, Source: FromFlag, Notes: []string{"the queue " + flag + " is used unchecked: " + why}}
	case ns.Team != "":
		name := ManagedQueue(ns.Team)
		return QueueChoice{Name: name, ClusterQueue: ManagedClusterQueue(ns.Team), Source: FromManaged,
			Notes: []string{"using queue " + name + " by its usual name: " + why}}
	}
	return QueueChoice{Source: FromNone, Notes: []string{"no queue: " + why + " (--queue-name names one)"}}
}

// unread says why some objects were not read: no right shows what a file does not
// have.
func unread(err error, what string) string {
	if kube.IsNotInFile(err) {
		return "the file does not have the " + what
	}
	return "you may not read the " + what
}

func noQueue(ns NamespaceChoice, names []string) QueueChoice {
	note := "no queue: namespace " + ns.Name + " has none, so the job is not queued"
	if len(names) > 1 {
		note = "no queue: namespace " + ns.Name + " has several (--queue-name one of " + list(names) + ")"
	}
	return QueueChoice{Source: FromNone, Notes: []string{note}}
}

// ServedJobs returns the job kinds that the cluster serves, at the version it
// serves. It costs one request an API group, remembered for hours.
func ServedJobs(ctx context.Context, c *kube.Client) ([]kinds.Job, error) {
	return state.ServedJobs(ctx, c)
}
