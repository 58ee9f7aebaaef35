package factory

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// completionDeadline limits the time of a completion. After it, the shell gets no words.
const completionDeadline = time.Second

// Lookup finds the words that are valid at a position of the command line. With an error, it still returns the
// words that it found.
type Lookup func(ctx context.Context, f *Factory) ([]string, error)

// Complete attaches the completion from a fixed list to a flag.
func Complete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a programming error, seen by every test
	}
}

// CompleteFlag attaches a completion that asks the cluster to a flag.
func (f *Factory) CompleteFlag(cmd *cobra.Command, flag string, l Lookup) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f.completer(l)); err != nil {
		panic(err)
	}
}

// CompleteArgs attaches a completion to a command's arguments.
func (f *Factory) CompleteArgs(cmd *cobra.Command, l Lookup) {
	complete := f.completer(l)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, directive := complete(cmd, args, prefix)
		return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(args, w) }), directive
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
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteGlobalFlags attaches completions to the global flags.
func (f *Factory) CompleteGlobalFlags(root *cobra.Command) {
	f.CompleteFlag(root, "namespace", Namespaces)
	Complete(root, "output", output.FormatNames()...)
	Complete(root, "color", "auto", "always", "never")
	f.CompleteFlag(root, "context", func(context.Context, *Factory) ([]string, error) {
		return kube.Contexts(f.Global.Kubeconfig, f.Env)
	})
	f.CompleteFlag(root, "sandbox", Sandboxes)
}

// Sandboxes completes the names of sandboxes, and of scenarios that become one
// on first use.
func Sandboxes(_ context.Context, f *Factory) ([]string, error) {
	var out []string
	for _, s := range sandbox.Scenarios() {
		out = append(out, s.Name)
	}
	dir, err := f.SandboxDir()
	if err != nil {
		return out, nil
	}
	boxes, err := sandbox.List(dir, f.SandboxOptions())
	for _, b := range boxes {
		out = append(out, b.Name)
	}
	return out, err
}

// meta is all that completion needs of an object.
type meta struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func list(ctx context.Context, f *Factory, r kinds.Resource, namespace, selector string) ([]string, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	page, err := kube.List[meta](ctx, c.Client, r, namespace, kube.ListOptions{MetadataOnly: true, LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(page.Items))
	for _, i := range page.Items {
		out = append(out, i.Metadata.Name)
	}
	return out, nil
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

// Priorities completes WorkloadPriorityClasses.
func Priorities(ctx context.Context, f *Factory) ([]string, error) {
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	r, err := reader.Served(ctx, c.Client, kinds.WorkloadPriorityClass)
	if err != nil {
		return nil, err
	}
	return list(ctx, f, r, "", "")
}

// Jobs completes the names of jobs of every kind, listed in parallel. A kind that
// cannot be listed leaves the names of the others.
func Jobs(ctx context.Context, f *Factory) ([]string, error) {
	if c, err := f.Slurm(); c != nil || err != nil {
		return slurmWords(ctx, c, err)
	}
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
	names, failed := make([][]string, len(served)), make([]error, len(served))
	var wg crash.Group
	for i, k := range served {
		wg.Go(func() { names[i], failed[i] = list(ctx, f, k.Resource, ns, k.Selector) })
	}
	wg.Wait()
	return slices.Concat(names...), errors.Join(failed...)
}

// Templates completes the names of templates. The team's are among them when the
// cluster names them in time, and the user may list ConfigMaps.
func Templates(ctx context.Context, f *Factory) ([]string, error) {
	var out []string
	for _, t := range catalogue.Names(f.TemplateDirs()) {
		out = append(out, t.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, completionDeadline/2)
	defer cancel()
	ns, err := namespaceFor(ctx, f)
	if err != nil {
		return out, err
	}
	team, err := list(ctx, f, kinds.ConfigMap, ns, kinds.TemplateLabel)
	return append(out, team...), err
}

// InstanceTypes completes the names of instance types.
func InstanceTypes(context.Context, *Factory) ([]string, error) {
	var out []string
	for _, t := range instances.All() {
		out = append(out, t.Name)
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
