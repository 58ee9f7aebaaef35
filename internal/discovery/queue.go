package discovery

import (
	"context"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// QueueChoice is the LocalQueue to use; Name is "" when there is none.
type QueueChoice struct {
	Name         string
	ClusterQueue string // "" when not readable
	Source       string // flag, managed, only or none
	Notes        []Note
}

// The further sources of a queue.
const (
	FromManaged = "managed" // the one of task governance
	FromOnly    = "only"    // the namespace's only one
	FromNone    = "none"
)

// ManagedQueue returns the name of the local queue that SageMaker HyperPod task
// governance makes for a team.
func ManagedQueue(team string) string { return "hyperpod-ns-" + team + "-localqueue" }

// ManagedClusterQueue returns the name of a team's ClusterQueue.
func ManagedClusterQueue(team string) string { return "hyperpod-ns-" + team + "-clusterqueue" }

// TeamOf returns the quota allocation that task governance gave a namespace: from its labels, or from its name
// if the labels could not be read. It is "" for other namespaces.
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

// Queue chooses the LocalQueue of a namespace: the flag's, else the managed one,
// else the only one, else none. Members of a team often have no permission to list
// LocalQueues; then it uses the flag, or the managed name, unchecked.
func Queue(ctx context.Context, c *kube.Client, ns NamespaceChoice, flag string) (QueueChoice, error) {
	queues, err := state.ListLocalQueues(ctx, c, ns.Name)
	switch {
	case kube.IsForbidden(err):
		return believed(ns, flag, err), nil
	case kube.IsNotServed(err):
		if flag != "" {
			return QueueChoice{}, errs.NotFoundf("queue %q not found: this cluster has no Kueue", flag).WithCause(err)
		}
		return QueueChoice{Source: FromNone, Notes: []Note{{Code: NoKueue}}}, nil
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
				out.Notes = []Note{{Code: QueueStopped, Name: name, StopPolicy: q.StopPolicy}}
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
	e := errs.NotFoundf("queue %q not found in namespace %s", name, namespace)
	if len(names) == 0 {
		return e.WithFact("available", "none")
	}
	near := errs.Near(name, names)
	if len(names) == 1 {
		near = names
	}
	if len(near) > 0 {
		e.Suggest(suggest.QueueName(near[0]))
	}
	return e.WithFact("available", words.Some(names, 20))
}

// believed returns a queue that cannot be looked up, for the reason in err.
func believed(ns NamespaceChoice, flag string, err error) QueueChoice {
	note := Note{Code: QueuesUnreadable, Namespace: ns.Name, NotInFile: kube.IsNotInFile(err)}
	out := QueueChoice{Source: FromNone}
	switch {
	case flag != "":
		out.Name, out.Source = flag, FromFlag
		note.Code, note.Name = QueueUnchecked, flag
	case ns.Team != "":
		out.Name, out.ClusterQueue, out.Source = ManagedQueue(ns.Team), ManagedClusterQueue(ns.Team), FromManaged
		note.Code, note.Name = QueueAssumed, out.Name
	}
	out.Notes = []Note{note}
	return out
}

func noQueue(ns NamespaceChoice, names []string) QueueChoice {
	note := Note{Code: NoQueue, Namespace: ns.Name}
	if len(names) > 1 {
		note.Code, note.Available = SeveralQueues, names
	}
	return QueueChoice{Source: FromNone, Notes: []Note{note}}
}

// ServedJobs returns the job kinds that the cluster serves, at the version it
// serves. It costs one request an API group, remembered for hours.
func ServedJobs(ctx context.Context, c *kube.Client) ([]kinds.Job, error) {
	return state.ServedJobs(ctx, c)
}
