// Package createtemplate is `hyperpod create-template`.
package createtemplate

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	Name    string

	From, File, Job, Kind  string // what it is made of: one of the first three
	Project, Team, Replace bool
	DryRun                 string
	Change                 parse.Change
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "create-template NAME --from TEMPLATE|-f FILE|--job JOB",
		Short: "Make a template of another one, a manifest or a job",
		Long: `Makes a template. Of a manifest without placeholders, and of a job of the
cluster, name, image, node count, instance type and devices become parameters
whose defaults are the job's own; environment values that look secret become
required parameters and are not copied.

It is written to your templates folder, with --project to ./jobs, with --team to
a ConfigMap of the namespace, for everybody in it. --fix and --fix-path keep
values as they are whatever its users say; --require makes them say a value.`,
		Example: `  hyperpod create-template mine --from pytorch --default IMAGE=example.com/train:3
  hyperpod create-template llama --job smpv2-llama2 --team --fix INSTANCE_TYPE --fix-path spec.runPolicy
  hyperpod create-template train -f train.yaml --project`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errs.Usagef("the template needs one name").WithTry("hyperpod create-template NAME --from pytorch")
			}
			o.Name = args[0]
			if err := o.Validate(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.From, "from", "", "the template to start from")
	fs.StringVarP(&o.File, "file", "f", "", "manifest or template file; - is the standard input")
	fs.StringVar(&o.Job, "job", "", "job of the cluster")
	factory.AddKindFlag(cmd, &o.Kind)
	fs.BoolVar(&o.Project, "project", false, "write it to the folder jobs in the working folder")
	fs.BoolVar(&o.Team, "team", false, "write it to a ConfigMap of the namespace")
	fs.BoolVar(&o.Replace, "replace", false, "replace a template of that name")
	fs.StringVar(&o.Change.Help, "description", "", "what the template is for")
	fs.StringArrayVar(&o.Change.Defaults, "default", nil, "another default for a parameter, NAME=VALUE, repeatable")
	fs.StringArrayVar(&o.Change.Fix, "fix", nil, "a parameter that its users cannot change, NAME or NAME=VALUE, repeatable")
	fs.StringArrayVar(&o.Change.Require, "require", nil, "a parameter that its users have to give, NAME, repeatable")
	fs.StringArrayVar(&o.Change.FixPaths, "fix-path", nil, "a field that its users cannot change, PATH or PATH=VALUE as in --set, repeatable")
	o.DryRun = factory.DryRunNone
	factory.AddChoice(cmd, &o.DryRun, factory.Choice{Name: "dry-run", Usage: "none|client: print the template and write nothing",
		Words: []string{factory.DryRunNone, factory.DryRunClient}, Bare: factory.DryRunClient})
	f.CompleteFlag(cmd, "from", factory.Templates)
	f.CompleteFlag(cmd, "job", factory.Jobs)
	return cmd
}

// Validate checks the options without looking at a cluster or a file.
func (o *Options) Validate() error {
	if err := team.CheckName(o.Name); err != nil {
		return err
	}
	given := slices.DeleteFunc([]string{o.From, o.File, o.Job}, func(s string) bool { return s == "" })
	switch {
	case len(given) != 1:
		return errs.Usagef("a template is made of one thing: --from TEMPLATE, -f FILE or --job JOB")
	case o.Project && o.Team:
		return errs.Usagef("--project and --team are two places: give one of them")
	case o.Kind != "" && o.Job == "":
		return errs.Usagef("--kind is for --job")
	}
	return nil
}

// Run makes the template.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	made, err := o.source(ctx)
	if err != nil {
		return err
	}
	if made, err = made.With(o.Change); err != nil {
		return err
	}
	t, faults, notes := render.Check(o.Name, o.Name, made.Text)
	if len(faults) > 0 {
		e := errs.New("the template would not work", "nothing is written")
		for _, fault := range faults {
			e.WithFact(fmt.Sprintf("line %d", fault.Line), fault.Message)
		}
		return e
	}
	f.Notes(notes)
	if o.DryRun == factory.DryRunClient {
		_, err := f.IO.Out.Write(t.Text)
		return err
	}
	where, err := o.write(ctx, t.Text)
	if err != nil {
		return err
	}
	t.Source = where
	if f.Global.Output != "" {
		format, err := f.Format()
		if err != nil {
			return err
		}
		return output.Print(f.IO, format, templatepage.Document(t), nil, func() []string { return []string{t.Name} })
	}
	_, err = fmt.Fprintf(f.IO.Out, "Successfully created template %s (%s)\n", o.Name, where)
	return err
}

// source makes the template of what the options name.
func (o *Options) source(ctx context.Context) (*parse.Template, error) {
	f := o.Factory
	if o.Job != "" {
		t, _, err := findtemplate.OfJob(ctx, f, o.Job, o.Kind, convert.Conversion{Name: o.Name, Help: "made of the job " + o.Job})
		return t, err
	}
	if o.From != "" {
		return findtemplate.Find(ctx, f, o.From, findtemplate.InNamespace(f))
	}
	data, err := readSource(ctx, f, o.File)
	if err != nil {
		return nil, err
	}
	t, err := parse.Text(o.Name, o.File, data)
	if err != nil || len(t.Params) > 0 {
		return t, err
	}
	general, notes, err := convert.Generalize(t)
	if err != nil {
		return nil, err
	}
	f.Notes(notes)
	return general, nil
}
