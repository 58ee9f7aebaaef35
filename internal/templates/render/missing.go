package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// programs are names that manifests leave to the program in the container, for example in the runtime environment of Ray.
var programs = []string{"HOME", "HOSTNAME", "LD_LIBRARY_PATH", "PATH", "PWD", "PYTHONPATH", "USER"}

// missingError lists every parameter without a value, and every placeholder that a
// program would get as text.
func missingError(t *parse.Template, names []string, left []unset) error {
	paths := map[string]string{}
	for _, u := range left {
		if !slices.Contains(names, u.name) {
			names, paths[u.name] = append(names, u.name), u.path
		}
	}
	e := errs.Usagef("template %s requires %d more values", t.Name, len(names))
	if len(names) == 1 {
		e = errs.Usagef("template %s requires a value for %s", t.Name, names[0])
	}
	var flags []string
	for _, name := range names {
		p, _ := t.Param(name)
		if p.Flag == "" {
			p.Flag = setting.FlagOfPlaceholder(name)
		}
		help := p.Help
		switch {
		case help == "" && paths[name] != "":
			help = "$" + name + " in " + paths[name]
		case help != "" || p.Line == 0:
		case p.Declared:
			help = fmt.Sprintf("declared in line %d", p.Line)
		default:
			help = fmt.Sprintf("used in line %d", p.Line)
		}
		how := setting.Set.Flag() + " " + name + "=VALUE"
		value := how
		if p.Flag != "" {
			how, value = p.Flag, p.Flag+" VALUE"
		}
		flags = append(flags, value)
		e.WithFact(name, strings.TrimSpace(help+" ("+how+")"))
	}
	e.Suggest(errs.Option(strings.Fields(strings.Join(flags, " "))...))
	var keep []string
	for _, name := range names {
		if p, _ := t.Param(name); paths[name] == "" && !p.Declared && slices.Contains(programs, name) {
			keep = append(keep, setting.Set.Flag(), name+"=${"+name+"}")
		}
	}
	if len(keep) > 0 {
		e.Suggest(errs.Option(keep...).WithNote("keeps the text as it is written, for the program in the container"))
	}
	if len(paths) > 0 {
		var allow []string
		for _, name := range manifest.SortedKeys(paths) {
			allow = append(allow, setting.AllowUnset.Flag(), name)
		}
		e.Suggest(errs.Option(allow...).WithNote("keeps the text as it is written"))
	}
	return e
}

// missing returns the parameters that are still needed: declared and required
// without a value, or left where only a value makes sense.
func missing(t *parse.Template, f *parse.Filler, objects []map[string]any) []string {
	var order []string
	left := map[string]bool{}
	look := func(text string, at manifest.Location) {
		for _, m := range at.Mentions(text) {
			if !at.Script && !left[m.Name] {
				left[m.Name] = true
				order = append(order, m.Name)
			}
		}
	}
	for _, o := range objects {
		n := manifest.FromPlain(o)
		manifest.Visit(n, manifest.Location{}, func(n *manifest.Node, at manifest.Location) { look(n.Str(), at) })
		manifest.VisitKeys(n, manifest.Location{}, func(fl manifest.Field, at manifest.Location) { look(fl.Key, at) })
	}
	var out []string
	listed := map[string]bool{}
	for _, p := range t.Params {
		if _, has := f.Values[p.Name]; !has && (p.Declared && p.Required || left[p.Name]) {
			listed[p.Name] = true
			out = append(out, p.Name)
		}
	}
	for _, name := range order {
		if _, has := f.Values[name]; !has && !listed[name] {
			out = append(out, name)
		}
	}
	return out
}
