// Package sandboxcmd is `hyperpod sandbox`: practice clusters on this machine.
package sandboxcmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// NewCmd returns the command with its subcommands.
func NewCmd(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Manage sandboxes: practice clusters on this machine",
		Long: `Manage sandboxes. A sandbox is a practice cluster in a file on this machine,
with teams, quota, nodes and Kueue's own rules. Every command works on it with
--sandbox[=NAME] or HYPERPOD_SANDBOX=NAME, without any network connection.

Scenarios:
` + scenarioHelp(),
		Args: factory.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCreate(f), newList(f), newServe(f), newAdvance(f), newDelete(f))
	return cmd
}

func scenarioHelp() string {
	var b strings.Builder
	for _, s := range sandbox.Scenarios() {
		fmt.Fprintf(&b, "  %-12s %s\n", s.Name, s.Help)
	}
	return strings.TrimRight(b.String(), "\n")
}

func scenarioNames() []string {
	var out []string
	for _, s := range sandbox.Scenarios() {
		out = append(out, s.Name)
	}
	return out
}

// takeName returns a take for factory.RunE that sets name to the only argument.
// Without an argument it sets fallback, or returns missing if that is nil.
func takeName(name *string, fallback func() string, missing *errs.Error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 1:
			return errs.Usagef("one sandbox at a time: got %s", strings.Join(args, ", "))
		case len(args) == 1:
			*name = factory.BareName(args[0], "sandbox")
		case fallback == nil:
			return missing
		default:
			*name = fallback()
		}
		return nil
	}
}
