package manifest

import (
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

var (
	yamlLine   = pattern.Lazy(`^yaml: (?:line (\d+): )?`)
	yamlAnchor = pattern.Lazy(`unknown anchor '(.*)' referenced`)
	// Foreign matches where Helm's or Jinja's text begins.
	Foreign = pattern.Lazy(`\{\{|\{%`)
	// foreignWhole matches it to its end.
	foreignWhole = pattern.Lazy(`\{\{.*?\}\}|\{%.*?%\}`)
)

// ForeignText is the error about Helm and Jinja templates.
const ForeignText = "{{ }} or {% %} belongs to Helm or Jinja templates, which this program does not render; render it with its own tool first, or use ${NAME}"

// foreignAt returns the fault of a line with Helm's or Jinja's text.
func foreignAt(number int, line string) *LineError {
	at := 0
	if m := Foreign().FindStringIndex(line); m != nil {
		at = m[0]
	}
	return Faultf(number, "%s", ForeignText).Col(utf8.RuneCountInString(line[:at]) + 1)
}

// explainSyntax turns the parser's error into ours: one, or one for each line of another
// template language.
func explainSyntax(err error, p piece) []error {
	lines := strings.Split(p.text, "\n")
	line := syntaxLine(err, lines)
	at := func(line int, text string) []error {
		column := 0
		if line > 0 && line <= len(lines) {
			l := lines[line-1]
			column = utf8.RuneCountInString(l[:len(l)-len(strings.TrimLeft(l, " \t"))]) + 1
		}
		return []error{Faultf(p.before+line, "%s", text).Col(column)}
	}
	if foreign := foreignLines(err, lines); len(foreign) > 0 {
		var out []error
		for _, i := range foreign {
			out = append(out, foreignAt(p.before+i+1, lines[i]))
		}
		return out
	}
	for i := max(line-2, 0); i < min(line+1, len(lines)); i++ {
		if tabIndented(lines[i]) {
			return []error{Faultf(p.before+i+1, "the line is indented with a tab; YAML allows spaces only").Col(utf8.RuneCountInString(lines[i][:strings.Index(lines[i], "\t")]) + 1)}
		}
	}
	if m := yamlAnchor().FindStringSubmatch(err.Error()); m != nil {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "*"+m[1]) })
		f := Faultf(p.before+i+1, "not valid YAML: alias *%s has no anchor &%s before it", Clip(m[1]), Clip(m[1]))
		if i >= 0 {
			f.Column = utf8.RuneCountInString(lines[i][:strings.Index(lines[i], "*"+m[1])]) + 1
		}
		return []error{f}
	}
	if strings.Contains(err.Error(), "control characters") {
		line = 1 + strings.Count(p.text[:max(strings.IndexFunc(p.text, control), 0)], "\n")
	}
	for _, e := range yamlErrors {
		if strings.Contains(err.Error(), e.theirs) {
			return at(line, "not valid YAML: "+e.ours)
		}
	}
	return at(line, "not valid YAML")
}

// parserErrors matches the errors whose lines the parser counts from 0; it counts those
// of its scanner from 1.
var parserErrors = pattern.Lazy(`did not find expected (',' or|'-' indicator|<|key|node content)`)

// syntaxLine returns the line in which a text begins to be wrong. The parser names the one
// in which what is wrong begins, such as a map, or in which it gave up; up to the line
// that is meant, the text has another fault, if any.
func syntaxLine(err error, lines []string) int {
	line := 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		line, _ = strconv.Atoi(m[1])
	}
	size := len(lines)
	for _, l := range lines {
		size += len(l)
	}
	if size > 256<<10 { // each look costs a reading
		if parserErrors().MatchString(err.Error()) {
			line++
		}
		return min(line, len(lines))
	}
	line = min(line, len(lines))
	wrong := func(n int) bool {
		e := decodeError(lines[:n])
		return e != nil && yamlLine().ReplaceAllString(e.Error(), "") == yamlLine().ReplaceAllString(err.Error(), "")
	}
	if wrong(1) {
		return 1 // the parser does not name the first line
	}
	return line + sort.Search(len(lines)-line, func(i int) bool { return wrong(line + i) })
}

// decodeError returns the first error of a text.
func decodeError(lines []string) error {
	decoder := yaml.NewDecoder(strings.NewReader(strings.Join(lines, "\n")))
	for {
		var doc yaml.Node
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// foreignLines returns the lines with text of Helm or Jinja, from 0, if that is why the text is not YAML: without
// it, the text would be valid, or fail for another reason. Braces in quotes are plain text.
func foreignLines(err error, lines []string) (foreign []int) {
	without := make([]string, len(lines))
	for i, l := range lines {
		without[i] = l
		m := Foreign().FindStringIndex(WithoutComment(l))
		if m == nil {
			continue
		}
		if strings.Count(l[:m[0]], `"`)%2 == 0 && strings.Count(l[:m[0]], "'")%2 == 0 {
			foreign = append(foreign, i)
		}
		if without[i] = foreignWhole().ReplaceAllString(l, "x"); strings.Trim(without[i], " \tx-") == "" {
			without[i] = ""
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	other := decodeError(without)
	if other != nil && other.Error() == err.Error() && !Foreign().MatchString(without[foreign[0]]) {
		return nil
	}
	return foreign
}

func control(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r) }

// yamlErrors are the parser's texts in words; the first that fits counts.
var yamlErrors = []struct{ theirs, ours string }{
	{"mapping values are not allowed", "unexpected colon: put text that contains \": \" in quotes, and start a map below a key on a new line"},
	{"did not find expected key", "expected a key: check the indentation, and the quotes before it"},
	{"did not find expected '-' indicator", "expected a list item that starts with -: check the indentation"},
	{"could not find expected ':'", "a key has no colon after it"},
	{"did not find expected ',' or '}'", "a { is not closed, or a comma is missing inside it"},
	{"did not find expected ',' or ']'", "a [ is not closed, or a comma is missing inside it"},
	{"did not find expected node content", "expected a value"},
	{"unexpected end of stream", "a quote is not closed"},
	{"unexpected document indicator", "a quote is not closed"},
	{"cannot start any token", "put text that starts with @, ` or % in quotes"},
	{"unknown escape character", "unknown escape in double quotes; use single quotes to keep a \\"},
	{"escape", "an escape is not a valid character"},
	{"control characters", "a control character: write it as an escape in double quotes"},
	{"directive", "unknown directive: a line that starts with % is a directive"},
	{"incompatible YAML document", "the %YAML line must name version 1.1"},
	{"comment or line break", "extra text on the line after | or >"},
	{"did not find expected <document start>", "a second document has no --- before it"},
	{"alphabetic or numeric", "an anchor or alias has no name"},
	{"expected '>'", "a tag is not valid"},
	{"tag", "a tag is not valid"},
	{"indentation", "the indentation matches no line above"},
	{"exceeded max depth", "nested too deeply"},
}

func tabIndented(line string) bool {
	return strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")
}

// WithoutComment drops a whole-line comment.
func WithoutComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	return line
}
