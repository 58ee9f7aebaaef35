// Package discovery finds out what a user did not say: the namespace, the queue,
// the priority class, and which kinds of job the cluster has.
package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// NamespaceQuery says what is known, and what the namespace is for: Verb on
// Resource is what the user must be allowed to do there.
type NamespaceQuery struct {
	Flag             string // of --namespace
	ContextNamespace string
	ContextName      string
	Verb             string
	Resource         kinds.Resource
}

// NamespaceChoice is the namespace to use. Notes are for stderr.
type NamespaceChoice struct {
	Name    string
	Source  string // flag, context or discovery
	Managed bool   // by SageMaker HyperPod task governance
	Team    string // its quota allocation; "" when not managed or not readable
	Notes   []string
}

// The sources of a choice.
const (
	FromFlag      = "flag"
	FromContext   = "context"
	FromDiscovery = "discovery"
)

// Namespace chooses the namespace: of the flag, else of the context, else the
// only managed one that the user may work in. The first two are checked to
// exist; a user who may not read namespaces is believed.
func Namespace(ctx context.Context, c *kube.Client, q NamespaceQuery) (NamespaceChoice, error) {
	if q.Flag != "" {
		return named(ctx, c, q.Flag, FromFlag, q)
	}
	if q.ContextNamespace != "" {
		return named(ctx, c, q.ContextNamespace, FromContext, q)
	}
	found, err := accessible(ctx, c, q.Verb, q.Resource)
	if err != nil {
		if kube.IsForbidden(err) {
			return NamespaceChoice{}, errs.Wrap(err, "no namespace given, and you may not look which ones there are").WithTry("--namespace NAME")
		}
		return NamespaceChoice{}, err
	}
	switch len(found) {
	case 0:
		return NamespaceChoice{}, errs.New("no namespace given",
			fmt.Sprintf("there is no managed namespace in which you may %s %s", q.Verb, q.Resource.Plural)).
			WithTry("--namespace NAME   # any that you work in").WithAdvice("ask a cluster administrator to add you to a team")
	case 1:
		ns := found[0]
		return NamespaceChoice{Name: ns.Name, Source: FromDiscovery, Managed: true, Team: ns.Team(),
			Notes: []string{"using namespace " + ns.Name}}, nil
	}
	names := make([]string, len(found))
	for i, ns := range found {
		names[i] = ns.Name
	}
	return NamespaceChoice{}, errs.New("no namespace given", fmt.Sprintf("you may work in %d namespaces", len(names))).
		WithFact("choose", strings.Join(names, ", ")).WithTry("--namespace NAME").WithCode(errs.Usage)
}

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
	e := errs.NotFoundf("the namespace %q does not exist", name).WithCause(err)
	if source == FromContext {
		e.WithFact("named by", fmt.Sprintf("the kubeconfig's context %q", q.ContextName)).WithTry("--namespace NAME")
	}
	if near := errs.Near(name, namespaceNames(ctx, c)); len(near) > 0 {
		e.WithFact("near", strings.Join(near, ", "))
	}
	return out, e
}

// namespaceNames returns the names of all namespaces, or none when they cannot
// be read: they are only for advice.
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

// AccessibleNamespaces returns the managed namespaces in which the user may do
// verb on a resource, by name.
func AccessibleNamespaces(ctx context.Context, c *kube.Client, verb string, r kinds.Resource) ([]string, error) {
	found, err := accessible(ctx, c, verb, r)
	names := make([]string, len(found))
	for i, ns := range found {
		names[i] = ns.Name
	}
	return names, err
}

func accessible(ctx context.Context, c *kube.Client, verb string, r kinds.Resource) ([]state.Namespace, error) {
	all, err := state.ListNamespaces(ctx, c, kube.ListOptions{LabelSelector: kinds.ManagedQueueLabel + "=true"})
	if err != nil {
		return nil, err
	}
	allowed := make([]bool, len(all))
	failed := make([]error, len(all))
	var wg sync.WaitGroup
	for i, ns := range all {
		wg.Go(func() { allowed[i], failed[i] = c.CanI(ctx, verb, r, ns.Name, "") })
	}
	wg.Wait()
	var out []state.Namespace
	for i, ns := range all {
		if failed[i] != nil {
			return nil, failed[i]
		}
		if allowed[i] {
			out = append(out, ns)
		}
	}
	slices.SortFunc(out, func(a, b state.Namespace) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
