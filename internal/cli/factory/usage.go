package factory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Invalid returns the usage error about the value of a flag. must says what is valid: "must be at least 1".
func Invalid(flag string, value any, must string) *errs.Error {
	return errs.Usagef("invalid --%s %q: %s", flag, fmt.Sprint(value), must)
}

// Excludes returns the usage error about two flags that cannot be used together.
func Excludes(flag, other string) *errs.Error {
	return errs.Usagef("--%s cannot be used with --%s", flag, other)
}

// Requires returns the usage error about a flag that has no effect without another: "--replace" or "--wait or --follow".
func Requires(flag, others string) *errs.Error {
	return errs.Usagef("--%s requires %s", flag, others)
}

// NoArgs refuses arguments where a command has none. Of a group, an argument is a command that does not exist: the words are
// cobra's, and the caller adds the commands that exist.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasAvailableSubCommands() && !cmd.Flags().Changed("sandbox") {
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	}
	if len(args) > 0 {
		e := errs.Usagef("%s takes no arguments (got %q)", cmd.Name(), args[0])
		if cmd.Flags().Changed("sandbox") {
			e.Suggest(errs.Option("--sandbox=" + args[0]).WithNote("names a sandbox"))
		}
		return e.Suggest(errs.Suggestion{Kind: errs.RunCommand, Args: append(strings.Fields(cmd.CommandPath())[1:], "--help")})
	}
	return nil
}
