package startjob

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/internal/config"
)

// helpWithParameters makes --help show the parameters of the template that the command line names, if it names one.
func (o *Options) helpWithParameters(cmd *cobra.Command) {
	usual := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if o.Template == "" && o.File == "" || o.File == "-" {
			usual(cmd, args)
			return
		}
		if err := o.showTemplate(cmd); err != nil {
			fmt.Fprint(o.Factory.IO.Err, o.Factory.IO.ErrorText(err, o.Factory.Global.Debug))
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
	d, err := (&run{options: o, factory: f}).define(cmd.Context())
	if err != nil {
		return err
	}
	text, err := templatepage.Help(f.IO, d.template)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f.IO.Out, "%s\nAll other flags: hyperpod start-job --help\n", text)
	return err
}
