package sandboxcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/historystore"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

type createOptions struct {
	factory        *factory.Factory
	name, scenario string
}

func newCreate(f *factory.Factory) *cobra.Command {
	o := &createOptions{factory: f}
	missing := errs.Usagef("a name for the new sandbox is required").Suggest(suggest.CreateSandbox("NAME", factory.DefaultSandbox))
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a sandbox from a scenario",
		Example: "  hyperpod sandbox create lab --scenario lend-three",
		RunE:    factory.RunE(o, takeName(&o.name, nil, missing), runCreate, nil),
	}
	cmd.Flags().StringVar(&o.scenario, "scenario", sandbox.DefaultScenario, "initial teams, quota, nodes and jobs: "+strings.Join(scenarioNames(), ", "))
	factory.Complete(cmd, "scenario", scenarioNames()...)
	return cmd
}

// Validate has nothing to check: offline.Path checks the name, Create the scenario.
func (o *createOptions) Validate() error { return nil }

func runCreate(ctx context.Context, o *createOptions) error {
	path, err := offline.Path(o.factory, o.name)
	if err != nil {
		return err
	}
	if _, err := sandbox.Create(ctx, path, o.scenario, offline.Options(o.factory)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.factory.IO.Out, "Created sandbox %s (%s)\n", o.name, o.scenario)
	return err
}

type deleteOptions struct {
	factory *factory.Factory
	name    string
}

func newDelete(f *factory.Factory) *cobra.Command {
	o := &deleteOptions{factory: f}
	missing := errs.Usagef("the name of the sandbox is required").Suggest(suggest.ListSandboxes())
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a sandbox and everything in it",
		RunE:  factory.RunE(o, takeName(&o.name, nil, missing), runDelete, nil),
	}
	f.CompleteFirstArg(cmd, factory.ExistingSandboxes)
	return cmd
}

// Validate has nothing to check: offline.Path checks the name.
func (o *deleteOptions) Validate() error { return nil }

func runDelete(ctx context.Context, o *deleteOptions) error {
	path, err := offline.Path(o.factory, o.name)
	if err != nil {
		return err
	}
	if err := sandbox.Delete(ctx, path, offline.Options(o.factory)); err != nil {
		return err
	}
	if err := historystore.Forget(o.factory, o.name); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.factory.IO.Out, "Deleted sandbox %s\n", o.name)
	return err
}
