package startjob

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// helpWithParameters makes --help show the parameters of the template that the
// command line names; without one it is the usual help.
func (o *Options) helpWithParameters(cmd *cobra.Command) {
	usual := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if o.Template == "" && o.File == "" || o.File == "-" {
			usual(cmd, args)
			return
		}
		if err := o.showTemplate(cmd); err != nil {
			fmt.Fprint(o.Factory.IO.Err, output.SafeLines(errs.Text(err, o.Factory.Global.Debug)))
			usual(cmd, args)
		}
	})
}

func (o *Options) showTemplate(cmd *cobra.Command) error {
	f := o.Factory
	var err error
	if f.Config, _, err = config.Load(f.Env); err != nil {
		return err
	}
	var t *parse.Template
	if o.File != "" {
		t, err = o.readFile(cmd.Context(), f)
	} else {
		t, err = o.named(cmd.Context(), f, o.Template)
	}
	if err != nil {
		return err
	}
	text, err := templatepage.Help(f.IO, t)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f.IO.Out, "%s\nAll other options: hyperpod start-job --help\n", text)
	return err
}
