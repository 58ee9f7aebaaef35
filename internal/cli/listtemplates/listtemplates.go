// Package listtemplates is `hyperpod list-templates`.
package listtemplates

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	// NoCluster leaves the team's templates out.
	NoCluster bool
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-templates",
		Aliases: []string{"list-template"},
		Short:   "List the templates that jobs can be started from",
		Long: `Lists templates: files of the working folder and its folder jobs, of your
templates folder, the embedded ones, and the team's, which are ConfigMaps of the
namespace with the label cli.hyperpod/template. The first of a name hides the
others; team/NAME is always the team's.`,
		Example: `  hyperpod list-templates
  hyperpod list-templates -n hyperpod-ns-researchers -o json`,
		Args: factory.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.NoCluster, "no-cluster", false, "do not ask the cluster for the team's templates")
	return cmd
}

// row is a template as JSON shows it.
type row struct {
	Name   string
	Kind   string
	Source string
	Help   string
}

type document struct {
	Templates []row `json:"templates"`
}

// Run lists the templates.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	infos, unusable := catalogue.All(f.TemplateDirs())
	if !o.NoCluster {
		found, broken := findtemplate.Team(ctx, f, findtemplate.InNamespace(f))
		infos, unusable = merge(infos, found), append(unusable, broken...)
	}
	for _, u := range unusable {
		f.Notef("note: %s cannot be used: %v", u.Source, u.Err)
	}
	rows := make([]row, 0, len(infos))
	for _, i := range infos {
		rows = append(rows, row{i.Name, i.JobKind(), i.Source, i.Help})
	}
	return output.Print(f.IO, format, document{rows}, func() output.Table { return table(rows) }, func() []string {
		var names []string
		for _, r := range rows {
			names = append(names, r.Name)
		}
		return names
	})
}

// merge adds the team's templates; one that another hides is called team/NAME.
func merge(infos []parse.Info, found []*parse.Template) []parse.Info {
	for _, t := range found {
		info := t.Info()
		if slices.ContainsFunc(infos, func(i parse.Info) bool { return i.Name == info.Name }) {
			info.Name = team.Prefix + info.Name
		}
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b parse.Info) int { return strings.Compare(a.Name, b.Name) })
	return infos
}

func table(rows []row) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "KIND", Keep: true}, {Title: "SOURCE", Wrap: true}, {Title: "HELP", Wrap: true}}, Empty: "no templates found"}
	for _, r := range rows {
		t.Rows = append(t.Rows, output.T(r.Name, r.Kind, r.Source, r.Help))
	}
	return t
}
