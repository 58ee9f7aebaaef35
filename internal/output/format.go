package output

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Name is an output format without its argument.
type Name string

// The formats of -o.
const (
	JSON              Name = "json"
	JSONLines         Name = "jsonl" // a document, or a change, on each line
	YAML              Name = "yaml"
	TableFormat       Name = "table"
	Wide              Name = "wide"
	NameFormat        Name = "name"
	Prometheus        Name = "prometheus"
	SARIF             Name = "sarif"
	Markdown          Name = "markdown"
	Terraform         Name = "terraform"
	HTML              Name = "html"
	CSV               Name = "csv"
	FOCUS             Name = "focus-csv"
	PrometheusRules   Name = "prometheus-rules" // alert rules for Prometheus
	JSONPath          Name = "jsonpath"
	JSONPathFile      Name = "jsonpath-file"
	CustomColumns     Name = "custom-columns"
	CustomColumnsFile Name = "custom-columns-file"
)

var plain = []Name{JSON, JSONLines, YAML, TableFormat, Wide, NameFormat, Prometheus, SARIF, Markdown, Terraform, HTML, CSV, FOCUS, PrometheusRules}

var templated = []Name{JSONPath, JSONPathFile, CustomColumns, CustomColumnsFile}

// Format is a parsed -o. The zero value is not valid: use ParseFormat.
type Format struct {
	Name Name
	// Template is the jsonpath template or the custom-columns specification. From a
	// file it is read already, and Name is JSONPath or CustomColumns.
	Template string
	// Compact: Name is JSON, and a document is one line.
	Compact bool

	path    *jsonPath
	columns []customColumn
}

// IsTable reports whether the format is table or wide.
func (f Format) IsTable() bool { return f.Name == TableFormat || f.Name == Wide }

// FormatNames returns the values of -o for help and completion; those with an argument end in "=".
func FormatNames() []string {
	var out []string
	for _, n := range plain {
		out = append(out, string(n))
	}
	for _, n := range templated {
		out = append(out, string(n)+"=")
	}
	return out
}

// ParseFormat parses the value of -o, reading the file of a -file format. An empty value means table on a terminal and
// JSON elsewhere. Errors have exit code 2, except for a file that cannot be read.
func ParseFormat(value string, tty bool) (Format, error) {
	if value == "" {
		if tty {
			return Format{Name: TableFormat}, nil
		}
		return Format{Name: JSON}, nil
	}
	name, argument, hasArgument := strings.Cut(value, "=")
	n := Name(strings.ToLower(name))
	switch {
	case n == JSONLines && !hasArgument:
		return Format{Name: JSON, Compact: true}, nil
	case slices.Contains(plain, n) && !hasArgument:
		return Format{Name: n}, nil
	case slices.Contains(plain, n):
		return Format{}, errs.Usagef("output format %s takes no argument", n)
	case !slices.Contains(templated, n):
		return Format{}, withNear(errs.Usagef("output format %q not found", name), name, FormatNames())
	case argument == "":
		return Format{}, errs.Usagef("output format %s requires an argument", n).Suggest(example(n))
	}
	if n == JSONPathFile || n == CustomColumnsFile {
		text, err := readTemplate(argument)
		if err != nil {
			return Format{}, err
		}
		argument = text
	}
	return parseTemplate(n, argument)
}

// parseTemplate parses the text of a format that takes one.
func parseTemplate(n Name, text string) (Format, error) {
	f := Format{Template: text}
	var err error
	switch n {
	case CustomColumns:
		f.Name = CustomColumns
		f.columns, err = parseCustomColumns(text)
	case CustomColumnsFile:
		f.Name = CustomColumns
		f.columns, err = parseCustomColumnsFile(text)
	default:
		f.Name = JSONPath
		f.path, err = parseJSONPath(text)
	}
	return f, err
}

// example suggests what shows the keys for a template: they differ by command.
func example(n Name) errs.Suggestion {
	switch n {
	case JSONPath, CustomColumns:
		return errs.Option("-o", "json").WithNote("shows the keys")
	}
	return errs.Option("-o", string(n)+"=FILE")
}

func readTemplate(path string) (string, error) {
	data, err := bounded.File(path, bounded.Settings)
	if err != nil {
		return "", errs.Wrap(err, "cannot read the template "+path)
	}
	return string(data), nil
}
