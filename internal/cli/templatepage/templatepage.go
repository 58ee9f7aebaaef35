// Package templatepage shows a template to people and scripts: what it is for,
// its parameters and what it fixes.
package templatepage

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// Template is the JSON form of a template.
type Template struct {
	Name       string
	Kind       string
	Source     string
	Help       string
	Parameters []Parameter
	// Fixed lists the paths that the template keeps to itself.
	Fixed    []string
	Manifest string `json:",omitempty"`
}

// Parameter is the JSON form of a parameter.
type Parameter struct {
	Name     string
	Type     string
	Default  any
	Required bool
	Fixed    bool
	Enum     []string `json:",omitempty"`
	Flag     string   `json:",omitempty"`
	Help     string
}

// Document returns the JSON form.
func Document(t *parse.Template) Template {
	info := t.Info()
	out := Template{Name: t.Name, Kind: info.JobKind(), Source: t.Source, Help: t.Help, Parameters: []Parameter{}, Fixed: t.FixedPaths(), Manifest: string(t.Text)}
	for _, p := range t.Params {
		out.Parameters = append(out.Parameters, Parameter{p.Name, typeName(p), p.Default, p.Required, p.Fixed, p.Enum, p.Flag, p.Help})
	}
	return out
}

func typeName(p parse.Param) string {
	if p.Type == "" {
		return "any"
	}
	return p.Type
}

// What goes to no terminal is a page all the same, nothing of it cut: the longest
// default would make every line as long. A command's help is as wide as a page of man.
const (
	pageWidth = 100
	helpWidth = 80
)

// Text returns the template as people see it.
func Text(s *output.IO, t *parse.Template) (string, error) { return page(s, t, pageWidth) }

// Help returns the page as a part of a command's help.
func Help(s *output.IO, t *parse.Template) (string, error) { return page(s, t, helpWidth) }

// page is as wide as the terminal, else as width.
func page(s *output.IO, t *parse.Template, width int) (string, error) {
	var b bytes.Buffer
	into := *s
	into.Out = &b
	if !s.OutTTY {
		into.OutTTY, into.Width = true, width
	}
	fmt.Fprintf(&b, "%s  %s  (%s)\n", output.Safe(t.Name), output.Safe(t.Info().JobKind()), output.Safe(t.Source))
	if t.Help != "" {
		for line := range strings.Lines(output.SafeLines(t.Help)) {
			for _, l := range output.WrapText(strings.TrimRight(line, "\n"), into.Width) {
				b.WriteString(l + "\n")
			}
		}
	}
	b.WriteString("\n")
	if len(t.Params) == 0 {
		b.WriteString("It has no parameters; the options of start-job are laid over it.\n")
	} else if err := into.PrintTable(table(t, into.Width > 0 && into.Width < narrow)); err != nil {
		return "", err
	}
	if paths := t.FixedPaths(); len(paths) > 0 {
		b.WriteString("\nFixed, whatever the options say:\n")
		for _, p := range paths {
			b.WriteString("  " + output.Safe(p) + "\n")
		}
	}
	return b.String(), nil
}

// narrow is the width below which there is no room for the parameters' types.
const narrow = 100

func table(t *parse.Template, short bool) output.Table {
	out := output.Table{Columns: []output.Column{{Title: "PARAMETER", Keep: true}, {Title: "TYPE", Wide: short}, {Title: "DEFAULT", Wrap: true}, {Title: "OPTION", Keep: true}, {Title: "HELP", Wrap: true}}}
	for _, p := range t.Params {
		option := p.Flag
		if option == "" {
			option = "--set"
		}
		value := shortened(p.DefaultText())
		switch {
		case p.Fixed:
			option = "- (fixed)"
		case p.Required && p.Default == nil:
			value = "(required)"
		case value == "":
			value = "-"
		}
		help := p.Help
		if len(p.Enum) > 0 {
			help = strings.TrimSpace(help + " (" + strings.Join(p.Enum, ", ") + ")")
		}
		out.Rows = append(out.Rows, output.T(p.Name, typeName(p), value, option, help))
	}
	return out
}

// longest is how many characters of a default a page shows.
const longest = 400

// shortened is a default on a page: its first line, up to a bound.
func shortened(text string) string {
	text = strings.TrimRight(text, "\n")
	first, rest, more := strings.Cut(text, "\n")
	if r := []rune(first); len(r) > longest {
		first = string(r[:longest-1]) + "…"
	}
	if more {
		first += fmt.Sprintf(" … (%d lines)", 2+strings.Count(rest, "\n"))
	}
	return first
}
