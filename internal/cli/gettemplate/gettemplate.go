// Package gettemplate is `hyperpod get-template`.
package gettemplate

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// Options are the arguments and flags of the command.
type Options struct {
	Factory *factory.Factory
	Args    []string // one name
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "get-template NAME",
		Short: "Show the parameters or the manifest of a template",
		Long: `Show the parameters of a template, their defaults, and the flags that set them.
-o yaml prints the manifest unchanged.`,
		Example: `  hyperpod get-template pytorch
  hyperpod get-template pytorch -o yaml > jobs/mine.yaml
  hyperpod get-template team/llama -n hyperpod-ns-researchers`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	f.CompleteFirstArg(cmd, factory.Templates)
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	o.Args = args
	return nil
}

// Validate checks the arguments.
func (o *Options) Validate() error {
	if len(o.Args) != 1 || o.Args[0] == "" {
		return errs.Usagef("the name of one template is required").Suggest(errs.Run("list-templates").WithNote("shows the names"))
	}
	return nil
}

// Run shows the template.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	t, err := findtemplate.Find(ctx, f, o.Args[0], findtemplate.InNamespace(f))
	if err != nil {
		return ofJob(o.Args[0], err)
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

// ofJob adds to the error about a file that does not exist what NAMESPACE/NAME may mean.
func ofJob(name string, err error) error {
	var e *errs.Error
	named, bad := factory.SplitJob(name, "")
	if bad != nil || named.Namespace == "" || catalogue.HasExtension(name) || errs.ExitOf(err) != errs.NotFound || !errors.As(err, &e) || strings.HasPrefix(name, team.Prefix) {
		return err
	}
	return e.Suggest(errs.Run("get-template", team.Prefix+named.Name, "-n", named.Namespace).WithNote("shows the team's template"),
		errs.Run("start-job", "--from", name, "--name", named.Name+"-2").WithNote("repeats the job"))
}
