// Package discovery finds what the user did not specify: the namespace, the queue,
// the priority class, and the job kinds that the cluster serves.
package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// NamespaceQuery says what is known, and what the namespace is for: the user needs
// permission for Verb on Resource there.
type NamespaceQuery struct {
	Flag             string // the namespace that the user named
	ContextNamespace string
	ContextName      string
	Verb             string
	Resource         kinds.Resource
	// Last returns the namespace of the last command that worked, or ""; nil: none is known.
	Last func() string
}

// NamespaceChoice is the namespace to use.
type NamespaceChoice struct {
	Name    string
	Source  string // flag, context or discovery
	Managed bool   // by SageMaker HyperPod task governance
	Team    string // its quota allocation; "" when not managed or not readable
	Notes   []Note
}

// The sources of a choice.
const (
	FromFlag      = "flag"
	FromContext   = "context"
	FromDiscovery = "discovery"
)

// Namespace chooses the namespace: the flag's, else the context's, else the only team namespace where the user has the
// permission: a managed one or, in a cluster without those, one with a LocalQueue. Where namespaces cannot be listed it is
// that of the user's own service account, else the last one that worked. It checks that the first two exist, where the
// user may read namespaces.
func Namespace(ctx context.Context, c *kube.Client, q NamespaceQuery) (NamespaceChoice, error) {
	if q.Flag != "" {
		return named(ctx, c, q.Flag, FromFlag, q)
	}
	if q.ContextNamespace != "" {
		return named(ctx, c, q.ContextNamespace, FromContext, q)
	}
	found, none, err := accessible(ctx, c, q.Verb, q.Resource)
	if err != nil {
		if own := kube.ServiceAccountNamespace(err); own != "" {
			choice, err := named(ctx, c, own, FromDiscovery, q)
			choice.Notes = append(choice.Notes, Note{Code: NamespaceFound, Name: own})
			return choice, err
		}
		if kube.IsForbidden(err) && q.Last != nil {
			if last := q.Last(); last != "" {
				choice, err := named(ctx, c, last, FromDiscovery, q)
				choice.Notes = append(choice.Notes, Note{Code: NamespaceLast, Name: last})
				return choice, err
			}
		}
		if kube.IsForbidden(err) {
			return NamespaceChoice{}, errs.Wrap(err, "no namespace given").Suggest(suggest.Namespace("NAME"))
		}
		return NamespaceChoice{}, err
	}
	switch len(found) {
	case 0:
		if none {
			return NamespaceChoice{}, errs.New("no namespace given", "the cluster has no team namespace: none is managed by task governance, or has a LocalQueue that you can read").
				Suggest(suggest.Namespace("NAME"))
		}
		return NamespaceChoice{}, errs.New("no namespace given",
			fmt.Sprintf("you have no permission to %s %s in a team namespace", q.Verb, q.Resource.Plural)).
			WithAdvice("ask a cluster administrator to add you to a team").Suggest(suggest.Namespace("NAME"))
	case 1:
		ns := found[0]
		return NamespaceChoice{Name: ns.Name, Source: FromDiscovery, Managed: ns.Managed(), Team: ns.Team(),
			Notes: []Note{{Code: NamespaceFound, Name: ns.Name}}}, nil
	}
	names := make([]string, len(found))
	for i, ns := range found {
		names[i] = ns.Name
	}
	return NamespaceChoice{}, errs.New("no namespace given", fmt.Sprintf("you have access to %d namespaces", len(names))).
		WithFact("available", words.Some(names, 20)).Suggest(suggest.Namespace("NAME")).WithCode(errs.Usage).WithCause(ErrSeveral)
}

// ErrSeveral is the cause of the error of Namespace where there are several namespaces and
// the user has to choose one.
var ErrSeveral = errors.New("several namespaces")

// named checks a namespace that was given.
func named(ctx context.Context, c *kube.Client, name, source string, q NamespaceQuery) (NamespaceChoice, error) {
	out := NamespaceChoice{Name: name, Source: source}
	if why := kinds.NotNamespace(name); why != "" {
		return out, errs.Usagef("%s", why)
	}
	ns, err := state.GetNamespace(ctx, c, name)
	switch {
	case err == nil:
		out.Managed, out.Team = ns.Managed(), ns.Team()
		return out, nil
	case kube.IsForbidden(err):
		return out, nil
	case !kube.IsNotFound(err):
		return out, err
	}
	e := errs.NotFoundf("namespace %q not found", name).WithCause(err)
	if source == FromContext {
		e.WithFact("named by", fmt.Sprintf("context %q of the kubeconfig", q.ContextName)).Suggest(suggest.Namespace("NAME"))
	}
	names := namespaceNames(ctx, c)
	if near := errs.Near(name, names); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", "))
	} else if len(names) > 0 {
		e.WithFact("available", words.Some(names, 20))
	}
	return out, e
}

// namespaceNames returns the names of all namespaces, or none when they cannot be
// read: they only serve a hint.
func namespaceNames(ctx context.Context, c *kube.Client) []string {
	type named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	page, err := kube.Collect(ctx, c, kinds.Namespace, "", kube.ListOptions{MetadataOnly: true}, func(n *named) string { return n.Metadata.Name })
	if err != nil {
		return nil
	}
	return page.Items
}

// AccessibleNamespaces returns the team namespaces where the user has permission for a verb on a resource, sorted by name.
func AccessibleNamespaces(ctx context.Context, c *kube.Client, verb string, r kinds.Resource) ([]string, error) {
	found, _, err := accessible(ctx, c, verb, r)
	names := make([]string, len(found))
	for i, ns := range found {
		names[i] = ns.Name
	}
	return names, err
}

// teamNamespaces returns the namespaces that task governance manages. In a cluster without them, it returns those with a
// LocalQueue, if the user can list LocalQueues.
func teamNamespaces(ctx context.Context, c *kube.Client) ([]state.Namespace, error) {
	all, err := state.ListNamespaces(ctx, c, kube.ListOptions{LabelSelector: kinds.ManagedQueueLabel + "=true"})
	if err != nil || len(all) > 0 {
		return all, err
	}
	queues, err := state.ListLocalQueues(ctx, c, "")
	if err != nil {
		return nil, nil // without permission, or without Kueue, no namespace is known to be a team's
	}
	names := make([]string, len(queues))
	for i, q := range queues {
		names[i] = q.Namespace
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		all = append(all, state.Namespace{Meta: state.Meta{Name: name}})
	}
	return all, nil
}

// accessible returns the team namespaces where the user has a permission; none reports that there is no team namespace.
func accessible(ctx context.Context, c *kube.Client, verb string, r kinds.Resource) (found []state.Namespace, none bool, err error) {
	all, err := teamNamespaces(ctx, c)
	if err != nil {
		return nil, false, err
	}
	allowed := make([]bool, len(all))
	failed := make([]error, len(all))
	var wg crash.Group
	for i, ns := range all {
		wg.Go(func() { allowed[i], failed[i] = c.CanI(ctx, verb, r, ns.Name, "") })
	}
	wg.Wait()
	for i, ns := range all {
		if failed[i] != nil {
			return nil, false, failed[i]
		}
		if allowed[i] {
			found = append(found, ns)
		}
	}
	slices.SortFunc(found, func(a, b state.Namespace) int { return strings.Compare(a.Name, b.Name) })
	return found, len(all) == 0, nil
}
