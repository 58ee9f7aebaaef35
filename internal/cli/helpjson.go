package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// HelpSchema is the name and version of the JSON of help --json.
const HelpSchema = "hyperpod.help/v1"

// HelpDocument describes commands for programs that call hyperpod.
type HelpDocument struct {
	Schema      string
	Version     string
	Commands    []HelpCommand
	GlobalFlags []HelpFlag
}

// HelpCommand is a command that can be run, with the flags of its own.
type HelpCommand struct {
	Command  string // with its parents: hyperpod governance plan
	Aliases  []string
	Usage    string
	Summary  string
	Help     string
	Examples []string
	Formats  []string // of -o
	Flags    []HelpFlag
}

// HelpFlag is a flag. WithoutValue is what the flag means without a value, null if it needs
// one.
type HelpFlag struct {
	Name         string
	Shorthand    *string
	Type         string
	Default      string
	WithoutValue *string
	Required     bool
	Help         string
}

// addHelpJSON gives the help command its text and its flag --json.
func addHelpJSON(f *factory.Factory, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		help.Short = "Show the help of a command or topic"
		help.Long = help.Short + ". Without one, list all of them."
		asJSON := help.Flags().Bool("json", false, "print commands with their flags, types and defaults as JSON, for programs")
		plain := help.Run
		help.Run = nil
		help.RunE = func(c *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noHelp(root, args)
			}
			if !*asJSON && !f.WantsJSON() {
				plain(c, args)
				return nil
			}
			if of.IsAdditionalHelpTopicCommand() && of.HasParent() {
				return errs.Usagef("help topic %s is not available as JSON", of.Name()).Suggest(errs.Run("help", of.Name()))
			}
			return output.Print(f.IO, output.Format{Name: output.JSON, Compact: f.Global.Output == string(output.JSONLines)}, helpOfTree(f, of), nil, nil)
		}
	}
}

// noHelp returns the error of a name that is neither a command nor a help topic.
func noHelp(root *cobra.Command, args []string) error {
	e := errs.Usagef("command or help topic %q not found", strings.Join(args, " "))
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	for _, name := range errs.Near(args[0], names) {
		e.Suggest(errs.Run("help", name))
	}
	return e.Suggest(errs.Run("help"))
}

func helpOfTree(f *factory.Factory, c *cobra.Command) HelpDocument {
	d := HelpDocument{Schema: HelpSchema, Version: f.Version, Commands: []HelpCommand{}, GlobalFlags: flagsOf(c.Root().PersistentFlags())}
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Runnable() && c.HasParent() {
			d.Commands = append(d.Commands, helpCommandOf(c))
		}
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(c)
	slices.SortFunc(d.Commands, func(a, b HelpCommand) int { return cmp.Compare(a.Command, b.Command) })
	return d
}

func helpCommandOf(c *cobra.Command) HelpCommand {
	h := HelpCommand{Command: c.CommandPath(), Aliases: append([]string{}, c.Aliases...), Usage: c.UseLine(), Summary: c.Short, Help: cmp.Or(c.Long, c.Short),
		Examples: []string{}, Formats: []string{}, Flags: flagsOf(c.LocalNonPersistentFlags())}
	for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", "")) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			h.Examples = append(h.Examples, line)
		}
	}
	for _, name := range formatsOf()[c.CommandPath()] {
		h.Formats = append(h.Formats, string(name))
	}
	return h
}

func flagsOf(fs *pflag.FlagSet) []HelpFlag {
	out := []HelpFlag{}
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, text := pflag.UnquoteUsage(f)
		_, required := f.Annotations[cobra.BashCompOneRequiredFlag]
		h := HelpFlag{Name: f.Name, Type: f.Value.Type(), Default: f.DefValue, Required: required, Help: text}
		if f.Shorthand != "" {
			h.Shorthand = &f.Shorthand
		}
		if f.NoOptDefVal != "" {
			h.WithoutValue = &f.NoOptDefVal
		}
		out = append(out, h)
	})
	slices.SortFunc(out, func(a, b HelpFlag) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
