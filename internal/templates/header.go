package templates

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

type header struct {
	help   string
	params []Param
	fixed  []fixedPath
}

// readHeader finds the header: the first document when it has "parameters" or
// "fixed" and no kind, or a comment at the top of the file with such a line. It
// returns the documents that are left.
func readHeader(docs []*manifest.Node, data []byte) (header, []*manifest.Node, error) {
	if len(docs) > 0 && docs[0].Kind == manifest.MapNode && docs[0].Get("kind") == nil && (docs[0].Get("parameters") != nil || docs[0].Get("fixed") != nil) {
		h, err := parseHeader(docs[0])
		return h, docs[1:], err
	}
	text, first := commentHeader(string(data))
	if text == "" {
		return header{}, docs, nil
	}
	parsed, err := manifest.Parse([]byte(text))
	if err != nil || len(parsed) != 1 {
		if err == nil {
			err = manifest.Faultf(first, "the comment with the parameters is not understood")
		}
		return header{}, docs, err
	}
	h, err := parseHeader(parsed[0])
	return h, docs, err
}

// HeaderField is a field that a template's header, or a parameter's declaration in
// it, can have. Type is text, bool, list, map or any.
type HeaderField struct {
	Name, Type, Help string
	Enum             []string
}

// HeaderFields are the fields of a header.
func HeaderFields() []HeaderField {
	return []HeaderField{
		{Name: "description", Type: "text", Help: "What the template is for, in a line."},
		{Name: "parameters", Type: "map", Help: "The template's parameters: a declaration, or only the default, by name."},
		{Name: "fixed", Type: "list", Help: "Paths into the job, such as spec.runPolicy, whose values nobody who uses the template can change; PATH=VALUE gives the value too, PATH=null says that there is none."},
	}
}

// ParamFields are the fields of a parameter's declaration.
func ParamFields() []HeaderField {
	return []HeaderField{
		{Name: "type", Type: "text", Help: "The values that the parameter takes.", Enum: slices.Clone(paramTypes)},
		{Name: "default", Type: "any", Help: "The value when none is given."},
		{Name: "required", Type: "bool", Help: "Whether a value has to be given."},
		{Name: "fixed", Type: "bool", Help: "Whether the default is the only value."},
		{Name: "help", Type: "text", Help: "What the parameter is."},
		{Name: "enum", Type: "list", Help: "The values to choose from."},
	}
}

func names(fields []HeaderField) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// A header is told from other text by its marks.
var (
	headerFieldNames = names(HeaderFields())
	headerMarks      = []string{"parameters", "fixed"}
	paramFieldNames  = names(ParamFields())
)

func isHeaderLine(line string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(line, n+":") })
}

// commentHeader returns the comment block at the top as YAML when it declares
// parameters, padded so that lines keep their numbers, and its first line.
func commentHeader(text string) (string, int) {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var out []string
	start := -1
	for i, l := range lines {
		body, comment := strings.CutPrefix(l, "#")
		if !comment && strings.TrimSpace(l) != "" {
			break
		}
		body = strings.TrimPrefix(body, " ")
		if start < 0 && isHeaderLine(body, headerFieldNames) {
			start = i
		}
		if start < 0 || !comment {
			body = ""
		}
		out = append(out, body)
	}
	if start < 0 || !slices.ContainsFunc(out, func(l string) bool { return isHeaderLine(l, headerMarks) }) {
		return "", 0
	}
	return strings.Join(out, "\n"), start + 1
}

var paramName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var paramTypes = []string{"string", "int", "number", "bool", "quantity", "list"}

// parseHeader reads a header; the error joins all faults.
func parseHeader(doc *manifest.Node) (header, error) {
	var h header
	if doc.Kind != manifest.MapNode {
		return h, manifest.Faultf(doc.Line, "the header is a map with description and parameters").Col(doc.Column)
	}
	var faults []error
	for _, f := range doc.Fields {
		switch f.Key {
		case "description":
			h.help = strings.TrimSpace(f.Value.Str())
		case "parameters":
			if f.Value.Kind != manifest.MapNode {
				if f.Value.Kind != manifest.ScalarNode || f.Value.Value != nil {
					faults = append(faults, manifest.Faultf(f.Line, "parameters is a map from a name to its type, default, required, fixed, help and enum").Col(f.Column))
				}
				continue
			}
			for _, pf := range f.Value.Fields {
				p, err := parseParam(pf)
				if err != nil {
					faults = append(faults, err)
				}
				h.params = append(h.params, p)
			}
		case "fixed":
			var err error
			if h.fixed, err = parseFixed(f.Value); err != nil {
				faults = append(faults, err)
			}
		default:
			faults = append(faults, manifest.Faultf(f.Line, "the header has no field %q%s", f.Key, manifest.Meant(errs.Near(f.Key, headerFieldNames))).Col(f.Column))
		}
	}
	return h, errors.Join(faults...)
}

// parseParam reads one declaration. A scalar or list instead of a map is the
// default.
func parseParam(f manifest.Field) (Param, error) {
	p := Param{Name: f.Key, Declared: true, Flag: flagFor(f.Key), line: f.Line}
	if !paramName.MatchString(f.Key) {
		return p, manifest.Faultf(f.Line, "%q cannot be a parameter's name: letters, digits and _ only", manifest.Clip(f.Key))
	}
	if f.Value.Kind != manifest.MapNode {
		p.setDefault(f.Value.Said())
		p.Type = typeOf(p.Default)
		return p, nil
	}
	for _, a := range f.Value.Fields {
		switch a.Key {
		case "type":
			p.Type = a.Value.Str()
			if !slices.Contains(paramTypes, p.Type) {
				return p, manifest.Faultf(a.Line, "parameter %s: no type %q, it is one of %s", p.Name, a.Value.Str(), strings.Join(paramTypes, ", ")).Col(a.Value.Column)
			}
		case "default":
			p.setDefault(a.Value.Said())
		case "required":
			b, ok := a.Value.Value.(bool)
			if !ok {
				return p, manifest.Faultf(a.Line, "parameter %s: required is true or false", p.Name)
			}
			p.Required = b
		case "fixed":
			b, ok := a.Value.Value.(bool)
			if !ok {
				return p, manifest.Faultf(a.Line, "parameter %s: fixed is true or false", p.Name).Col(a.Value.Column)
			}
			p.Fixed = b
		case "help":
			p.Help = strings.TrimSpace(a.Value.Str())
		case "enum":
			for _, e := range a.Value.Items {
				p.Enum = append(p.Enum, manifest.TextOf(e.Said()))
			}
			if len(p.Enum) == 0 {
				return p, manifest.Faultf(a.Line, "parameter %s: enum is a list of values", p.Name)
			}
		default:
			return p, manifest.Faultf(a.Line, "parameter %s: no field %q%s", p.Name, a.Key,
				manifest.Meant(errs.Near(a.Key, paramFieldNames))).Col(a.Column)
		}
	}
	if p.Type == "" {
		p.Type = typeOf(p.Default)
	}
	if err := p.checkFixed(f); err != nil {
		return p, err
	}
	if p.Default != nil {
		v, err := p.convert(p.value())
		if err != nil {
			return p, manifest.Faultf(f.Line, "parameter %s: its default is wrong: %v", p.Name, err).Col(f.Column)
		}
		p.setDefault(v)
	}
	return p, nil
}

// typeOf is the type of a parameter whose declaration names none: its default's.
func typeOf(v any) string {
	switch v.(type) {
	case int64:
		return "int"
	case float64:
		return "number"
	case bool:
		return "bool"
	case []any:
		return "list"
	}
	return "string"
}
