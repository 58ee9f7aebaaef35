// Package createtemplate is `hyperpod create-template`.
package createtemplate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/cli/newerfields"
	"github.com/hyperpod-cli/hyperpod/internal/cli/templatepage"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/convert"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// Options are the arguments and flags of the command.
type Options struct {
	Factory *factory.Factory
	Args    []string // one name

	From, File, Job, Kind  string // the source: one of the first three
	Project, Team, Replace bool
	AllowUnknown           bool
	DryRun                 string
	Change                 parse.Change
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "create-template NAME --from TEMPLATE|-f FILE|--job JOB",
		Short: "Create a template from another one, a manifest or job",
		Long: `Create a template from another template, a manifest or a job of the cluster.

If the manifest has no placeholders, its name, image, node count, instance type
and devices become parameters, and the current values become their defaults. The
same holds for a job. Environment values that look like secrets become required
parameters; the template does not contain them.

The template is written to your templates folder, with --project to ./jobs, with
--team to a ConfigMap that everyone in the namespace can use. --fix and
--fix-path protect values from changes by users of the template. --require makes
users give a value.`,
		Example: `  hyperpod create-template mine --from pytorch --default IMAGE=example.com/train:3
  hyperpod create-template pretrain --job smpv2-llama2 --team --fix INSTANCE_TYPE --fix-path spec.runPolicy.backoffLimit=3
  hyperpod create-template train -f train.yaml --project`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.From, "from", "", "template to start from")
	fs.StringVarP(&o.File, "file", "f", "", "manifest or template file; - for stdin")
	factory.TakesFile(fs, "file")
	fs.StringVar(&o.Job, "job", "", "job of the cluster to start from")
	factory.AddKindFlag(cmd, &o.Kind)
	fs.BoolVar(&o.Project, "project", false, "write the template to ./jobs")
	fs.BoolVar(&o.Team, "team", false, "write the template to a ConfigMap of the namespace")
	fs.BoolVar(&o.Replace, "replace", false, "replace an existing template of this name")
	newerfields.AddFlag(fs, &o.AllowUnknown, "keep")
	factory.AddText(fs, &o.Change.Help, factory.Text{Name: "description", Usage: "description of the template", Must: "must be UTF-8", Fits: utf8.ValidString})
	fs.StringArrayVar(&o.Change.Defaults, "default", nil, "new default of a parameter: NAME=VALUE (repeatable)")
	fs.StringArrayVar(&o.Change.Fix, "fix", nil, "parameter that users cannot change: NAME or NAME=VALUE (repeatable)")
	fs.StringArrayVar(&o.Change.Require, "require", nil, "parameter that users must give: NAME (repeatable)")
	fs.StringArrayVar(&o.Change.FixPaths, "fix-path", nil, "field that users cannot change: PATH or PATH=VALUE (repeatable; paths as for --set)")
	o.DryRun = factory.DryRunNone
	factory.AddChoice(cmd, &o.DryRun, factory.Choice{Name: "dry-run", Usage: "print the template and write nothing: none|client",
		Words: []string{factory.DryRunNone, factory.DryRunClient}, Bare: factory.DryRunClient})
	f.CompleteFlag(cmd, "from", factory.Templates)
	f.CompleteFlag(cmd, "job", factory.Jobs)
	for _, flag := range []string{"default", "fix", "require"} {
		parameters := factory.Parameters(func() string { return o.From })
		if flag == "require" {
			parameters = factory.WithoutSuffix(parameters, "=")
		}
		f.CompleteFlag(cmd, flag, parameters)
	}
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	o.Args = args
	return nil
}

// name returns the name of the template; Validate makes sure that there is one.
func (o *Options) name() string { return o.Args[0] }

// Validate checks the options alone: it reads no cluster and no file.
func (o *Options) Validate() error {
	if len(o.Args) != 1 {
		return errs.Usagef("exactly one template name is required").Suggest(errs.Run("create-template", "NAME", "--from", "pytorch"))
	}
	if err := team.CheckName(o.name()); err != nil {
		return err
	}
	given := slices.DeleteFunc([]string{o.From, o.File, o.Job}, func(s string) bool { return s == "" })
	switch {
	case len(given) != 1:
		return errs.Usagef("one source is required: --from TEMPLATE, -f FILE or --job JOB")
	case o.Project && o.Team:
		return factory.Excludes("project", "team")
	case o.Kind != "" && o.Job == "":
		return factory.Requires("kind", "--job")
	}
	return nil
}

// patience is how long to wait for the cluster's schema of a kind.
const patience = 5 * time.Second

// Run creates the template.
func Run(ctx context.Context, o *Options) error {
	var notes []string
	fields := newerfields.Decision{Factory: o.Factory, All: o.AllowUnknown || o.Job != "", Patience: patience, Does: "keeps", Note: func(f schema.Field, _ bool) {
		if note := schema.NoteKept(f); !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}}
	return fields.Offer(ctx, create(ctx, o, fields.Allow(ctx), &notes))
}

// create is Run with the decision about fields that the program does not know; the cluster has accepted those of a job. unknown are the
// notes about those that are allowed.
func create(ctx context.Context, o *Options, allow schema.Allow, unknown *[]string) error {
	f := o.Factory
	made, err := o.source(ctx, allow)
	if err != nil {
		return err
	}
	if made, err = made.With(o.Change); err != nil {
		return err
	}
	t, faults, notes := render.CheckAllowing(o.name(), o.name(), made.Text, allow)
	if len(faults) > 0 {
		e := errs.New("the template is not valid", "nothing is written")
		for _, fault := range faults {
			e.WithFact(fmt.Sprintf("line %d", fault.Line), fault.Message)
		}
		return e
	}
	f.Notes(append(*unknown, notes...))
	document := func() error {
		format, err := f.Format()
		if err != nil {
			return err
		}
		return output.Print(f.IO, format, templatepage.Document(t), nil, func() []string { return []string{t.Name} })
	}
	if o.DryRun == factory.DryRunClient {
		if f.Global.Output != "" {
			return document()
		}
		_, err := f.IO.Out.Write(t.Text)
		return err
	}
	where, err := o.write(ctx, t.Text)
	if err != nil {
		return err
	}
	t.Source = where
	if f.Global.Output != "" {
		return document()
	}
	_, err = fmt.Fprintf(f.IO.Out, "Created template %s (%s)\n", o.name(), where)
	return err
}

// isJob suggests --job where --from names no template but a job. err is the error of the search.
func (o *Options) isJob(ctx context.Context, err error) error {
	var absent *errs.Error
	if errs.ExitOf(err) != errs.NotFound || !errors.As(err, &absent) {
		return err
	}
	a, failed := factory.SplitJob(o.From, "")
	if failed != nil {
		return err
	}
	namespace, failed := a.In(o.Factory.Global.Namespace)
	if failed != nil {
		return err
	}
	c, failed := o.Factory.Cluster(ctx)
	if failed != nil {
		return err
	}
	job, failed := findjob.FindIn(ctx, o.Factory, c, namespace, "get", a.Name, a.Kind)
	if failed != nil {
		return err
	}
	named := kinds.Text(job.Object, "metadata", "namespace") + "/" + job.Name()
	return absent.WithFact("found", "job "+named).Suggest(errs.Run("create-template", o.name(), "--job", named))
}

// source reads the template, manifest or job that the options name.
func (o *Options) source(ctx context.Context, allow schema.Allow) (*parse.Template, error) {
	f := o.Factory
	if o.Job != "" {
		t, _, err := findtemplate.OfJob(ctx, f, o.Job, o.Kind, convert.Conversion{Name: o.name()})
		return t, err
	}
	if o.From != "" {
		t, err := findtemplate.Find(ctx, f, o.From, findtemplate.InNamespace(f))
		t, err = newerfields.Template(t, err, allow)
		return t, o.isJob(ctx, err)
	}
	data, err := f.ReadNamed(ctx, o.File)
	if err != nil {
		return nil, err
	}
	t, err := parse.TextAllowing(o.name(), o.File, data, allow)
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
