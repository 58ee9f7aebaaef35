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

// Options are the arguments and flags of the command.
type Options struct {
	Factory *factory.Factory
	// NoCluster leaves out the templates of the team, which are on the cluster.
	NoCluster bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-templates",
		Aliases: []string{"list-template"},
		Short:   "List the templates that jobs can start from",
		Long: `List the templates in the working directory, in its folder jobs and in your
templates folder, the embedded templates, and the templates of the team. Team
templates are ConfigMaps of the namespace with the label cli.hyperpod/template.
If several templates have the same name, start-job uses the first in this order;
team/NAME always means the template of the team.`,
		Example: `  hyperpod list-templates
  hyperpod list-templates -n hyperpod-ns-researchers -o json`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, Run, runF),
	}
	cmd.Flags().BoolVar(&o.NoCluster, "no-cluster", false, "leave out the templates of the team, which are on the cluster")
	return cmd
}

// row is a template as JSON shows it.
type row struct {
	Name   string
	Kind   string
	Source string
	Help   string
}

// Document is what -o json prints.
type Document struct {
	Templates []row `json:"templates"`
}

// Validate implements factory.Options: every combination is valid.
func (o *Options) Validate() error { return nil }

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
		f.Notef("note: cannot use %s: %v", u.Source, u.Err)
	}
	rows := make([]row, 0, len(infos))
	for _, i := range infos {
		rows = append(rows, row{i.Name, i.JobKind(), i.Source, i.Help})
	}
	return output.Print(f.IO, format, Document{rows}, func() output.Table { return table(rows) }, func() []string {
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
	t := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "KIND", Keep: true}, {Title: "SOURCE", Wrap: true}, {Title: "DESCRIPTION", Wrap: true}}, Empty: "no templates found"}
	for _, r := range rows {
		t.Rows = append(t.Rows, output.T(r.Name, r.Kind, r.Source, r.Help))
	}
	return t
}
