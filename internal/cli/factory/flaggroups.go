package factory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagGroup is a heading of a command's help and the flags under it, by name.
type FlagGroup struct {
	Title string
	Flags []string
}

// GroupFlags prints a command's own flags under headings, in the order given, and
// no wider than the terminal. Flags in no group come last, so that none is ever
// missing from the help; names that the command does not have are left out.
func (f *Factory) GroupFlags(cmd *cobra.Command, groups ...FlagGroup) {
	plain := cmd.UsageFunc()
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		if c == cmd { // otherwise a subcommand has inherited this
			defer c.SetUsageTemplate("")
			width := f.helpWidth()
			flags := wrapped(localFlags, width)
			c.SetUsageTemplate(strings.Replace(wrapped(c.UsageTemplate(), width), flags, literal(groupedFlags(c, groups, width)), 1))
		}
		return plain(c)
	})
}

// localFlags is the section of cobra's usage template that lists the flags.
const localFlags = `

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}`

// WrapFlags makes the help of root and every command below no wider than the
// terminal.
func (f *Factory) WrapFlags(root *cobra.Command) {
	root.SetUsageTemplate(wrapped(root.UsageTemplate(), f.helpWidth()))
}

// wrapped is a usage template that lists flags in lines of that width, 0 is any.
func wrapped(template string, width int) string {
	return strings.ReplaceAll(template, "Flags.FlagUsages |", fmt.Sprintf("Flags.FlagUsagesWrapped %d |", width))
}

// literal keeps text from being taken for a template.
func literal(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }

// helpWidth is the width of the terminal that the help goes to, 0 where it goes
// elsewhere.
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
