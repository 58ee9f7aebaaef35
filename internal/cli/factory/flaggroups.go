package factory

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagGroup is a heading in the help of a command, and the names of the flags under it.
type FlagGroup struct {
	Title string
	Flags []string
}

// GroupFlags prints the flags of a command under headings, in the given order and in the width of the terminal. Flags
// without a group come last, so that the help is always complete. Names that the command does not have are left out.
func (f *Factory) GroupFlags(cmd *cobra.Command, groups ...FlagGroup) {
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		if c != cmd { // a subcommand has inherited this
			return f.PrintUsage(c)
		}
		return f.printUsage(c, groupedFlags(c, groups, f.helpWidth()))
	})
}

// OptionGroup is a part of a command's options, with a heading of its own in the help.
type OptionGroup interface {
	// Title is the heading.
	Title() string
	// AddFlags defines the flags of the group in the order of the help.
	AddFlags(cmd *cobra.Command)
	Options
}

// AddGroups defines the flags of the groups and prints them under their headings.
func (f *Factory) AddGroups(cmd *cobra.Command, groups []OptionGroup) {
	cmd.Flags().SortFlags = false
	var headings []FlagGroup
	known := map[string]bool{}
	for _, g := range groups {
		g.AddFlags(cmd)
		heading := FlagGroup{Title: g.Title()}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if !known[flag.Name] {
				known[flag.Name] = true
				heading.Flags = append(heading.Flags, flag.Name)
			}
		})
		headings = append(headings, heading)
	}
	f.GroupFlags(cmd, headings...)
}

// ValidateGroups validates the groups in order and returns the first error.
func ValidateGroups(groups []OptionGroup) error {
	for _, g := range groups {
		if err := g.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// helpWidth returns the width of the terminal, 0 if the help does not go to a terminal.
func (f *Factory) helpWidth() int {
	if !f.IO.OutTTY {
		return 0
	}
	return f.IO.Width
}

func groupedFlags(c *cobra.Command, groups []FlagGroup, width int) string {
	var out strings.Builder
	listed := map[string]bool{}
	write := func(title string, flags []*pflag.Flag) {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		shown := false
		for _, f := range flags {
			if !listed[f.Name] {
				listed[f.Name] = true
				set.AddFlag(f)
				shown = shown || !f.Hidden
			}
		}
		if shown {
			out.WriteString("\n\n" + title + ":\n" + strings.TrimRight(set.FlagUsagesWrapped(width), " \n"))
		}
	}
	for _, g := range groups {
		var flags []*pflag.Flag
		for _, name := range g.Flags {
			if f := c.LocalFlags().Lookup(name); f != nil {
				flags = append(flags, f)
			}
		}
		write(g.Title, flags)
	}
	var rest []*pflag.Flag
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { rest = append(rest, f) })
	write("Other", rest)
	return out.String()
}
