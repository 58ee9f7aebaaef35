package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits on a template. A Kubernetes object cannot be larger than about 1.5 MiB;
// aliases are expanded, so the number of values is bounded too.
const (
	MaxBytes = 4 << 20
	// etcd's limit on a request, which clusters rarely change.
	MaxObject = 3 << 19
	maxNodes  = 200_000
	maxDepth  = 100
	MaxDocs   = 1000
)

// Parse reads the YAML documents of a text. Empty documents are left out.
func Parse(data []byte) ([]*Node, error) {
	if len(data) > MaxBytes {
		return nil, Faultf(0, "it is larger than %d MiB; Kubernetes takes objects of up to %.1f MiB", MaxBytes>>20, float64(MaxObject)/(1<<20))
	}
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, Faultf(0, "it is not a text file in UTF-8")
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	docs, err := decodeDocuments(text, string(text))
	if err != nil {
		// ${NAME} between the braces of {a: ${NAME}} is no YAML, and is understood as
		// envsubst does, before it is parsed.
		if open := opened(string(text)); open != string(text) {
			if docs, err := decodeDocuments([]byte(open), string(text)); err == nil {
				for _, d := range docs {
					closeBraces(d)
				}
				return docs, nil
			}
		}
	}
	return docs, err
}

// Characters without a meaning stand for the braces of placeholders where YAML's
// own would be taken for them, one for one, so that columns stay.
const dollarBrace, brace = "\ue0f0\ue0f1", "\ue0f2"

var braced = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*(?:[^A-Za-z0-9_${},\[\]"'#\n][^${},\[\]"'#\n]*)?)\}`)

func opened(text string) string {
	if strings.ContainsAny(text, dollarBrace+brace) {
		return text
	}
	return braced.ReplaceAllString(text, dollarBrace+"${1}"+brace)
}

var closing = strings.NewReplacer(dollarBrace, "${", brace, "}")

func closeBraces(n *Node) {
	if s, isText := n.Value.(string); isText {
		n.Value, n.Text = closing.Replace(s), closing.Replace(n.Text)
	}
	for i := range n.Fields {
		n.Fields[i].Key = closing.Replace(n.Fields[i].Key)
		closeBraces(n.Fields[i].Value)
	}
	for _, item := range n.Items {
		closeBraces(item)
	}
}

// decodeDocuments is Parse for a text that was made safe to parse; errors
// show the original.
func decodeDocuments(text []byte, original string) ([]*Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	lines := strings.Split(original, "\n")
	var docs []*Node
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, explainSyntax(err, original)
		}
		if len(docs) == MaxDocs {
			return nil, Faultf(doc.Line, "more than %d documents", MaxDocs)
		}
		if len(doc.Content) == 0 {
			continue
		}
		c := converter{lines: lines}
		n, err := c.convert(doc.Content[0], 0)
		if err != nil {
			return nil, err
		}
		if n.Kind == ScalarNode && n.Value == nil {
			continue
		}
		docs = append(docs, n)
	}
}

var (
	yamlLine   = regexp.MustCompile(`line (\d+)`)
	yamlAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
	Foreign    = regexp.MustCompile(`\{\{|\{%`)
)

// explainSyntax turns the parser's error into ours. The line that the parser
// names is where it gave up, which is at or after the fault; it names none for the
// first.
func explainSyntax(err error, text string) error {
	line := 1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if Foreign.MatchString(WithoutComment(l)) {
			return Faultf(i+1, "%s", ForeignText)
		}
		if near := i+1 >= line-1 && i < line+1; near && tabIndented(l) {
			return Faultf(i+1, "a tab indents the line; YAML takes spaces only")
		}
	}
	if m := yamlAnchor.FindStringSubmatch(err.Error()); m != nil {
		at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "*"+m[1]) })
		return Faultf(at+1, "not valid YAML: *%s stands for nothing: no &%s comes before it", Clip(m[1]), Clip(m[1]))
	}
	if strings.Contains(err.Error(), "control characters") {
		line = 1 + strings.Count(text[:max(strings.IndexFunc(text, control), 0)], "\n")
	}
	for _, e := range yamlErrors {
		if strings.Contains(err.Error(), e.theirs) {
			return Faultf(line, "not valid YAML: %s", e.ours)
		}
	}
	return Faultf(line, "not valid YAML")
}

func control(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r) }

// yamlErrors are the parser's texts in words; the first that fits counts.
var yamlErrors = []struct{ theirs, ours string }{
	{"mapping values are not allowed", "a colon where none can be: text with \": \" in it needs quotes, and a map below a key its own lines"},
	{"did not find expected key", "a key is expected here: look at the indentation, and at quotes before it"},
	{"did not find expected '-' indicator", "an item of a list, with - in front, is expected here: look at the indentation"},
	{"could not find expected ':'", "a key without a colon after it"},
	{"did not find expected ',' or '}'", "a { is not closed, or a comma is missing in it"},
	{"did not find expected ',' or ']'", "a [ is not closed, or a comma is missing in it"},
	{"did not find expected node content", "a value is expected here"},
	{"unexpected end of stream", "a quote is not closed"},
	{"unexpected document indicator", "a quote is not closed"},
	{"cannot start any token", "text that starts with @, ` or % needs quotes"},
	{"unknown escape character", "\\ and this letter mean nothing in double quotes; single quotes keep \\ as it is"},
	{"escape", "an escape that is no character"},
	{"control characters", "a control character, which only an escape in double quotes can say"},
	{"directive", "a line that starts with % is a directive, and this one is not known"},
	{"incompatible YAML document", "another version of YAML than 1.x"},
	{"comment or line break", "more on the line than a | or > takes"},
	{"did not find expected <document start>", "a second document without --- before it"},
	{"alphabetic or numeric", "an anchor or alias without a name"},
	{"expected '>'", "a tag that is none"},
	{"tag", "a tag that is none"},
	{"indentation", "the indentation fits no line above"},
	{"exceeded max depth", "nested too deep"},
}

// ForeignText is what is said of Helm and Jinja.
const ForeignText = "{{ }} or {% %} belongs to Helm or Jinja templates, which are not understood here; render it with its own tool first, or write ${NAME}"

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

// converter builds our tree from the parser's, expanding aliases and merge keys
// within bounds.
type converter struct {
	lines []string
	nodes int
}

func (c *converter) convert(y *yaml.Node, depth int) (*Node, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, Faultf(y.Line, "more than %d values once its aliases are expanded", maxNodes)
	}
	if depth > maxDepth {
		return nil, Faultf(y.Line, "nested deeper than %d levels, or an alias that holds itself", maxDepth)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return c.convert(y.Alias, depth+1)
	case yaml.MappingNode:
		return c.mapping(y, depth)
	case yaml.SequenceNode:
		if t := y.ShortTag(); t != "!!seq" {
			return nil, Faultf(y.Line, "the tag %q is not understood", t).Col(y.Column)
		}
		n := &Node{Kind: ListNode, Line: y.Line, Column: y.Column}
		for _, item := range y.Content {
			v, err := c.convert(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, v)
		}
		return n, nil
	case yaml.ScalarNode:
		return c.scalar(y)
	}
	return nil, Faultf(y.Line, "not understood")
}

func (c *converter) mapping(y *yaml.Node, depth int) (*Node, error) {
	if t := y.ShortTag(); t != "!!map" {
		return nil, Faultf(y.Line, "the tag %q is not understood", t).Col(y.Column)
	}
	n := &Node{Kind: MapNode, Line: y.Line, Column: y.Column}
	seen := make(map[string]int, len(y.Content)/2)
	var merged []Field
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			if k.Line > 0 && k.Line <= len(c.lines) && Foreign.MatchString(c.lines[k.Line-1]) {
				return nil, Faultf(k.Line, "%s", ForeignText)
			}
			return nil, Faultf(k.Line, "a map or list cannot be a key")
		}
		value, err := c.convert(v, depth+1)
		if err != nil {
			return nil, err
		}
		if k.ShortTag() == "!!merge" {
			fields, err := mergeable(value)
			if err != nil {
				return nil, err
			}
			merged = append(merged, fields...)
			continue
		}
		if first, dup := seen[k.Value]; dup {
			return nil, Faultf(k.Line, "the key %q is given twice (first in line %d)", Clip(k.Value), first).Col(k.Column)
		}
		seen[k.Value] = k.Line
		n.Fields = append(n.Fields, Field{k.Value, k.Line, k.Column, value})
	}
	for _, f := range merged { // a map's own keys win over merged ones
		if _, own := seen[f.Key]; !own {
			seen[f.Key] = f.Line
			n.Fields = append(n.Fields, f)
		}
	}
	return n, nil
}

// mergeable returns the fields of the value of a merge key: a map, or a list of
// maps of which the first wins.
func mergeable(v *Node) ([]Field, error) {
	switch v.Kind {
	case MapNode:
		return v.Fields, nil
	case ListNode:
		var out []Field
		for _, item := range v.Items {
			if item.Kind != MapNode {
				return nil, Faultf(item.Line, "<< takes maps only")
			}
			out = append(out, item.Fields...)
		}
		return out, nil
	}
	return nil, Faultf(v.Line, "<< takes a map")
}

func (c *converter) scalar(y *yaml.Node) (*Node, error) {
	n := &Node{Line: y.Line, Column: y.Column, Text: y.Value, Quoted: y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0}
	switch tag := y.ShortTag(); tag {
	case "!!str", "!!timestamp": // a date stays the text that it is
		n.Value = y.Value
	case "!!null":
	case "!!bool":
		n.Value = strings.EqualFold(y.Value, "true")
	case "!!int", "!!float":
		v, err := number(y)
		if err != nil {
			return nil, Faultf(y.Line, "%q is not a number that JSON can hold", Clip(y.Value)).Col(y.Column)
		}
		n.Value = v
	default:
		return nil, Faultf(y.Line, "the tag %q is not understood", tag).Col(y.Column)
	}
	return n, nil
}

func number(y *yaml.Node) (any, error) {
	var i int64
	if y.ShortTag() == "!!int" && y.Decode(&i) == nil {
		return i, nil
	}
	var f float64
	if err := y.Decode(&f); err != nil {
		return nil, err
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("not finite")
	}
	return f, nil
}
