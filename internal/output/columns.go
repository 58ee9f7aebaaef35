package output

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"k8s.io/client-go/util/jsonpath"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// customColumn is one column of -o custom-columns.
type customColumn struct {
	title string
	path  *jsonPath
}

// absent stands for a value that is not there, as in kubectl.
const absent = "<none>"

// Lister is a document that names its list of rows: custom-columns prints one line for each. Without it the rows are the
// document's items, or its only list, else the document itself.
type Lister interface{ List() any }

// parseCustomColumns parses "TITLE:PATH,TITLE:PATH". Commas within brackets,
// braces and quotes do not separate. As in kubectl, blanks belong to the title, and an empty path finds nothing.
func parseCustomColumns(spec string) ([]customColumn, error) {
	var out []customColumn
	for _, part := range splitOutside(spec, ',') {
		title, path, ok := strings.Cut(part, ":")
		if !ok {
			return nil, errs.Usagef("custom-columns: %q is not TITLE:PATH", part).Suggest(example(CustomColumns))
		}
		c, err := newColumn(title, path)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// parseCustomColumnsFile parses kubectl's file form: a line of titles and a
// line of as many paths, separated by blanks.
func parseCustomColumnsFile(text string) ([]customColumn, error) {
	var lines [][]string
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	if len(lines) != 2 || len(lines[0]) != len(lines[1]) {
		return nil, errs.Usagef("a custom-columns file has a line of titles and a line of as many paths").
			WithFact("example", "NAME            KIND\n.metadata.name  .kind")
	}
	var out []customColumn
	for i, title := range lines[0] {
		c, err := newColumn(title, lines[1][i])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func newColumn(title, path string) (customColumn, error) {
	p, err := parsePath(path, columnPath(path))
	return customColumn{title, p}, err
}

// columnPath returns the template for the path of a column. kubectl reads "x", ".x", "{x}" and "{.x}" as "{.x}", an empty
// path as no template, and refuses everything else. This tool also reads other templates, and paths that start at the root.
func columnPath(path string) string {
	inner, open := strings.CutPrefix(path, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	switch {
	case path == "", inner == "", open != closed, strings.ContainsAny(inner, "{}"):
		return path
	case strings.ContainsAny(inner[:1], "[$@"):
		return "{" + inner + "}"
	case len(inner) > 1:
		inner = strings.TrimPrefix(inner, ".")
	}
	return "{." + inner + "}"
}

// splitOutside splits s at separators that are not within quotes or brackets.
func splitOutside(s string, separator byte) []string {
	var out []string
	var quote byte
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case c == separator && depth <= 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// customText prints the columns of a document byte for byte as kubectl does: three blanks
// between columns, of at least six characters each.
func customText(columns []customColumn, document any) ([]byte, error) {
	if l, ok := document.(Lister); ok {
		document = l.List()
	}
	// Nil lists stay null here: else they could be taken for the rows.
	value, err := readBack(document)
	if err != nil {
		return nil, err
	}
	find := make([]*jsonpath.JSONPath, len(columns))
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.title
		if find[i], err = c.path.parser(); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 6, 4, 3, ' ', 0)
	fmt.Fprintln(w, strings.Join(cells, "\t"))
	for _, row := range rowsOf(value) {
		for i, c := range columns {
			if cells[i], err = c.text(find[i], row); err != nil {
				return nil, err
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	err = w.Flush()
	return b.Bytes(), err
}

func rowsOf(value any) []any {
	switch v := value.(type) {
	case []any:
		return v
	case map[string]any:
		if items, ok := v["items"].([]any); ok {
			return items
		}
		if _, isObject := v["kind"].(string); isObject {
			break
		}
		var lists [][]any
		for _, inner := range v {
			if l, ok := inner.([]any); ok {
				lists = append(lists, l)
			}
		}
		if len(lists) == 1 {
			return lists[0]
		}
	}
	return []any{value}
}

func (c customColumn) text(find *jsonpath.JSONPath, row any) (string, error) {
	found, err := findAll(find, row)
	if err != nil {
		return "", errs.Wrap(err, fmt.Sprintf("custom column %s does not fit this document", c.title))
	}
	var parts []string
	for _, v := range found {
		if v == nil { // a field of this tool's documents that is null has no value
			v = absent
		}
		parts = append(parts, terminalEscapes.Replace(fmt.Sprint(v)))
	}
	if len(parts) == 0 {
		return absent, nil
	}
	return strings.Join(parts, ","), nil
}

// terminalEscapes are the characters that kubectl replaces in a value.
var terminalEscapes = strings.NewReplacer("\x1b", "^[", "\r", "\\r")
