// Package findteam reads the queues that a user may see, all of them or their
// team's own, and finds the team that a command is about.
package findteam

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/namecache"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Scope is whose queues are wanted: one team's, one namespace's, or all.
type Scope struct {
	Team      string
	Namespace string
}

// Take returns a take for factory.RunE that sets team to the only argument, if there is
// one.
func Take(team *string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 1:
			return errs.Usagef("only one team is allowed, got %s", strings.Join(args, ", "))
		case len(args) == 1 && factory.BareName(args[0], "clusterqueue") == "":
			return errs.Usagef("the team name is empty")
		case len(args) == 1:
			*team = factory.BareName(args[0], "clusterqueue")
		}
		return nil
	}
}

// NameOf returns the name of a team that is given by its name or its ClusterQueue, also as -o name prints it.
func NameOf(given string) string { return quota.TeamOf(factory.BareName(given, "clusterqueue")) }

// Narrow reports a scope that is not everything.
func (s Scope) Narrow() bool { return s.Team != "" || s.Namespace != "" }

// parallel is how many requests the commands about queues have open at a time: they
// are asked often, and by many.
const parallel = 6

// Fallbacks lets a state be read with the rights of a team's member: what may
// not be listed as a whole is read in the namespaces that the user may work in,
// and ClusterQueues by the names that these lead to; six requests at a time.
func (s Scope) Fallbacks(c *factory.Cluster, w *state.Want) {
	w.Parallel = parallel
	var once sync.Once
	var names []string
	namespaces := func(ctx context.Context) []string {
		once.Do(func() { names = s.namespaces(ctx, c) })
		return names
	}
	w.FallbackNamespaces = func(ctx context.Context) ([]string, error) { return namespaces(ctx), nil }
	w.FallbackQueues = s.queues(c, namespaces)
}

// FallbackQueues is the part of Fallbacks that names ClusterQueues.
func (s Scope) FallbackQueues(c *factory.Cluster) func(context.Context) ([]string, error) {
	return s.queues(c, func(ctx context.Context) []string { return s.namespaces(ctx, c) })
}

// queues returns what names the ClusterQueues of namespaces.
func (s Scope) queues(c *factory.Cluster, namespaces func(context.Context) []string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		var queues []string
		if s.Team != "" {
			queues = append(queues, discovery.ManagedClusterQueue(s.Team), s.Team)
		}
		for _, ns := range namespaces(ctx) {
			queues = append(queues, quota.ManagedQueue(ns))
			if local, err := state.ListLocalQueues(ctx, c.Client, ns); err == nil {
				for _, q := range local {
					queues = append(queues, q.ClusterQueue)
				}
			}
		}
		slices.Sort(queues)
		return slices.Compact(queues), nil
	}
}

// namespaces returns those that the user is known to work in.
func (s Scope) namespaces(ctx context.Context, c *factory.Cluster) []string {
	names, _ := c.KnownNamespaces(ctx, s.Namespace, kinds.Workload) // the read reports what is hidden
	return names
}

// Teams returns the teams in scope. An unknown one is an error with near names.
func (s Scope) Teams(r *quota.Report) ([]quota.Team, error) {
	if !s.Narrow() {
		return r.Teams, nil
	}
	var out []quota.Team
	for _, t := range r.Teams {
		if (s.Team == "" || named(t, s.Team)) && (s.Namespace == "" || in(t, s.Namespace)) {
			out = append(out, t)
		}
	}
	if len(out) > 0 || s.Team == "" && len(r.Teams) == 0 && !r.Complete {
		return out, nil // whose queue it is cannot be read
	}
	return nil, s.unknown(r)
}

func (s Scope) unknown(r *quota.Report) error {
	var names []string
	for _, t := range r.Teams {
		names = append(names, t.Name)
	}
	var e *errs.Error
	switch {
	case s.Team != "" && s.Namespace != "" && slices.ContainsFunc(r.Teams, func(t quota.Team) bool { return named(t, s.Team) }):
		e = errs.NotFoundf("team %q has no queue in namespace %s", s.Team, s.Namespace)
	case s.Team != "":
		return hiding(r, notFound(errs.NotFoundf("team or queue %q not found", s.Team), s.Team, names))
	default:
		e = errs.NotFoundf("namespace %q has no queue", s.Namespace)
	}
	if len(names) > 0 {
		e.WithFact("teams", words.Some(names, 20))
	}
	return hiding(r, e)
}

// hiding adds to an error that there may be teams that the user cannot see.
func hiding(r *quota.Report, e *errs.Error) *errs.Error {
	if !r.Complete {
		e.WithFact("hidden", "other teams: you need permission to list clusterqueues")
	}
	return e
}

// Known returns an error with near names for a team that is not among names. "" is no team.
func Known(team string, names []string) error {
	if team == "" || slices.Contains(names, team) {
		return nil
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return notFound(errs.NotFoundf("team %q not found", team), team, slices.Compact(names))
}

// notFound adds the names that are near to a team's, and those that exist.
func notFound(e *errs.Error, team string, names []string) *errs.Error {
	if near := errs.Near(team, names); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", "))
	}
	if len(names) > 0 {
		e.WithFact("teams", words.Some(names, 20))
	}
	return e
}

// named reports whether a team, its ClusterQueue or one of its namespaces has a name.
func named(t quota.Team, name string) bool {
	return t.Name == name || t.ClusterQueue == name || in(t, name)
}

func in(t quota.Team, namespace string) bool {
	return slices.Contains(t.Namespaces, namespace) || t.ClusterQueue == quota.ManagedQueue(namespace)
}

// Load reads what a command about queues wants. It says what is needed where nothing may
// be read.
func Load(ctx context.Context, c *factory.Cluster, w state.Want) (*state.State, error) {
	s, err := state.Load(ctx, c.Client, w, c.Now())
	if kube.IsForbidden(err) && !kube.IsNotInFile(err) {
		err = noQueues(err)
	}
	return s, err
}

func noQueues(cause error) error {
	return errs.New("no permission to read any queue", "").WithCode(errs.Denied).WithCause(cause).
		WithFact("needs", "permission to list clusterqueues, or localqueues in your namespace").
		Suggest(errs.Option("--namespace", "NAME").WithNote("your own namespace"))
}

// NoKueue returns the error of a cluster that has no queues at all, else nil.
func NoKueue(s *state.State) error {
	for _, m := range s.MissingOf(kinds.ClusterQueue) {
		switch m.Reason {
		case state.NotServed:
			return errs.NotFoundf("no quota to show: Kueue is not installed on this cluster").WithCause(m.Err)
		case state.NotInFile:
			if len(s.ClusterQueues) == 0 {
				return lacksQuota("the file has no clusterqueues").WithCause(m.Err)
			}
			continue
		case state.Failed:
			return m.Err
		}
		if len(s.ClusterQueues) == 0 && len(s.LocalQueues) == 0 && len(s.Workloads) == 0 {
			return noQueues(m.Err)
		}
	}
	unread := queue.Unread(s)
	counts := func(q state.ClusterQueue) bool { return len(q.Conditions)+len(q.Reservation)+q.Pending+q.Reserving > 0 }
	if unread != nil && unread.Reason == state.NotInFile && !slices.ContainsFunc(s.ClusterQueues, counts) {
		return lacksQuota("the file has neither workloads nor the status of its clusterqueues").WithCause(unread.Err)
	}
	return nil
}

// lacksQuota returns the error of a file without the objects that say what quota there is or is in use.
func lacksQuota(why string) *errs.Error {
	return errs.New("no quota to show", why).
		Suggest(errs.Other("kubectl", "get", "clusterqueues,cohorts,resourceflavors,localqueues,workloads", "-A", "-o", "yaml"), errs.Run("save-snapshot", "FILE"))
}

// Complete completes the names of teams.
func Complete(ctx context.Context, f *factory.Factory) ([]string, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	return namecache.Recall(c.Names, func() (out []string, err error) {
		w := state.Want{ClusterQueues: true}
		Scope{}.Fallbacks(c, &w)
		s, err := state.Load(ctx, c.Client, w, c.Now())
		if err != nil {
			return nil, err
		}
		for _, q := range s.ClusterQueues {
			out = append(out, quota.TeamOf(q.Name))
		}
		return out, nil
	}, "teams", f.Global.Namespace)
}
