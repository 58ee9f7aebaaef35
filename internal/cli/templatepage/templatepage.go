// Package templatepage shows a template to people and scripts: its description, its parameters and its fixed fields.
package templatepage

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Template is the JSON form of a template.
type Template struct {
	Name       string
	Kind       string
	Source     string
	Help       string
	Parameters []Parameter
	// Fixed lists the paths that users of the template cannot change.
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

// Widths of a page that does not go to a terminal. Nothing is cut, but without a width the longest default would set the
// length of every line. helpWidth is that of a man page.
const (
	pageWidth = 100
	helpWidth = 80
)

// Text returns the page about a template.
func Text(s *output.IO, t *parse.Template) (string, error) { return page(s, t, pageWidth) }

// Help returns the page as a part of a command's help.
func Help(s *output.IO, t *parse.Template) (string, error) { return page(s, t, helpWidth) }

// page returns the page in the width of the terminal, or in width without one.
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
		b.WriteString("No parameters. The flags of start-job still apply.\n")
	} else if err := into.PrintTable(table(t, into.Width > 0 && into.Width < narrow)); err != nil {
		return "", err
	}
	if paths := t.FixedPaths(); len(paths) > 0 {
		b.WriteString("\nFixed fields, which flags cannot change:\n")
		for _, p := range paths {
			b.WriteString("  " + output.Safe(p) + "\n")
		}
	}
	return b.String(), nil
}

// narrow is the width below which the column of types is hidden.
const narrow = 100

func table(t *parse.Template, short bool) output.Table {
	out := output.Table{Columns: []output.Column{{Title: "PARAMETER", Keep: true}, {Title: "TYPE", Wide: short}, {Title: "DEFAULT", Wrap: true}, {Title: "FLAG", Keep: true}, {Title: "HELP", Wrap: true}}}
	for _, p := range t.Params {
		flag := p.Flag
		if flag == "" {
			flag = "--set"
		}
		value := shortened(p.DefaultText())
		switch {
		case p.Fixed:
			flag = "- (fixed)"
		case p.Required && p.Default == nil:
			value = "(required)"
		case value == "":
			value = "-"
		}
		help := p.Help
		if len(p.Enum) > 0 {
			help = strings.TrimSpace(help + " (" + strings.Join(p.Enum, ", ") + ")")
		}
		out.Rows = append(out.Rows, output.T(p.Name, typeName(p), value, flag, help))
	}
	return out
}

// longest is the number of characters of a default that a page shows.
const longest = 400

// shortened returns a default for a page: its first line, at most longest characters.
func shortened(text string) string {
	text = strings.TrimRight(text, "\n")
	first, rest, more := strings.Cut(text, "\n")
	first = words.Cut(first, longest)
	if more {
		first += fmt.Sprintf(" … (%d lines)", 2+strings.Count(rest, "\n"))
	}
	return first
}
