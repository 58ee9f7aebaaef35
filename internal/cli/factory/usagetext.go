package factory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// PrintUsage prints the usage of a command as cobra does, with flags in the width of the terminal. It takes the place of
// cobra's usage template: a program that executes a template keeps every exported method of every type that it links,
// a third of this binary.
func (f *Factory) PrintUsage(c *cobra.Command) error {
	flags := ""
	if c.HasAvailableLocalFlags() {
		flags = "\n\nFlags:\n" + flagUsages(c.LocalFlags(), f.helpWidth())
	}
	return f.printUsage(c, flags)
}

// printUsage prints the usage of a command with a given section of its own flags.
func (f *Factory) printUsage(c *cobra.Command, flags string) error {
	var out strings.Builder
	out.WriteString("Usage:")
	if c.Runnable() {
		out.WriteString("\n  " + c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		out.WriteString("\n  " + c.CommandPath() + " [command]")
	}
	if len(c.Aliases) > 0 {
		out.WriteString("\n\nAliases:\n  " + c.NameAndAliases())
	}
	if c.HasExample() {
		out.WriteString("\n\nExamples:\n" + c.Example)
	}
	if c.HasAvailableSubCommands() {
		writeCommands(&out, c)
	}
	out.WriteString(flags)
	if c.HasAvailableInheritedFlags() {
		out.WriteString("\n\nGlobal Flags:\n" + flagUsages(c.InheritedFlags(), f.helpWidth()))
	}
	if c.HasHelpSubCommands() {
		out.WriteString("\n\nAdditional help topics:")
		for _, sub := range c.Commands() {
			if sub.IsAdditionalHelpTopicCommand() {
				fmt.Fprintf(&out, "\n  %-*s %s", sub.CommandPathPadding(), sub.CommandPath(), sub.Short)
			}
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "\n\nUse \"%s [command] --help\" for more information about a command.", c.CommandPath())
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), f.asCalled(out.String()))
	return err
}

// asCalled names the program in the command lines of a text as it was called.
func (f *Factory) asCalled(text string) string {
	if f.Program == "" {
		return text
	}
	var pairs []string
	for _, before := range []string{"\n  ", "&& ", "| ", "\""} {
		pairs = append(pairs, before+"hyperpod ", before+f.Program+" ")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// writeCommands writes the subcommands of a command under the titles of its groups.
func writeCommands(out *strings.Builder, c *cobra.Command) {
	write := func(title, group string) {
		out.WriteString("\n\n" + title)
		for _, sub := range c.Commands() {
			if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(out, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, group := range c.Groups() {
		write(group.Title, group.ID)
	}
	switch {
	case len(c.Groups()) == 0:
		write("Available Commands:", "")
	case !c.AllChildCommandsHaveGroup():
		write("Additional Commands:", "")
	}
}

// flagUsages returns the lines of flags, wrapped at a width; 0 is no limit.
func flagUsages(flags *pflag.FlagSet, width int) string {
	return strings.TrimRight(flags.FlagUsagesWrapped(width), " \n")
}
