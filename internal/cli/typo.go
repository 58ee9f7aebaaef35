package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// completing returns the words of a command line that a shell completes, the last one in part.
func completing(args []string) (words []string, ok bool) {
	if len(args) < 2 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return nil, false
	}
	return args[1:], true
}

// typo returns the mistake in words that a shell completes, nil if there is none: an unknown command or flag.
func typo(root *cobra.Command, words []string) error {
	typed, last := words[:len(words)-1], words[len(words)-1]
	cmd, rest, err := root.Find(typed)
	if err != nil {
		return asUsage(root, typed, err)
	}
	if cmd.DisableFlagParsing {
		return nil
	}
	cmd.InitDefaultHelpFlag()
	var unknown *pflag.NotExistError
	if err := cmd.ParseFlags(rest); errors.As(err, &unknown) {
		return flagError(cmd, err)
	}
	if name, _, value := strings.Cut(last, "="); value && strings.HasPrefix(name, "--") && cmd.Flag(name[2:]) == nil && cmd.Flags().ArgsLenAtDash() < 0 {
		if err := cmd.ParseFlags([]string{name}); errors.As(err, &unknown) {
			return flagError(cmd, err)
		}
	}
	return nil
}

// printTypo answers a shell: no words and no names of files, and a line about the mistake where the shell can show one.
func printTypo(out io.Writer, root *cobra.Command, program string, err error) {
	var e *errs.Error
	if errors.As(err, &e) && cobra.GetActiveHelpConfig(root) != "0" {
		text := e.What
		for _, fact := range e.Facts {
			text += "; " + fact.Label + " " + fact.Text
		}
		if len(e.Try) > 1 { // the last one is the help
			again := e.Try[0]
			again.Program = program
			text += "; try " + again.String()
		}
		fmt.Fprintln(out, cobra.AppendActiveHelp(nil, text)[0])
	}
	fmt.Fprintf(out, ":%d\n", cobra.ShellCompDirectiveNoFileComp)
}
