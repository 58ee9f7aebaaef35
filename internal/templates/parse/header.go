package parse

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

type header struct {
	help   string
	params []Param
	fixed  []FixedPath
}

// readHeader finds the header: the first document if it has "parameters" or "fixed" and no kind, or a comment
// at the top of the file with such a line. It returns the remaining documents and all faults in the header.
func readHeader(docs []*manifest.Node, data []byte) (h header, rest []*manifest.Node, faults []error) {
	if len(docs) > 0 && isHeader(docs) {
		h, faults := parseHeader(docs[0])
		return h, docs[1:], faults
	}
	text, first := commentHeader(string(data))
	if text == "" {
		return header{}, docs, nil
	}
	parsed, faults := manifest.ParseAll([]byte(text))
	if len(faults) == 0 && len(parsed) != 1 {
		faults = append(faults, manifest.Faultf(first, "the comment with the parameters is not valid YAML").Col(1))
	}
	if len(parsed) != 1 || parsed[0].Faulty {
		return header{}, docs, faults
	}
	h, more := parseHeader(parsed[0])
	return h, docs, append(faults, more...)
}

// isHeader reports whether the first document is a header, by its fields, including misspelt ones. A document
// of an object has other fields.
func isHeader(docs []*manifest.Node) bool {
	first := docs[0]
	if first.Kind != manifest.MapNode || first.Get("kind") != nil || first.Get("apiVersion") != nil {
		return false
	}
	if first.Get("parameters") != nil || first.Get("fixed") != nil {
		return true
	}
	return len(docs) > 1 && len(first.Fields) > 0 && !slices.ContainsFunc(first.Fields, func(f manifest.Field) bool {
		return len(errs.Near(f.Key, headerFieldNames)) == 0
	})
}

// HeaderField is a field that a template's header, or a parameter's declaration in
// it, can have. Type is text, bool, list, map or any.
type HeaderField struct {
	Name, Type, Help string
	Enum             []string
}

// HeaderFields returns the fields of a header.
func HeaderFields() []HeaderField {
	return []HeaderField{
		{Name: "description", Type: "text", Help: "One line that says what the template is for."},
		{Name: "parameters", Type: "map", Help: "The parameters by name: a declaration, or only the default."},
		{Name: "fixed", Type: "list", Help: "Paths into the job, such as spec.runPolicy, that users of the template cannot change. PATH=VALUE also sets the value, PATH=null removes it."},
	}
}

// ParamFields returns the fields of a parameter's declaration.
func ParamFields() []HeaderField {
	return []HeaderField{
		{Name: "type", Type: "text", Help: "The type of the values.", Enum: slices.Clone(paramTypes)},
		{Name: "default", Type: "any", Help: "The value if none is set."},
		{Name: "required", Type: "bool", Help: "Whether a value is required."},
		{Name: "fixed", Type: "bool", Help: "Whether the default is the only allowed value."},
		{Name: "help", Type: "text", Help: "The meaning of the parameter."},
		{Name: "enum", Type: "list", Help: "The allowed values."},
	}
}

func names(fields []HeaderField) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// Its keys distinguish a header from other text.
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
		if comment && isHeaderLine(body, []string{"kind"}) {
			return "", 0 // an object that is commented out may have parameters of its own
		}
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

// ParamName matches a valid name of a parameter.
var ParamName = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

var paramTypes = []string{"string", "int", "number", "bool", "quantity", "list"}

// parseHeader reads a header and returns all faults in it. A parameter with a fault stays, without the faulty
// part.
func parseHeader(doc *manifest.Node) (h header, faults []error) {
	if doc.Kind != manifest.MapNode {
		return h, []error{manifest.Faultf(doc.Line, "the header must be a map with description and parameters").Col(doc.Column)}
	}
	for _, f := range doc.Fields {
		if f.Value.Faulty {
			continue
		}
		key := f.Key
		if near := errs.Near(key, headerFieldNames); !slices.Contains(headerFieldNames, key) {
			faults = append(faults, manifest.Faultf(f.Line, "the header has no field %q%s", manifest.Clip(key), manifest.DidYouMean(near)).Col(f.Column))
			if len(near) == 0 || doc.Get(near[0]) != nil {
				continue
			}
			key = near[0]
		}
		switch key {
		case "description":
			h.help = strings.TrimSpace(f.Value.Str())
		case "parameters":
			if f.Value.Kind != manifest.MapNode {
				if f.Value.Kind != manifest.ScalarNode || f.Value.Value != nil {
					faults = append(faults, manifest.Faultf(f.Line, "parameters must map each name to its type, default, required, fixed, help and enum").Col(f.Column))
				}
				continue
			}
			for _, pf := range f.Value.Fields {
				p, wrong := parseParam(pf)
				faults = append(faults, wrong...)
				h.params = append(h.params, p)
			}
		case "fixed":
			paths, wrong := parseFixed(f.Value)
			faults = append(faults, wrong...)
			h.fixed = paths
		}
	}
	return h, faults
}

// parseParam reads one declaration and returns all faults in it. A scalar or list instead of a map is the
// default.
func parseParam(f manifest.Field) (p Param, faults []error) {
	p = Param{Name: f.Key, Declared: true, Flag: setting.FlagOfPlaceholder(f.Key), Line: f.Line, Column: f.Column}
	faultf := func(line, column int, format string, args ...any) {
		faults = append(faults, manifest.Faultf(line, format, args...).Col(column))
	}
	if !ParamName().MatchString(f.Key) {
		faultf(f.Line, f.Column, "%q is not a valid parameter name: use letters, digits and _", manifest.Clip(f.Key))
	}
	if f.Value.Kind != manifest.MapNode {
		p.SetDefault(f.Value.AsWritten())
		p.Type = typeOf(p.Default)
		return p, faults
	}
	typeIsWrong := false
	for _, a := range f.Value.Fields {
		if a.Value.Faulty {
			continue
		}
		key := a.Key
		if near := errs.Near(key, paramFieldNames); !slices.Contains(paramFieldNames, key) {
			faultf(a.Line, a.Column, "parameter %s: no field %q%s", p.Name, manifest.Clip(key), manifest.DidYouMean(near))
			if len(near) == 0 || f.Value.Get(near[0]) != nil {
				continue
			}
			key = near[0]
		}
		switch key {
		case "type":
			p.Type = a.Value.Str()
			if typeIsWrong = !slices.Contains(paramTypes, p.Type); typeIsWrong {
				faultf(a.Line, a.Value.Column, "parameter %s: type %q not found; the types are %s", p.Name, manifest.Clip(a.Value.Str()), strings.Join(paramTypes, ", "))
				p.Type = ""
			}
		case "default":
			p.SetDefault(a.Value.AsWritten())
		case "required", "fixed":
			b, ok := a.Value.Value.(bool)
			if !ok {
				faultf(a.Line, a.Value.Column, "parameter %s: %s must be true or false", p.Name, key)
			} else if key == "required" {
				p.Required = b
			} else {
				p.Fixed = b
			}
		case "help":
			p.Help = strings.TrimSpace(a.Value.Str())
		case "enum":
			for _, e := range a.Value.Items {
				p.Enum = append(p.Enum, manifest.TextOf(e.AsWritten()))
			}
			if len(p.Enum) == 0 {
				faultf(a.Line, a.Value.Column, "parameter %s: enum must be a list of values", p.Name)
			}
		}
	}
	if p.Type == "" && !typeIsWrong {
		p.Type = typeOf(p.Default)
	}
	if err := p.checkFixed(f); err != nil {
		faults, p.Fixed = append(faults, err), false
	}
	if p.Default != nil {
		v, err := p.Convert(p.DefaultAsWritten())
		if err != nil {
			faultf(f.Line, f.Column, "parameter %s: invalid default: %v", p.Name, err)
		}
		p.SetDefault(v)
	}
	return p, faults
}

// typeOf returns the type of a parameter without a declared type: the type of its default.
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
