package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Shells lists the shells that have a completion script, in the order of help.
func Shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func newCompletion(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell",
		Long: `Print a script that completes commands, flags, and the names of jobs,
namespaces, queues, priorities and templates. Load it as follows:

  bash        source <(hyperpod completion bash)         (needs bash-completion)
  zsh         hyperpod completion zsh > "${fpath[1]}/_hyperpod"
  fish        hyperpod completion fish >~/.config/fish/completions/hyperpod.fish
  powershell  hyperpod completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: Shells(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errs.Usagef("a shell is required").WithFact("must be one of", strings.Join(Shells(), ", "))
			}
			return WriteCompletion(cmd.Root(), args[0], f)
		},
	}
}

// WriteCompletion writes the completion script of one shell to the factory's stdout.
func WriteCompletion(root *cobra.Command, shell string, f *factory.Factory) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(f.IO.Out, true)
	case "zsh":
		return root.GenZshCompletion(f.IO.Out)
	case "fish":
		return root.GenFishCompletion(f.IO.Out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(f.IO.Out)
	}
	e := errs.Usagef("no completion script for shell %q", shell).WithFact("must be one of", strings.Join(Shells(), ", "))
	for _, n := range errs.Near(shell, Shells()) {
		e.Suggest(errs.Run("completion", n))
	}
	return e
}
