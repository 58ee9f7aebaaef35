package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options say what to capture and how it came about.
type Options struct {
	// Namespace narrows the namespaced kinds to one namespace; "" means all.
	Namespace string
	// Namespaces names the namespaces to read one by one when a list over all of
	// them is forbidden; it is called at most once. Nil: no fallback.
	Namespaces func(context.Context) ([]string, error)
	// Context and ContextNamespace are the kubeconfig's; By is the program.
	Context, ContextNamespace, By string
	Now                           time.Time
}

// Capture reads a cluster, every kind in parallel, and drops what must not be in
// a file. What could not be read is in Info.Missing; the error is non-nil when
// nothing at all could be read, or ctx ended.
func Capture(ctx context.Context, c *kube.Client, o Options) (*Snapshot, error) {
	l := &capture{c: c, o: o, found: map[string]map[store.Key]map[string]any{}}
	var wg sync.WaitGroup
	for _, r := range captured() {
		wg.Go(func() { l.list(ctx, r) })
	}
	wg.Go(func() { l.manager(ctx, kinds.ConfigMap, managerConfig) })
	wg.Go(func() { l.manager(ctx, kinds.Deployment, managerDeployment) })
	wg.Wait()
	l.follow(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.read == 0 {
		return nil, l.worst
	}
	info := Info{
		Kind: fileKind, Format: fileFormat, Taken: o.Now.UTC().Truncate(time.Second), By: o.By,
		Server: c.Server(), Context: o.Context, Namespace: o.ContextNamespace, Scope: o.Namespace,
		Namespaces: l.fallback, Missing: l.missing,
	}
	if at, err := state.Served(ctx, c, kinds.Workload); err == nil {
		info.KueueAPI = at.Version
	}
	slices.SortFunc(info.Missing, func(a, b Missing) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Namespace, b.Namespace))
	})
	return l.snapshot(info)
}

// captured are the kinds of which a snapshot has all objects.
func captured() []kinds.Resource {
	return slices.DeleteFunc(kinds.All(), func(r kinds.Resource) bool {
		_, ok := allowed()[r.FullName()]
		return !ok || managers(r) != ""
	})
}

// managers is the name of the one object of a kind that belongs to a snapshot:
// Kueue's configuration and its controller, whose image tells the version. "":
// all objects do, or none.
func managers(r kinds.Resource) string {
	switch r.FullName() {
	case kinds.ConfigMap.FullName():
		return managerConfig
	case kinds.Deployment.FullName():
		return managerDeployment
	}
	return ""
}

// isManager reports that one object, by plural.group and name.
func isManager(resource, name string) bool {
	return resource == kinds.ConfigMap.FullName() && name == managerConfig || resource == kinds.Deployment.FullName() && name == managerDeployment
}

// capture is one capture under way.
type capture struct {
	c *kube.Client
	o Options

	mu      sync.Mutex
	found   map[string]map[store.Key]map[string]any // by plural.group
	missing []Missing
	read    int
	worst   error

	fallbackOnce sync.Once
	fallback     []string
}

// list reads one kind, namespace by namespace where that is all one may.
func (l *capture) list(ctx context.Context, r kinds.Resource) {
	ns := l.o.Namespace
	if !r.Namespaced {
		ns = ""
	}
	err := l.listIn(ctx, r, ns)
	if err == nil || !kube.IsForbidden(err) || !r.Namespaced || ns != "" || l.o.Namespaces == nil {
		return
	}
	l.fallbackOnce.Do(func() {
		l.fallback, _ = l.o.Namespaces(ctx)
		if own := l.o.ContextNamespace; own != "" {
			l.fallback = append(l.fallback, own) // commands work there unless told otherwise
		}
		slices.Sort(l.fallback)
		l.fallback = slices.Compact(l.fallback)
	})
	var wg sync.WaitGroup
	for _, ns := range l.fallback {
		wg.Go(func() { _ = l.listIn(ctx, r, ns) }) // what fails is noted there
	}
	wg.Wait()
}

func (l *capture) listIn(ctx context.Context, r kinds.Resource, ns string) error {
	at, err := state.Served(ctx, l.c, r)
	if err == nil {
		var page kube.Page[map[string]any]
		if page, err = kube.List[map[string]any](ctx, l.c, at, ns, kube.ListOptions{}); err == nil {
			return l.keep(r, at, page.Items)
		}
	}
	l.lack(r, ns, err)
	return err
}

// manager reads an object of Kueue's controller, which most teams may not.
func (l *capture) manager(ctx context.Context, r kinds.Resource, name string) {
	var m map[string]any
	err := l.c.Get(ctx, r, managerNamespace, name, &m)
	switch {
	case err == nil:
		_ = l.keep(r, r, []map[string]any{m})
	case !kube.IsNotFound(err):
		l.lack(r, managerNamespace, err)
	}
}

// follow reads by name what could not be listed but is referred to: a team may
// read its own ClusterQueue, and no other. It is what commands read by name of a
// cluster (package inputs, get-quota), so that they find it here, too.
func (l *capture) follow(ctx context.Context) {
	l.byName(ctx, kinds.Namespace, slices.Concat(l.fallback, []string{l.o.Namespace, l.o.ContextNamespace}))
	l.byName(ctx, kinds.ClusterQueue, slices.Concat(l.names(kinds.LocalQueue, "spec", "clusterQueue"),
		l.names(kinds.Workload, "status", "admission", "clusterQueue"), l.usualQueues()))
	tried := map[string]bool{}
	for above := l.names(kinds.ClusterQueue, "spec", "cohortName"); len(above) > 0; above = l.names(kinds.Cohort, "spec", "parentName") {
		above = slices.DeleteFunc(above, func(name string) bool { return tried[name] })
		if len(above) == 0 {
			break
		}
		for _, name := range above {
			tried[name] = true
		}
		l.byName(ctx, kinds.Cohort, above)
	}
	var flavors []string
	for _, q := range l.found[kinds.ClusterQueue.FullName()] {
		for _, group := range object.List(q, "spec", "resourceGroups") {
			for _, f := range object.List(group, "flavors") {
				flavors = append(flavors, object.Text(f, "name"))
			}
		}
	}
	l.byName(ctx, kinds.ResourceFlavor, flavors)
	l.byName(ctx, kinds.Topology, l.names(kinds.ResourceFlavor, "spec", "topologyName"))
	l.byName(ctx, kinds.WorkloadPriorityClass, l.names(kinds.Workload, "spec", "priorityClassRef", "name"))
}

// usualQueues are the names that task governance gives the ClusterQueues of teams,
// of the namespaces whose local queues may not be read.
func (l *capture) usualQueues() []string {
	var out []string
	for _, ns := range slices.Concat(l.fallback, []string{l.o.Namespace, l.o.ContextNamespace}) {
		labels := map[string]string{}
		found, _ := kinds.At(l.found[kinds.Namespace.FullName()][store.Key{Name: ns}], "metadata", "labels").(map[string]any)
		for key, value := range found {
			labels[key], _ = value.(string)
		}
		if team := discovery.TeamOf(ns, labels); team != "" {
			out = append(out, discovery.ManagedClusterQueue(team))
		}
	}
	return out
}

func (l *capture) names(r kinds.Resource, path ...string) []string {
	var out []string
	for _, o := range l.found[r.FullName()] {
		out = append(out, object.Text(o, path...))
	}
	return out
}

func (l *capture) byName(ctx context.Context, r kinds.Resource, names []string) {
	if !slices.ContainsFunc(l.missing, func(m Missing) bool { return m.Resource == r.FullName() && m.Reason == Forbidden }) {
		return
	}
	slices.Sort(names)
	var wg sync.WaitGroup
	for _, name := range slices.Compact(names) {
		if name == "" {
			continue
		}
		wg.Go(func() {
			at, err := state.Served(ctx, l.c, r)
			var m map[string]any
			if err == nil && l.c.Get(ctx, at, "", name, &m) == nil {
				_ = l.keep(r, at, []map[string]any{m})
			}
		})
	}
	wg.Wait()
}

// keep adds objects, converted and redacted.
func (l *capture) keep(r, at kinds.Resource, items []map[string]any) error {
	if err := convert(r, at, items); err != nil {
		l.lack(r, "", err)
		return err
	}
	table := map[store.Key]map[string]any{}
	for _, m := range items {
		if kept := redact(r, m); kept != nil && object.Text(kept, "metadata", "name") != "" {
			identify(r, kept)
			table[keyOf(kept)] = kept
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read++
	if old := l.found[r.FullName()]; old != nil {
		maps.Copy(old, table)
	} else {
		l.found[r.FullName()] = table
	}
	return nil
}

func (l *capture) lack(r kinds.Resource, ns string, err error) {
	m := Missing{Resource: r.FullName(), Namespace: ns, Reason: Failed}
	switch {
	case kube.IsNotInFile(err):
		m.Reason = NotInFile // a snapshot of a file
	case kube.IsForbidden(err):
		m.Reason = Forbidden
	case kube.IsNotServed(err):
		m.Reason = NotServed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missing = append(l.missing, m)
	if l.worst == nil || errs.ExitOf(l.worst) == errs.NotFound {
		l.worst = err
	}
}

// snapshot encodes what was found, by key.
func (l *capture) snapshot(info Info) (*Snapshot, error) {
	s := &Snapshot{raw: map[string][]json.RawMessage{}}
	for r, table := range l.found {
		keys := slices.SortedFunc(maps.Keys(table), store.Key.Compare)
		for _, k := range keys {
			m := table[k]
			if n, err := strconv.ParseInt(object.Text(m, "metadata", "resourceVersion"), 10, 64); err == nil {
				info.ResourceVersion = max(info.ResourceVersion, n)
			}
			raw, err := store.Encode(m)
			if err != nil {
				return nil, errs.Wrap(err, "cannot take a snapshot")
			}
			s.raw[r] = append(s.raw[r], raw)
		}
	}
	s.Info = info
	return s, nil
}
