package snapshot

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot/pseudonym"
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
	// Pseudonyms replaces the names of teams, users, jobs and nodes, labels, images and
	// names of environment variables.
	Pseudonyms bool
}

// Capture reads a cluster, all kinds in parallel, and drops what must not be in a
// file. What could not be read is in Info.Missing. Capture returns an error when
// nothing at all could be read, or when ctx ended.
func Capture(ctx context.Context, c *kube.Client, o Options) (*Snapshot, error) {
	l := &capture{c: c, o: o, found: map[string]map[store.Key]map[string]any{}}
	l.r = reader.New(reader.Options{Namespaces: l.namespaces()})
	var wg crash.Group
	for _, r := range captured() {
		wg.Go(func() { l.keep(r, reader.Read(ctx, l.r, l.kind(r))) })
	}
	wg.Go(func() { l.manager(ctx, kinds.ConfigMap, managerConfig) })
	wg.Go(func() { l.manager(ctx, kinds.Deployment, managerDeployment) })
	wg.Wait()
	l.follow(ctx)
	devices := l.devices(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := l.r.Err(); err != nil {
		return nil, err
	}
	info := Info{
		Kind: fileKind, Format: fileFormat, Taken: o.Now.UTC().Truncate(time.Second), By: o.By,
		Server: c.Server(), Context: o.Context, Namespace: o.ContextNamespace, Scope: o.Namespace,
		Namespaces: l.r.Fallback(), Devices: devices,
	}
	info.Unread = l.r.Missing()
	for _, m := range info.Unread {
		info.Missing = append(info.Missing, Missing{Resource: m.Resource.FullName(), Namespace: m.Namespace, Reason: m.Reason})
	}
	if at, err := reader.Served(ctx, c, kinds.Workload); err == nil {
		info.KueueAPI = at.Version
	}
	return l.snapshot(info)
}

// captured returns the kinds whose objects a snapshot has completely.
func captured() []kinds.Resource {
	return slices.DeleteFunc(kinds.All(), func(r kinds.Resource) bool {
		_, ok := allowed()[r.FullName()]
		return !ok || managers(r) != "" && selector(r) == "" || counts(r.FullName())
	})
}

// counting are the kinds that Kueue counts the devices of resource claims by.
var counting = []kinds.Resource{kinds.DeviceClass, kinds.ResourceSlice, kinds.ResourceClaimTemplate}

// counts reports one of them, by plural.group.
func counts(resource string) bool {
	return slices.ContainsFunc(counting, func(r kinds.Resource) bool { return r.FullName() == resource })
}

// selector selects the objects of a kind that belongs to a snapshot, "" for all: services
// without a queue are not jobs.
func selector(r kinds.Resource) string {
	for _, k := range kinds.Jobs() {
		if k.FullName() == r.FullName() && k.Beside && !k.Itself {
			return k.Selector
		}
	}
	return ""
}

// managers returns the name of the object of a kind that belongs to a snapshot for its own sake:
// Kueue's configuration and its controller, whose image tells the version. "": none does.
func managers(r kinds.Resource) string {
	switch r.FullName() {
	case kinds.ConfigMap.FullName():
		return managerConfig
	case kinds.Deployment.FullName():
		return managerDeployment
	}
	return ""
}

// isManager reports whether one object, by plural.group and name.
func isManager(resource, name string) bool {
	return resource == kinds.ConfigMap.FullName() && name == managerConfig || resource == kinds.Deployment.FullName() && name == managerDeployment
}

// capture is one Capture in progress.
type capture struct {
	c *kube.Client
	o Options
	r *reader.Reader

	mu    sync.Mutex
	found map[string]map[store.Key]map[string]any // by plural.group
}

// namespaces returns the fallback of the lists that are forbidden: the namespaces
// of Options, and the context's own, where commands work by default.
func (l *capture) namespaces() func(context.Context) ([]string, error) {
	if l.o.Namespaces == nil || l.o.Namespace != "" {
		return nil
	}
	return func(ctx context.Context) ([]string, error) {
		names, err := l.o.Namespaces(ctx)
		return append(names, l.o.ContextNamespace), err
	}
}

// kind says how a kind is read: converted and redacted.
func (l *capture) kind(r kinds.Resource) reader.Kind[map[string]any] {
	return reader.Kind[map[string]any]{Resource: r, Namespace: l.o.Namespace, Optional: selector(r) != "",
		List: func(ctx context.Context, ns string) ([]map[string]any, error) {
			at, err := reader.Served(ctx, l.c, r)
			if err != nil {
				return nil, err
			}
			page, err := kube.List[map[string]any](ctx, l.c, at, ns, kube.ListOptions{LabelSelector: selector(r)})
			if err != nil {
				return nil, err
			}
			return kept(r, at, page.Items)
		},
		Get: func(ctx context.Context, name string) (map[string]any, error) {
			at, err := reader.Served(ctx, l.c, r)
			if err != nil {
				return nil, err
			}
			var m map[string]any
			if err := l.c.Get(ctx, at, "", name, &m); err != nil {
				return nil, err
			}
			one, err := kept(r, at, []map[string]any{m})
			if err != nil || len(one) == 0 {
				return nil, err
			}
			return one[0], nil
		}}
}

// kept converts and redacts objects, and drops those that do not belong in a snapshot.
func kept(r, at kinds.Resource, items []map[string]any) ([]map[string]any, error) {
	if err := convert(r, at, items); err != nil {
		return nil, err
	}
	var out []map[string]any
	for _, m := range items {
		if m = redact(r, m); m != nil && object.Text(m, "metadata", "name") != "" {
			identify(r, m)
			out = append(out, m)
		}
	}
	return out, nil
}

// keep adds objects to what was found.
func (l *capture) keep(r kinds.Resource, objects []map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	table := l.found[r.FullName()]
	if table == nil {
		table = map[store.Key]map[string]any{}
		l.found[r.FullName()] = table
	}
	for _, m := range objects {
		if m != nil {
			table[keyOf(m)] = m
		}
	}
}

// manager reads an object of Kueue's controller, which few teams may read.
func (l *capture) manager(ctx context.Context, r kinds.Resource, name string) {
	var m map[string]any
	err := l.c.Get(ctx, r, managerNamespace, name, &m)
	var objects []map[string]any
	if err == nil {
		flags := gateFlags(m)
		if objects, err = kept(r, r, []map[string]any{m}); err == nil {
			setGateFlags(objects, flags)
		}
	}
	switch {
	case err == nil:
		l.r.Done()
		l.keep(r, objects)
	case !kube.IsNotFound(err):
		l.r.Record(r, managerNamespace, "get", err)
	}
}

// follow reads by name what could not be listed but is referred to: a team may
// read its own ClusterQueue, and no other. It is what commands read by name of a
// cluster (package inputs, get-quota), so that they find it here, too.
func (l *capture) follow(ctx context.Context) {
	l.byName(ctx, kinds.Namespace, slices.Concat(l.r.Fallback(), []string{l.o.Namespace, l.o.ContextNamespace}))
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

// devices reads what Kueue counts the devices of resource claims by, where its configuration maps device classes. It
// reports whether it did. Selectors and mappings name classes, devices and attributes in expressions, which no pseudonyms
// replace, so a snapshot with pseudonyms has none of it.
func (l *capture) devices(ctx context.Context) bool {
	if l.o.Pseudonyms || !l.mapsDevices() {
		return false
	}
	var wg crash.Group
	for _, r := range counting {
		wg.Go(func() { l.keep(r, reader.Read(ctx, l.r, l.kind(r))) })
	}
	wg.Wait()
	return true
}

// mapsDevices reports whether Kueue's configuration maps device classes to resources.
func (l *capture) mapsDevices() bool {
	data := object.Map(l.found[kinds.ConfigMap.FullName()][store.Key{Namespace: managerNamespace, Name: managerConfig}], "data")
	cfg, err := admission.ConfigFrom([]byte(object.Text(data, state.ManagerConfigKey)))
	return err == nil && len(cfg.DeviceClasses) > 0
}

// usualQueues returns the names that task governance gives the ClusterQueues of teams,
// of the namespaces whose local queues may not be read.
func (l *capture) usualQueues() []string {
	var out []string
	for _, ns := range slices.Concat(l.r.Fallback(), []string{l.o.Namespace, l.o.ContextNamespace}) {
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

// byName reads objects of a kind whose list is forbidden.
func (l *capture) byName(ctx context.Context, r kinds.Resource, names []string) {
	if l.r.Refused(r) {
		l.keep(r, reader.ReadByName(ctx, l.r, l.kind(r), names))
	}
}

// snapshot encodes what was found, by key.
func (l *capture) snapshot(info Info) (*Snapshot, error) {
	if l.o.Pseudonyms {
		l.pseudonyms(&info)
	}
	s := &Snapshot{raw: map[string][]json.RawMessage{}}
	for r, table := range l.found {
		keys := slices.SortedFunc(maps.Keys(table), store.Compare)
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

// pseudonyms replaces the names in what was found. The mapping ends with the capture.
func (l *capture) pseudonyms(info *Info) {
	objects := map[string][]map[string]any{}
	for r, table := range l.found {
		for _, k := range slices.SortedFunc(maps.Keys(table), store.Compare) {
			objects[r] = append(objects[r], table[k])
		}
	}
	names := pseudonym.Of(objects)
	l.found = map[string]map[store.Key]map[string]any{}
	for _, r := range slices.Sorted(maps.Keys(objects)) {
		l.found[r] = map[store.Key]map[string]any{}
		for _, m := range objects[r] {
			names.Object(r, m)
			l.found[r][keyOf(m)] = m
		}
	}
	info.Server, info.Context = "", ""
	info.Namespace, info.Scope = names.Name(info.Namespace), names.Name(info.Scope)
	for i := range info.Namespaces {
		info.Namespaces[i] = names.Name(info.Namespaces[i])
	}
	for i := range info.Missing {
		info.Missing[i].Namespace = names.Name(info.Missing[i].Namespace)
	}
}

// gateFlags are the feature gates that the flags of Kueue's controller set, of its Deployment.
func gateFlags(m map[string]any) []any {
	var out []any
	for _, c := range object.List(m, "spec", "template", "spec", "containers") {
		var args []string
		for _, a := range slices.Concat(object.List(c, "command"), object.List(c, "args")) {
			text, _ := a.(string)
			args = append(args, text)
		}
		for _, gates := range state.GateFlags(args) {
			out = append(out, state.GateFlag(gates))
		}
	}
	return out
}

// setGateFlags puts them back into the controller, whose other arguments are not kept.
func setGateFlags(objects []map[string]any, flags []any) {
	if len(flags) == 0 {
		return
	}
	for _, m := range objects {
		for _, c := range object.List(m, "spec", "template", "spec", "containers") {
			if c, ok := c.(map[string]any); ok {
				c["args"] = flags
				return
			}
		}
	}
}
