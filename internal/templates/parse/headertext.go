package parse

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// HeaderText writes a header document, including the line that ends it.
func HeaderText(help string, params []Param, fixed []FixedPath) []byte {
	top := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	put := func(n *yaml.Node, key string, v any) {
		vn, ok := v.(*yaml.Node)
		if !ok {
			vn, _ = manifest.ToYAML(v) // scalars and lists of them always can be written
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, vn)
	}
	if help != "" {
		put(top, "description", help)
	}
	list := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, p := range params {
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
		if p.Type != "" {
			put(n, "type", p.Type)
		}
		if p.Default != nil {
			put(n, "default", flow(p.DefaultAsWritten()))
		}
		if p.Required {
			put(n, "required", true)
		}
		if p.Fixed {
			put(n, "fixed", true)
		}
		if len(p.Enum) > 0 {
			put(n, "enum", flow(manifest.AnyList(p.Enum)))
		}
		if p.Help != "" {
			put(n, "help", p.Help)
		}
		put(list, p.Name, n)
	}
	if len(params) == 0 {
		list.Style = yaml.FlowStyle
	}
	put(top, "parameters", list)
	if len(fixed) > 0 {
		paths := make([]any, len(fixed))
		for i, f := range fixed {
			paths[i] = f.text
		}
		put(top, "fixed", paths)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	_ = enc.Encode(top) // into memory
	_ = enc.Close()
	b.WriteString("---\n")
	return b.Bytes()
}

func flow(v any) *yaml.Node {
	n, _ := manifest.ToYAML(v)
	if n != nil && n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	return n
}

// Change is what create-template changes in a template's header.
type Change struct {
	// Help replaces the description where it is not "".
	Help string
	// Defaults gives parameters other defaults, Fix does so for good; an item
	// without "=" fixes the default that there is. Require makes parameters
	// required and takes their default. FixPaths are paths into
	// the job, PATH or PATH=VALUE.
	Defaults, Fix, Require, FixPaths []string
}

// Empty reports whether nothing changes.
func (c Change) Empty() bool {
	return c.Help == "" && len(c.Defaults)+len(c.Fix)+len(c.Require)+len(c.FixPaths) == 0
}

// With returns the template with a changed header. The text of the manifest stays as it is, including comments.
func (t *Template) With(c Change) (*Template, error) {
	if c.Empty() {
		return t, nil
	}
	h := headerChange{t, slices.Clone(t.Params)}
	for _, d := range c.Defaults {
		if err := h.set(setting.Default, d, false); err != nil {
			return nil, err
		}
	}
	for _, f := range c.Fix {
		if err := h.set(setting.Fix, f, true); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Require {
		p, err := h.param(setting.Require, name)
		if err != nil {
			return nil, err
		}
		p.Required, p.Fixed = true, false
		p.SetDefault(nil)
	}
	fixed := slices.Clone(t.Fixed)
	for _, path := range c.FixPaths {
		f, why := newFixedPath(path)
		if why != "" {
			return nil, setting.FixPath.Invalid(path, "%s", why)
		}
		fixed = slices.DeleteFunc(fixed, func(old FixedPath) bool { return old.Path == f.Path })
		fixed = append(fixed, f)
	}
	help := t.Help
	if c.Help != "" {
		help = c.Help
	}
	return TextAllowing(t.Name, t.Source, append(HeaderText(help, h.params, fixed), t.manifest()...), t.Allow)
}

// headerChange is a change of the parameters of a template.
type headerChange struct {
	template *Template
	params   []Param
}

// param returns a parameter, and declares it if the manifest only mentions it. of is the flag that names it.
func (h *headerChange) param(of setting.Setting, name string) (*Param, error) {
	at := slices.IndexFunc(h.params, func(p Param) bool { return p.Name == name })
	if at < 0 && slices.Contains(h.template.Mentioned, name) {
		h.params = append(h.params, Param{Name: name})
		at = len(h.params) - 1
	}
	if at < 0 {
		return nil, errs.Wrap(h.template.Unknown(name), of.Flag())
	}
	p := &h.params[at]
	p.Declared = true
	if p.Type == "" {
		p.Type = cmp.Or(TypeOf[firstName(name)], "string")
	}
	return p, nil
}

// set sets the default of a parameter from NAME=VALUE. With fix, users cannot change it, and NAME alone fixes its default.
func (h *headerChange) set(of setting.Setting, text string, fix bool) error {
	name, value, given := strings.Cut(text, "=")
	p, err := h.param(of, name)
	if err != nil {
		return err
	}
	switch {
	case given:
		v, err := p.Convert(value)
		if err != nil {
			return of.Invalid(name, "%v", err)
		}
		p.SetDefault(v)
	case !fix:
		return of.Invalid(text, "must be NAME=VALUE")
	case p.Default == nil:
		return of.Invalid(name, "the parameter has no default").Suggest(of.Option(name + "=VALUE"))
	}
	p.Required, p.Fixed = false, p.Fixed || fix
	return nil
}

// TypeOf has the types of undeclared parameters with well-known names.
var TypeOf = map[setting.Setting]string{setting.NodeCount: "int", setting.TasksPerNode: "int", setting.Accelerators: "int", setting.EFA: "int", setting.Processes: "int",
	setting.ScriptArgs: "list", setting.Command: "list", setting.TorchrunFlags: "list", setting.MpirunFlags: "list"}

func firstName(name string) setting.Setting {
	c, _ := setting.OfPlaceholder(name)
	return c
}

// manifest returns the text of the template without its header.
func (t *Template) manifest() []byte {
	text := strings.ReplaceAll(strings.TrimPrefix(string(t.Text), "\ufeff"), "\r\n", "\n")
	if docs, err := manifest.Parse(t.Text); err == nil && len(docs) > len(t.Docs) && docs[0].Get("kind") == nil {
		// The header is a document: a line of dashes or dots after it ends it, and
		// dashes may have the next one's first value behind them.
		lines, started := strings.SplitAfter(text, "\n"), false
		for i, l := range lines {
			rest, dashes := strings.CutPrefix(l, "---")
			switch {
			case started && (dashes || strings.HasPrefix(l, "...")):
				if !dashes {
					rest = ""
				}
				return []byte(strings.TrimPrefix(rest+strings.Join(lines[i+1:], ""), "\n"))
			case !started:
				started = strings.TrimSpace(manifest.WithoutComment(rest)) != "" && !strings.HasPrefix(l, "%")
			}
		}
	}
	if header, _ := commentHeader(text); header != "" {
		lines := strings.SplitAfter(text, "\n")
		n := 0
		for n < len(lines) && (strings.HasPrefix(lines[n], "#") || strings.TrimSpace(lines[n]) == "") {
			n++
		}
		text = strings.Join(lines[n:], "")
	}
	return []byte(strings.TrimPrefix(text, "---\n"))
}
