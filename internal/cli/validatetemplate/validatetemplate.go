// Package validatetemplate is `hyperpod validate-template`.
package validatetemplate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

// Options are the arguments and flags of the command.
type Options struct {
	Factory *factory.Factory
	// Names are files, folders, "-" for stdin, or names of templates.
	Names []string
	// AllowUnknown accepts fields that the program does not know.
	AllowUnknown bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "validate-template FILE|FOLDER|NAME...",
		Short: "Check templates and report every fault",
		Long: `Check files, folders, templates by name, or the standard input (-): the YAML,
the header, every field and value of known kinds, and the rules of Kueue's
webhooks. The command prints all faults as FILE:LINE:COLUMN: TEXT. The exit code
is 1 if there are any.`,
		Example: `  hyperpod validate-template jobs/*.yaml
  hyperpod validate-template llama -o json`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	cmd.Flags().BoolVar(&o.AllowUnknown, "allow-unknown", false, "accept fields that this version does not know")
	complete := cobra.CompletionFunc(nil)
	f.CompleteArgs(cmd, factory.Templates)
	complete, cmd.ValidArgsFunction = cmd.ValidArgsFunction, nil
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, _ := complete(cmd, args, prefix)
		return words, cobra.ShellCompDirectiveDefault // files as well
	}
	return cmd
}

// Verdict is the result for one template, as in the JSON document.
type Verdict struct {
	Name   string
	Source string
	Valid  bool
	Faults []parse.Fault
	Notes  []string
}

// Document is the result in JSON and YAML.
type Document struct {
	Templates []Verdict `json:"templates"`
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	o.Names = args
	return nil
}

// Validate checks the arguments.
func (o *Options) Validate() error {
	if len(o.Names) == 0 {
		return errs.Usagef("at least one file or template name is required").Suggest(errs.Run("validate-template", "FILE"))
	}
	return nil
}

// Run checks the templates.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	verdicts := []Verdict{}
	faults := 0
	var unread error // templates that are missing do not hide the faults of the others
	for _, name := range o.Names {
		files, err := o.inFolder(ctx, name)
		unread = errs.Also(unread, err)
		for _, file := range files {
			v, err := o.check(ctx, file)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				unread = errs.Also(unread, err)
				continue
			}
			faults += len(v.Faults)
			verdicts = append(verdicts, v)
		}
	}
	var err error
	if len(verdicts) > 0 || unread == nil {
		err = o.print(verdicts)
	}
	if err == nil {
		err = f.IO.Flush()
	}
	switch {
	case err != nil && !output.IsBrokenPipe(err):
		return err
	case unread == nil && faults > 0:
		return output.Answered(err, errs.Failure)
	}
	return unread
}

// inFolder returns the manifests in a folder, or the name itself if it does not name a folder. A template with the name of a
// folder is meant, unless the name is a path.
func (o *Options) inFolder(ctx context.Context, name string) ([]string, error) {
	if !catalogue.IsFolder(name) {
		if o.plainFile(ctx, name) {
			return []string{"./" + name}, nil
		}
		return []string{name}, nil
	}
	if !catalogue.IsFile(name) && name != "." && name != ".." {
		if _, err := o.check(ctx, name); err == nil || errs.ExitOf(err) != errs.NotFound {
			return []string{name}, err
		}
	}
	return factory.ManifestsIn(name)
}

// plainFile reports a name of no template and without an extension, which a file in the working directory has.
func (o *Options) plainFile(ctx context.Context, name string) bool {
	if name == "-" || isFile(name) || strings.HasPrefix(name, "team/") {
		return false
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	_, err := o.check(ctx, name)
	return errs.ExitOf(err) == errs.NotFound
}

func (o *Options) print(verdicts []Verdict) error {
	f := o.Factory
	if f.Global.Output != "" {
		format, err := f.Format()
		if err != nil {
			return err
		}
		if !format.IsTable() {
			return output.Print(f.IO, format, Document{verdicts}, nil, nil)
		}
	}
	for _, v := range verdicts {
		if v.Valid {
			if _, err := fmt.Fprintf(f.IO.Out, "%s: valid\n", output.Safe(v.Source)); err != nil {
				return err
			}
		}
		for _, fault := range v.Faults {
			at := v.Source
			if fault.Line > 0 {
				at += fmt.Sprintf(":%d", fault.Line)
			}
			if fault.Column > 0 {
				at += fmt.Sprintf(":%d", fault.Column)
			}
			if _, err := fmt.Fprintf(f.IO.Out, "%s\n", output.Safe(at+": "+fault.Message)); err != nil {
				return err
			}
		}
		for _, n := range v.Notes {
			f.Notef("note: %s: %s", v.Source, n)
		}
	}
	return nil
}

// check checks one file or named template. It returns an error if the template cannot be read.
func (o *Options) check(ctx context.Context, name string) (Verdict, error) {
	v := Verdict{Name: name, Source: name, Faults: []parse.Fault{}, Notes: []string{}}
	if name != "-" && !isFile(name) || strings.HasPrefix(name, "team/") {
		t, err := findtemplate.Find(ctx, o.Factory, name, findtemplate.InNamespace(o.Factory))
		if err == nil {
			return o.verdict(ctx, v, t.Name, shown(t.Name, t.Source), t.Text), nil
		}
		if name, source, text, broken := parse.BrokenText(err); broken {
			return o.verdict(ctx, v, name, shown(name, source), text), nil
		}
		return v, err
	}
	data, err := o.Factory.ReadNamed(ctx, name)
	if err != nil {
		return v, err
	}
	base := filepath.Base(name)
	return o.verdict(ctx, v, strings.TrimSuffix(base, filepath.Ext(base)), name, data), nil
}

// isFile reports whether a name means a file and not a template. Files from a folder may be JSON.
func isFile(name string) bool { return catalogue.IsFile(name) || filepath.Ext(name) == ".json" }

// shown returns where a template is from. For a file it is the path alone, so that editors can open it.
func shown(name, source string) string {
	if ext := filepath.Ext(source); ext == ".yaml" || ext == ".yml" {
		return source
	}
	return name + " (" + source + ")"
}

func (o *Options) verdict(ctx context.Context, v Verdict, name, source string, data []byte) Verdict {
	var unknown []string
	var allow schema.Allow
	if o.AllowUnknown {
		allow = func(f schema.Field) bool {
			if note := schema.NoteUnchecked(f); !slices.Contains(unknown, note) {
				unknown = append(unknown, note)
			}
			return true
		}
	}
	t, faults, notes := render.CheckAllowing(name, source, data, allow)
	notes = append(unknown, notes...)
	if refused := refusedByKueue(ctx, t, faults); len(refused) > 0 {
		faults = append(faults, refused...)
		slices.SortStableFunc(faults, inFile)
	}
	v.Name, v.Source, v.Valid = name, source, len(faults) == 0
	v.Faults, v.Notes = append(v.Faults, faults...), append(v.Notes, notes...)
	return v
}
