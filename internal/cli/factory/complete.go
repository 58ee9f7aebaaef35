package factory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/namecache"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// completionDeadline limits the time of a completion. After it, the shell gets no words.
const completionDeadline = time.Second

// Lookup finds the words that are valid at a position of the command line. A word may have a description behind a
// tab. With an error, it still returns the words that it found.
type Lookup func(ctx context.Context, f *Factory) ([]string, error)

// CompleteArgs attaches a completion to a command's arguments.
func (f *Factory) CompleteArgs(cmd *cobra.Command, l Lookup) {
	complete := f.completer(l)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, directive := complete(cmd, args, prefix)
		return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(args, Word(w)) }), directive
	}
}

// CompleteFirstArg attaches a completion to the first argument of a command; the words that follow it are not names.
func (f *Factory) CompleteFirstArg(cmd *cobra.Command, l Lookup) {
	complete := f.completer(l)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, prefix)
	}
}

// completer runs a lookup with the deadline. It prints no errors, because they would end up in the command line.
// BASH_COMP_DEBUG_FILE names a file that gets them.
func (f *Factory) completer(l Lookup) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return f.CompleteWith(cmd, prefix, l)
	}
}

// CompleteWith runs a lookup once, for completions that depend on the words typed
// so far.
func (f *Factory) CompleteWith(cmd *cobra.Command, prefix string, l Lookup) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionDeadline)
	defer cancel()
	f.Global.Quiet, f.completing = true, true
	type answer struct {
		words []string
		err   error
	}
	done := make(chan answer, 1)
	crash.Go(func() {
		f.Config, _, _ = config.Load(f.Env)
		words, err := l(ctx, f)
		done <- answer{words, err}
	})
	select {
	case <-ctx.Done():
		return nil, cobra.ShellCompDirectiveNoFileComp
	case a := <-done:
		if a.err != nil {
			cobra.CompDebugln(a.err.Error(), false)
		}
		slices.Sort(a.words)
		words := slices.DeleteFunc(slices.Compact(a.words), func(w string) bool { return !strings.HasPrefix(w, prefix) })
		if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.HasSuffix(Word(w), "=") }) {
			return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // a value follows
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Word returns the word of a completion, without its description.
func Word(completion string) string {
	word, _, _ := strings.Cut(completion, "\t")
	return word
}

// described adds a description to a word, its first line.
func described(word, text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if text == "" {
		return word
	}
	return word + "\t" + text
}

// CompleteGlobalFlags attaches completions to the global flags.
func (f *Factory) CompleteGlobalFlags(root *cobra.Command) {
	f.CompleteFlag(root, "namespace", Namespaces)
	Complete(root, "output", output.FormatNames()...)
	Complete(root, "output-version", outputVersions()...)
	Complete(root, "color", "auto", "always", "never")
	Complete(root, "error-format", ErrorText, ErrorJSON)
	Complete(root, "scheduler", config.Kubernetes, config.Slurm)
	f.CompleteFlag(root, "context", Contexts)
	f.CompleteFlag(root, "sandbox", Sandboxes)
}

// Contexts completes the contexts of the kubeconfig.
func Contexts(_ context.Context, f *Factory) ([]string, error) {
	return kube.Contexts(f.Global.Kubeconfig, f.Env)
}

// ExistingSandboxes completes the names of sandboxes.
func ExistingSandboxes(_ context.Context, f *Factory) ([]string, error) {
	boxes, err := f.Offline.Sandboxes()
	return describedAll(boxes), err
}

// describedAll returns the words of names with what they stand for.
func describedAll(names []Named) []string {
	var out []string
	for _, n := range names {
		out = append(out, described(n.Name, n.Text))
	}
	return out
}

// Sandboxes completes the names of sandboxes, and of scenarios that become one
// on first use.
func Sandboxes(ctx context.Context, f *Factory) ([]string, error) {
	out := describedAll(f.Offline.Scenarios())
	boxes, err := ExistingSandboxes(ctx, f)
	for _, b := range boxes {
		if !slices.ContainsFunc(out, func(w string) bool { return Word(w) == Word(b) }) {
			out = append(out, b)
		}
	}
	return out, err
}

// meta is all that completion needs of an object.
type meta struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
}

func listMeta(ctx context.Context, f *Factory, r kinds.Resource, namespace, selector string) ([]meta, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	return namecache.Recall(c.Names, func() ([]meta, error) {
		page, err := kube.List[meta](ctx, c.Client, r, namespace, kube.ListOptions{MetadataOnly: true, LabelSelector: selector})
		return page.Items, err
	}, r.Group, r.Version, r.Plural, namespace, selector)
}

// nameCache returns the cache of the names of a cluster. Who runs the completion, and with which kubeconfig, is part of
// its identity: users with other permissions see other names.
func (f *Factory) nameCache(t kube.Target) *namecache.Cache {
	dir, err := config.CacheDir(f.Env)
	if err != nil {
		return nil
	}
	as := t.Config.Impersonate
	return namecache.Open(filepath.Join(dir, "completion"), f.Config.CompletionCache, f.Now,
		f.Version, t.Server, t.User, as.UserName, strings.Join(as.Groups, ","), f.Global.Kubeconfig, f.Env("KUBECONFIG"))
}

// forgetting makes the first request that changes something empty the cache, so that the next completion finds what the
// command created.
func forgetting(names *namecache.Cache, observe func(kube.Request)) func(kube.Request) {
	var once sync.Once
	return func(r kube.Request) {
		if r.Method != http.MethodGet {
			once.Do(names.Forget)
		}
		if observe != nil {
			observe(r)
		}
	}
}

func list(ctx context.Context, f *Factory, r kinds.Resource, namespace, selector string) ([]string, error) {
	found, err := listMeta(ctx, f, r, namespace, selector)
	out := make([]string, 0, len(found))
	for _, i := range found {
		out = append(out, i.Metadata.Name)
	}
	return out, err
}

func namespaceFor(ctx context.Context, f *Factory) (string, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return "", err
	}
	if name := cmp.Or(f.Global.Namespace, f.Env(namespaceEnv), f.Config.Namespace); name != "" {
		return name, nil
	}
	if c.ContextNamespace != "" {
		return c.ContextNamespace, nil
	}
	ns, err := f.Namespace(ctx, c, "list", kinds.PyTorchJob.Resource)
	return ns.Name, err
}

// Namespaces completes namespaces.
func Namespaces(ctx context.Context, f *Factory) ([]string, error) {
	return list(ctx, f, kinds.Namespace, "", "")
}

// Queues completes the LocalQueues of the namespace.
func Queues(ctx context.Context, f *Factory) ([]string, error) {
	if c, err := f.Slurm(); c != nil || err != nil {
		return slurmPartitions(ctx, c, err)
	}
	ns, err := namespaceFor(ctx, f)
	if err != nil {
		return nil, err
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	r, err := reader.Served(ctx, c.Client, kinds.LocalQueue)
	if err != nil {
		return nil, err
	}
	return list(ctx, f, r, ns, "")
}

// priority is all that completion needs of a WorkloadPriorityClass.
type priority struct {
	meta
	Value int64 `json:"value"`
}

// Priorities completes WorkloadPriorityClasses.
func Priorities(ctx context.Context, f *Factory) ([]string, error) {
	found, err := kueueObjects[priority](ctx, f, kinds.WorkloadPriorityClass)
	var out []string
	for _, p := range found {
		out = append(out, described(p.Metadata.Name, fmt.Sprintf("value %d", p.Value)))
	}
	return out, err
}

// Jobs completes the names of jobs of every kind, listed in parallel. A kind that
// cannot be listed leaves the names of the others.
func Jobs(ctx context.Context, f *Factory) ([]string, error) {
	if c, err := f.Slurm(); c != nil || err != nil {
		return slurmWords(ctx, c, err)
	}
	return ofJobs(ctx, f, func(k kinds.Job, m meta) []string { return []string{described(m.Metadata.Name, k.Kind)} })
}

// Selectors completes label selectors with the labels that jobs of the namespace have.
func Selectors(ctx context.Context, f *Factory) ([]string, error) {
	return ofJobs(ctx, f, func(_ kinds.Job, m meta) (out []string) {
		for key, value := range m.Metadata.Labels {
			out = append(out, key+"="+value)
		}
		return out
	})
}

// JobLabels completes the keys of the labels that jobs of the namespace have.
func JobLabels(ctx context.Context, f *Factory) ([]string, error) {
	return ofJobs(ctx, f, func(_ kinds.Job, m meta) []string { return slices.Collect(maps.Keys(m.Metadata.Labels)) })
}

// Sweeps completes the names of the sweeps that jobs of the namespace belong to.
func Sweeps(ctx context.Context, f *Factory) ([]string, error) {
	return ofJobs(ctx, f, func(_ kinds.Job, m meta) []string {
		if name := m.Metadata.Labels[kinds.SweepLabel]; name != "" {
			return []string{name}
		}
		return nil
	})
}

// ofJobs returns words about each job of the namespace.
func ofJobs(ctx context.Context, f *Factory, of func(kinds.Job, meta) []string) ([]string, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	ns, err := namespaceFor(ctx, f)
	if err != nil {
		return nil, err
	}
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	found, failed := make([][]string, len(served)), make([]error, len(served))
	var wg crash.Group
	for i, k := range served {
		wg.Go(func() {
			var jobs []meta
			jobs, failed[i] = listMeta(ctx, f, k.Resource, ns, k.Selector)
			for _, m := range jobs {
				found[i] = append(found[i], of(k, m)...)
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...), errors.Join(failed...)
}

// WithSuffix makes each word of a lookup end in a suffix, for flags such as NAME=VALUE.
func WithSuffix(l Lookup, suffix string) Lookup {
	return changed(l, func(word string) string { return word + suffix })
}

// WithPrefix makes each word of a lookup begin with a prefix, the part of the value that is typed.
func WithPrefix(l Lookup, prefix string) Lookup {
	return changed(l, func(word string) string { return prefix + word })
}

// WithoutSuffix takes a suffix from each word of a lookup.
func WithoutSuffix(l Lookup, suffix string) Lookup {
	return changed(l, func(word string) string { return strings.TrimSuffix(word, suffix) })
}

// changed changes each word of a lookup, and keeps the descriptions.
func changed(l Lookup, change func(string) string) Lookup {
	return func(ctx context.Context, f *Factory) ([]string, error) {
		found, err := l(ctx, f)
		out := make([]string, 0, len(found))
		for _, w := range found {
			word, text, _ := strings.Cut(w, "\t")
			out = append(out, described(change(word), text))
		}
		return out, err
	}
}

// Parameters completes NAME= for the parameters of a template that can be set; name returns the template. Templates of
// the team are not read.
func Parameters(name func() string) Lookup {
	return func(_ context.Context, f *Factory) ([]string, error) {
		t, err := catalogue.Find(name(), f.TemplateDirs())
		if err != nil {
			return nil, err
		}
		var out []string
		for _, p := range t.Params {
			if !p.Fixed {
				out = append(out, described(p.Name+"=", cmp.Or(p.Help, p.Type)))
			}
		}
		return out, nil
	}
}

// Templates completes the names of templates. The team's are among them when the
// cluster names them in time, and the user may list ConfigMaps.
func Templates(ctx context.Context, f *Factory) ([]string, error) {
	var out []string
	for _, t := range catalogue.Names(f.TemplateDirs()) {
		out = append(out, described(t.Name, t.Help))
	}
	ctx, cancel := context.WithTimeout(ctx, completionDeadline/2)
	defer cancel()
	team, err := TeamTemplates(ctx, f)
	return append(out, team...), err
}

// TeamTemplates completes the names of the team's templates.
func TeamTemplates(ctx context.Context, f *Factory) ([]string, error) {
	ns, err := namespaceFor(ctx, f)
	if err != nil {
		return nil, err
	}
	return list(ctx, f, kinds.ConfigMap, ns, kinds.TemplateLabel)
}

// InstanceTypes completes the names of instance types.
func InstanceTypes(context.Context, *Factory) ([]string, error) {
	var out []string
	for _, t := range instances.All() {
		text := words.Count(t.VCPU, "vCPU", "vCPUs") + ", " + words.Count(t.MemoryGiB, "GiB", "GiB")
		if t.Accelerators > 0 {
			text = fmt.Sprintf("%d %s, %s", t.Accelerators, t.Resource, text)
		}
		out = append(out, described(t.Name, text))
	}
	return out, nil
}

// TemplateDirs returns the folders that templates come from.
func (f *Factory) TemplateDirs() catalogue.Dirs {
	d := catalogue.Dirs{Work: ".", User: f.Config.TemplatesDirectory}
	if d.User == "" {
		if dir, err := config.ConfigDir(f.Env); err == nil {
			d.User = filepath.Join(dir, "templates")
		}
	}
	return d
}
