// Package gettemplate is `hyperpod get-template`.
package gettemplate

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "get-template NAME",
		Short: "Show a template's parameters, or its manifest",
		Long: `Shows a template's parameters, their defaults and the options that give them a
value. -o yaml is the manifest as it is written.`,
		Example: `  hyperpod get-template pytorch
  hyperpod get-template pytorch -o yaml > jobs/mine.yaml
  hyperpod get-template team/llama -n hyperpod-ns-researchers`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return errs.Usagef("which template? give one name").WithTry("hyperpod list-templates   # shows the names")
			}
			o.Name = args[0]
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	f.CompleteArgs(cmd, factory.Templates)
	return cmd
}

// Run shows the template.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	t, err := findtemplate.Find(ctx, f, o.Name, findtemplate.InNamespace(f))
	if err != nil {
		return err
	}
	switch {
	case format.Name == output.YAML:
		text := string(t.Text)
		if f.IO.OutTTY {
			text = output.SafeLines(text)
		}
		_, err = io.WriteString(f.IO.Out, text)
		return err
	case format.IsTable():
		text, err := templatepage.Text(f.IO, t)
		if err != nil {
			return err
		}
		_, err = io.WriteString(f.IO.Out, text)
		return err
	}
	return output.Print(f.IO, format, templatepage.Document(t), nil, func() []string { return []string{t.Name} })
}
