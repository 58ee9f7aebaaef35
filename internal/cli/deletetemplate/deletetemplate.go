// Package deletetemplate is `hyperpod delete-template`.
package deletetemplate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory *factory.Factory
	Args    []string
	Yes     bool
	DryRun  string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "delete-template NAME",
		Short: "Delete a template of the team",
		Long: `Delete a template of the team: a ConfigMap of the namespace with the template's
label. Jobs that were started from it are not affected. On a terminal, the
command names these jobs and prompts.

Templates in your own folders are files; delete them there.`,
		Example: `  hyperpod delete-template llama -n hyperpod-ns-researchers
  hyperpod delete-template llama --yes`,
		Args: func(*cobra.Command, []string) error { return nil }, // Validate has better words
		RunE: factory.RunE(o, func(_ *cobra.Command, args []string) error { o.Args = args; return nil }, Run, runF),
	}
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not prompt for confirmation")
	factory.AddDryRunFlag(cmd, &o.DryRun, "print what would be deleted")
	f.CompleteFirstArg(cmd, factory.TeamTemplates)
	return cmd
}

// name returns the name without the prefix team/.
func (o *Options) name() string { return strings.TrimPrefix(o.Args[0], team.Prefix) }

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	if len(o.Args) != 1 {
		return errs.Usagef("one name of a template is required").Suggest(errs.Run("delete-template", "NAME"))
	}
	return team.CheckName(o.name())
}

// Run deletes the template.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	ns, err := f.Namespace(ctx, cluster, "delete", kinds.ConfigMap)
	if errors.Is(err, discovery.ErrSeveral) {
		return findtemplate.Elsewhere(ctx, f, o.name(), err, nil)
	}
	if err != nil {
		return err
	}
	uid, err := team.UID(ctx, cluster.Client, ns.Name, o.name())
	if err != nil {
		return o.elsewhere(err)
	}
	users := o.users(ctx, cluster, ns.Name)
	if len(users) > 0 {
		f.Notef("note: %s started from template %s: %s; deleting it does not affect them", words.Count(len(users), "job was", "jobs were"), o.name(), words.Clip(strings.Join(users, ", "), 200))
	}
	if o.DryRun == factory.DryRunNone && !o.Yes && f.CanAsk() {
		yes, err := f.Confirm(ctx, fmt.Sprintf("This deletes template %s of namespace %s. Continue?", o.name(), ns.Name))
		if err != nil || !yes {
			return err
		}
	}
	if o.DryRun != factory.DryRunClient {
		err := cluster.Delete(ctx, kinds.ConfigMap, ns.Name, o.name(), kube.DeleteOptions{UID: uid, DryRun: o.DryRun == factory.DryRunServer})
		if err != nil {
			return err
		}
	}
	return f.PrintDone("Deleted template "+o.name()+factory.DryRunSuffix(o.DryRun), "configmap/"+o.name())
}

// elsewhere adds to the error about a template that the team does not have where a template of that name is.
func (o *Options) elsewhere(err error) error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Code != errs.NotFound || strings.HasPrefix(o.Args[0], team.Prefix) {
		return err
	}
	t, absent := catalogue.Find(o.name(), o.Factory.TemplateDirs())
	switch {
	case absent != nil:
	case t.Source == catalogue.Embedded:
		e.WithFact("found", "an embedded template, which cannot be deleted")
	default:
		e.WithFact("found", "the file "+t.Source).WithAdvice("delete the file")
	}
	return err
}

// users returns the jobs of the namespace that were started from the template, as far as
// they can be read.
func (o *Options) users(ctx context.Context, c *factory.Cluster, namespace string) (names []string) {
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return nil
	}
	loaded, err := state.Load(ctx, c.Client, state.Want{Namespace: namespace, Jobs: served}, c.Now())
	if err != nil {
		return nil
	}
	for _, j := range loaded.Jobs {
		if j.Annotations[kinds.TemplateAnnotation] == o.name() {
			names = append(names, j.Name)
		}
	}
	return names
}
