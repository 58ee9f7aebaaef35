package sandboxcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

type advanceOptions struct {
	factory *factory.Factory
	by      time.Duration
}

func newAdvance(f *factory.Factory) *cobra.Command {
	o := &advanceOptions{factory: f}
	return &cobra.Command{
		Use:     "advance DURATION",
		Short:   "Move the clock of a sandbox forward",
		Long:    "Move the clock of a sandbox forward: running jobs finish, pending jobs start.",
		Example: "  hyperpod sandbox advance 2h --sandbox=lab",
		RunE:    factory.RunE(o, o.take, runAdvance, nil),
	}
}

func (o *advanceOptions) take(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		again := []string{"advance", "2h"}
		if name := o.factory.Global.Sandbox; name != "" {
			again = append(again, "--sandbox="+name)
		}
		return errs.Usagef("one duration is required").Suggest(errs.Run("sandbox", again...))
	}
	by, ok := words.ParseDuration(args[0])
	if !ok || by <= 0 {
		return errs.Usagef("invalid duration %q: must be a duration greater than 0, such as 1h30m or 7d", args[0])
	}
	o.by = by
	return nil
}

// Validate has nothing to check: take parses the only argument.
func (o *advanceOptions) Validate() error { return nil }

func runAdvance(ctx context.Context, o *advanceOptions) error {
	name := o.factory.SandboxName(factory.DefaultSandbox)
	box, err := offline.OpenSandbox(ctx, o.factory, name)
	if err != nil {
		return err
	}
	if err := box.Advance(ctx, o.by); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.factory.IO.Out, "Advanced sandbox %s to %s\n", name, box.Now().UTC().Format(time.RFC3339))
	return err
}
