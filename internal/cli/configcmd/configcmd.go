// Package configcmd is `hyperpod config`: it shows and changes the settings of the
// configuration file.
package configcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed.
type Options struct {
	Factory *factory.Factory
	// Key and Value are the arguments.
	Key, Value string
	// Origin also shows where each value comes from.
	Origin bool
}

// Validate checks the options without looking at the file.
func (o *Options) Validate() error {
	if o.Key == "" {
		return nil
	}
	return config.CheckKey(o.Key)
}

// NewCmd returns the command with its subcommands.
func NewCmd(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change your settings",
		Long: `Show and change the settings of the configuration file. An environment variable
(HYPERPOD_ and the name of the setting) overrides the file. A flag overrides
both.

Settings:
` + settingsHelp(),
		Args: factory.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newView(f), newGet(f), newSet(f), newUnset(f))
	return cmd
}

// settingsHelp lists the settings.
func settingsHelp() string {
	var b strings.Builder
	for _, s := range config.Settings() {
		fmt.Fprintf(&b, "  %-21s  %s\n", s.Key, s.Takes)
	}
	return strings.TrimRight(b.String(), "\n")
}

func newView(f *factory.Factory) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "view",
		Short: "List all settings",
		Example: `  hyperpod config view
  hyperpod config view --origin`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, view, nil),
	}
	cmd.Flags().BoolVar(&o.Origin, "origin", false, "show where each value comes from: a flag, a variable, the file or the default")
	return cmd
}

func newGet(f *factory.Factory) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "get KEY",
		Short:   "Print the value of a setting",
		Example: `  hyperpod config get namespace`,
		RunE:    factory.RunE(o, take(o, 1), get, nil),
	}
	cmd.Flags().BoolVar(&o.Origin, "origin", false, "also print where the value comes from")
	completeKeys(f, cmd)
	return cmd
}

func newSet(f *factory.Factory) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change a setting in the configuration file",
		Long: `Change a setting in the configuration file. The command keeps all other lines of
the file, comments included.`,
		Example: `  hyperpod config set namespace hyperpod-ns-ml-engineers
  hyperpod config set confirm preempt`,
		RunE: factory.RunE(o, take(o, 2), set, nil),
	}
	completeKeys(f, cmd)
	return cmd
}

func newUnset(f *factory.Factory) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "unset KEY",
		Short:   "Remove a setting from the configuration file",
		Example: `  hyperpod config unset namespace`,
		RunE:    factory.RunE(o, take(o, 1), unset, nil),
	}
	completeKeys(f, cmd)
	return cmd
}

// take reads the arguments: a key, and a value where there are two.
func take(o *Options, n int) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			want := "the name of a setting is required"
			if n == 2 {
				want = "the name of a setting and its value are required"
			}
			return errs.Usagef("%s: got %s", want, words.Count(len(args), "argument", "arguments")).
				Suggest(errs.Run("config", "view").WithNote("shows the names"))
		}
		o.Key = args[0]
		if n == 2 {
			o.Value = args[1]
		}
		return nil
	}
}

// completeKeys completes the name of a setting and, for config set, its value.
func completeKeys(f *factory.Factory, cmd *cobra.Command) {
	values := map[string]factory.Lookup{"namespace": factory.Namespaces, "context": factory.Contexts, "default-template": factory.Templates}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var words []string
		switch {
		case len(args) == 0:
			words = config.Keys()
		case len(args) == 1 && cmd.Name() == "set" && values[args[0]] != nil:
			return f.CompleteWith(cmd, prefix, values[args[0]])
		case len(args) == 1 && cmd.Name() == "set":
			words = config.Words(args[0])
		}
		return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, prefix) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// row is a setting in a document.
type row struct {
	Name         string
	SettingValue string
	Origin       string
	Source       *string
}

// Document is what -o json prints.
type Document struct {
	Settings []row `json:"settings"`
}

// origins are the words for origins.
var origins = map[config.Origin]string{config.FromFlag: "Flag", config.FromEnv: "Variable", config.FromFile: "File", config.FromDefault: "Default"}

func rowOf(v config.Value) row {
	r := row{Name: v.Key, SettingValue: v.Shown(), Origin: origins[v.Origin]}
	if v.Source != "" {
		r.Source = &v.Source
	}
	return r
}

// from returns where a value comes from, in words.
func (r row) from() string {
	if r.Source == nil {
		return strings.ToLower(r.Origin)
	}
	return *r.Source
}

func view(_ context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	d := Document{Settings: []row{}}
	t := output.Table{Columns: []output.Column{{Title: "SETTING", Keep: true}, {Title: "VALUE", Keep: true}}, Empty: "no settings"}
	if o.Origin {
		t.Columns = append(t.Columns, output.Column{Title: "FROM"})
	}
	var names []string
	for _, v := range f.Config.Values() {
		r := rowOf(v)
		d.Settings = append(d.Settings, r)
		text := r.SettingValue
		if text == "" {
			text = "-"
		}
		cells := output.T(r.Name, text)
		if o.Origin {
			cells = output.T(r.Name, text, r.from())
		}
		t.Rows = append(t.Rows, cells)
		names = append(names, r.Name)
	}
	return output.Print(f.IO, format, d, func() output.Table { return t }, func() []string { return names })
}

func get(_ context.Context, o *Options) error {
	v, _ := o.Factory.Config.Value(o.Key)
	text := v.Shown()
	if o.Origin {
		text += "\t" + rowOf(v).from()
	}
	return o.Factory.IO.PrintLine(text)
}

func set(_ context.Context, o *Options) error {
	path, err := config.Set(o.Factory.Env, o.Key, o.Value)
	if err != nil {
		return err
	}
	o.overridden()
	o.absent()
	return o.Factory.IO.PrintLine("Set " + o.Key + " in " + path)
}

func unset(_ context.Context, o *Options) error {
	path, err := config.Unset(o.Factory.Env, o.Key)
	if err != nil {
		return err
	}
	o.overridden()
	return o.Factory.IO.PrintLine("Removed " + o.Key + " from " + path)
}

// absent notes a context that the kubeconfig does not have, yet or by mistake.
func (o *Options) absent() {
	if o.Key != "context" {
		return
	}
	contexts, err := kube.Contexts(o.Factory.Global.Kubeconfig, o.Factory.Env)
	if err == nil && !slices.Contains(contexts, o.Value) {
		o.Factory.Notef("note: the kubeconfig has no context %q; available: %s", o.Value, cmp.Or(words.Some(contexts, 12), "none"))
	}
}

// overridden notes a variable that wins over the file.
func (o *Options) overridden() {
	if v, _ := o.Factory.Config.Value(o.Key); v.Origin == config.FromEnv {
		o.Factory.Notef("note: %s=%s overrides the file", v.Source, v.Shown())
	}
}
