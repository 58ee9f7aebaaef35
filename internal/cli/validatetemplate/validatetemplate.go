// Package validatetemplate is `hyperpod validate-template`.
package validatetemplate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findtemplate"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	// Names are files, folders of them, "-" for stdin, or names of templates.
	Names []string
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "validate-template FILE|FOLDER|NAME...",
		Short: "Check templates, with line and column of every fault",
		Long: `Checks files ("-" is the standard input), folders or templates by name: YAML,
the header, every field and value of the kinds that are known. All faults are
told at once, by their place, as FILE:LINE:COLUMN: TEXT. Exit code 1 when there
are any.`,
		Example: `  hyperpod validate-template jobs/*.yaml
  hyperpod validate-template llama -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Names = args; len(args) == 0 {
				return errs.Usagef("which templates? give files or names").WithTry("hyperpod validate-template jobs/*.yaml")
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	complete := cobra.CompletionFunc(nil)
	f.CompleteArgs(cmd, factory.Templates)
	complete, cmd.ValidArgsFunction = cmd.ValidArgsFunction, nil
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, _ := complete(cmd, args, prefix)
		return words, cobra.ShellCompDirectiveDefault // files as well
	}
	return cmd
}

// verdict is one template's result, as JSON shows it.
type verdict struct {
	Name   string
	Source string
	Valid  bool
	Faults []parse.Fault
	Notes  []string
}

type document struct {
	Templates []verdict `json:"templates"`
}

// Run checks the templates.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	verdicts := []verdict{}
	faults := 0
	for _, name := range o.Names {
		files, err := inFolder(name)
		if err != nil {
			return err
		}
		for _, file := range files {
			v, err := o.check(ctx, file)
			if err != nil {
				return err
			}
			faults += len(v.Faults)
			verdicts = append(verdicts, v)
		}
	}
	if err := o.print(verdicts); err != nil {
		return err
	}
	if faults > 0 {
		if err := f.IO.Flush(); err != nil {
			return err
		}
		return errs.Silent{Code: errs.Failure}
	}
	return nil
}

// inFolder are the files that a folder's path stands for, else the name itself.
func inFolder(name string) ([]string, error) {
	if !catalogue.IsFile(name) && name != "." && name != ".." || !catalogue.IsFolder(name) {
		return []string{name}, nil
	}
	files, err := catalogue.Manifests(name)
	if err == nil && len(files) == 0 {
		err = errs.NotFoundf("no manifest in %s", name).WithFact("files", "*.yaml, *.yml, *.json")
	}
	return files, err
}

func (o *Options) print(verdicts []verdict) error {
	f := o.Factory
	if f.Global.Output != "" {
		format, err := f.Format()
		if err != nil {
			return err
		}
		if !format.IsTable() {
			return output.Print(f.IO, format, document{verdicts}, nil, nil)
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

// check checks one file or named template. An error means that there is none.
func (o *Options) check(ctx context.Context, name string) (verdict, error) {
	v := verdict{Name: name, Source: name, Faults: []parse.Fault{}, Notes: []string{}}
	if name != "-" && !isFile(name) || strings.HasPrefix(name, "team/") {
		t, err := findtemplate.Find(ctx, o.Factory, name, findtemplate.InNamespace(o.Factory))
		if err == nil {
			return v.of(t.Name, shown(t.Name, t.Source), t.Text), nil
		}
		if name, source, text, broken := parse.BrokenText(err); broken {
			return v.of(name, shown(name, source), text), nil
		}
		return v, err
	}
	data, err := o.Factory.ReadManifest(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, errs.NotFoundf("file %s not found", name).WithCause(err)
	}
	if err != nil {
		return v, errs.Wrap(err, "cannot read "+name)
	}
	base := filepath.Base(name)
	return v.of(strings.TrimSuffix(base, filepath.Ext(base)), name, data), nil
}

// isFile tells a file from the name of a template. Those of a folder may be JSON.
func isFile(name string) bool { return catalogue.IsFile(name) || filepath.Ext(name) == ".json" }

// shown is where a template is from, as editors understand it where it is a file.
func shown(name, source string) string {
	if ext := filepath.Ext(source); ext == ".yaml" || ext == ".yml" {
		return source
	}
	return name + " (" + source + ")"
}

func (v verdict) of(name, source string, data []byte) verdict {
	_, faults, notes := render.Check(name, source, data)
	v.Name, v.Source, v.Valid = name, source, len(faults) == 0
	v.Faults, v.Notes = append(v.Faults, faults...), append(v.Notes, notes...)
	return v
}
