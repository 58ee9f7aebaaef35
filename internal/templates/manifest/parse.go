package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Limits on a template. A Kubernetes object cannot be larger than about 1.5 MiB;
// aliases are expanded, so the number of values is bounded too.
const (
	MaxBytes = 4 << 20
	// MaxObject is etcd's limit of a request in bytes, which clusters rarely change.
	MaxObject = 3 << 19
	maxNodes  = 200_000 // of a document
	maxTotal  = 500_000 // of all documents
	maxDepth  = 100
	MaxDocs   = 1000
)

// Parse reads the YAML documents of a text. Empty documents are left out. Of a text
// with faults nothing is returned, and the first fault is the error.
func Parse(data []byte) ([]*Node, error) {
	docs, faults := ParseAll(data)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	return docs, nil
}

// ParseAll is Parse, and finds everything that is wrong with a text: the documents
// that can be read are returned also where another one cannot. In them, values with a
// fault are Faulty, and so is an empty node for a document that cannot be read.
func ParseAll(data []byte) (docs []*Node, faults []error) {
	if len(data) > MaxBytes {
		return nil, []error{Faultf(0, "the file is larger than %d MiB; Kubernetes accepts objects of up to %.1f MiB", MaxBytes>>20, float64(MaxObject)/(1<<20))}
	}
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, []error{Faultf(0, "not a text file in UTF-8")}
	}
	whole := piece{text: string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))}
	r := &reader{}
	parts := jsonPieces(whole.text)
	if parts == nil {
		syntax := r.read(whole)
		if syntax == nil {
			return r.docs, r.faults
		}
		if parts = pieces(whole.text); len(parts) == 1 {
			return append(r.docs, &Node{Line: 1, Faulty: true}), append(r.faults, syntax...)
		}
	}
	// After a syntax error the parser reads no further, and the next document may be
	// well.
	r = &reader{}
	for _, p := range parts {
		if syntax := r.read(p); syntax != nil {
			r.faults = append(r.faults, syntax...)
			r.docs = append(r.docs, &Node{Line: p.before + 1, Faulty: true})
		}
		if r.full {
			break
		}
	}
	return r.docs, r.faults
}

// piece is a part of a text, and the number of lines before it.
type piece struct {
	text   string
	before int
}

// pieces cuts a text in front of the lines that begin a document, and of the
// directives of those.
func pieces(text string) []piece {
	lines := strings.SplitAfter(text, "\n")
	var out []piece
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, piece{strings.Join(lines[start:end], ""), start})
			start = end
		}
	}
	for i, l := range lines {
		if rest, dashes := strings.CutPrefix(l, "---"); !dashes || strings.TrimLeft(rest, " \t\n") == rest && rest != "" {
			continue
		}
		at := i
		for at > start && strings.HasPrefix(lines[at-1], "%") {
			at--
		}
		cut(at)
	}
	cut(len(lines))
	return out
}

// jsonPieces cuts a text of several JSON objects, which need no line between them, as for kubectl; nil for other texts. A piece
// begins with as many spaces as are before it in its line, so that columns stay.
func jsonPieces(text string) []piece {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "{") {
		return nil
	}
	var out []piece
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		var object json.RawMessage
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF) && len(out) > 1:
			return out
		case err != nil || object[0] != '{':
			return nil
		}
		end := int(decoder.InputOffset())
		start := end - len(object)
		line := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
		out = append(out, piece{strings.Repeat(" ", utf8.RuneCountInString(line)) + text[start:end], strings.Count(text[:start], "\n")})
	}
}

// reader reads the documents of pieces of a text, within bounds.
type reader struct {
	docs   []*Node
	faults []error
	nodes  int
	full   bool // a bound is reached: nothing more is read
}

// read adds the documents of a piece, and returns what is wrong with its syntax.
func (r *reader) read(p piece) []error {
	docs, faults, nodes := len(r.docs), len(r.faults), r.nodes
	syntax := r.decode(p.text, p)
	if syntax == nil {
		return nil
	}
	// ${NAME} between the braces of {a: ${NAME}} is no YAML, and is understood as
	// envsubst does, before it is parsed.
	open := opened(p.text)
	if open == p.text {
		return syntax
	}
	again := &reader{docs: r.docs[:docs:docs], nodes: nodes}
	if again.decode(open, p) != nil {
		return syntax
	}
	for _, d := range again.docs[docs:] {
		closeBraces(d)
	}
	for _, f := range again.faults {
		var l *LineError
		if errors.As(f, &l) {
			l.Text = closing.Replace(l.Text)
		}
	}
	again.faults = append(r.faults[:faults:faults], again.faults...)
	*r = *again
	return nil
}

// Characters without a meaning stand for the braces of placeholders where YAML's
// own would be taken for them, one for one, so that columns stay.
const dollarBrace, brace = "\ue0f0\ue0f1", "\ue0f2"

var braced = pattern.Lazy(`\$\{([A-Za-z_][A-Za-z0-9_]*(?:[^A-Za-z0-9_${},\[\]"'#\n][^${},\[\]"'#\n]*)?)\}`)

func opened(text string) string {
	if strings.ContainsAny(text, dollarBrace+brace) {
		return text
	}
	return braced().ReplaceAllString(text, dollarBrace+"${1}"+brace)
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

// decode adds the documents of a text that was made safe to parse; errors show the
// original.
func (r *reader) decode(text string, original piece) []error {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	c := converter{before: original.before, lines: strings.Split(original.text, "\n")}
	defer func() { r.faults = append(r.faults, c.found()...) }()
	for !r.full {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return explainSyntax(err, original)
		}
		if len(doc.Content) == 0 {
			continue
		}
		c.nodes = 0
		n, beyond := c.convert(doc.Content[0], 0)
		r.nodes += c.nodes
		switch {
		case len(r.docs) == MaxDocs:
			beyond = Faultf(c.before+doc.Line, "more than %d documents", MaxDocs)
		case beyond == nil && r.nodes > maxTotal:
			beyond = Faultf(c.before+doc.Line, "more than %d values in all documents after expanding aliases", maxTotal)
		}
		if beyond != nil {
			c.faults = append(c.faults, beyond)
			r.docs, r.full = append(r.docs, &Node{Line: c.before + doc.Line, Faulty: true}), true
			return nil
		}
		if n.Kind == ScalarNode && n.Value == nil && !n.Faulty {
			continue
		}
		r.docs = append(r.docs, n)
	}
	return nil
}
