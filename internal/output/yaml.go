package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// encodeYAML writes a document with the keys of its JSON in the same order;
// API objects start with apiVersion, kind and metadata. It looks as kubectl's:
// two spaces, lists not indented.
func encodeYAML(document any) ([]byte, error) {
	documents := []any{document}
	if objects, ok := document.(Objects); ok {
		documents = objects
	}
	var b bytes.Buffer
	for i, d := range documents {
		if i > 0 {
			b.WriteString("---\n")
		}
		if err := writeYAML(&b, d); err != nil {
			return nil, errs.Wrap(err, "cannot write the document as YAML")
		}
	}
	// They can only be in quotes (stringNode), where YAML has these escapes.
	return escapeRunes(b.Bytes(), func(out []byte, r rune) []byte {
		if r > 0xFFFF {
			return fmt.Appendf(out, `\U%08x`, r)
		}
		return fmt.Appendf(out, `\u%04x`, r)
	}), nil
}

func writeYAML(b *bytes.Buffer, document any) error {
	data, err := compactJSON(document)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	node, err := readNode(d)
	if err != nil {
		return err
	}
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(node); err != nil {
		return err
	}
	return e.Close()
}

// readNode turns the next JSON value into a YAML node.
func readNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return readMapping(d)
		}
		return readSequence(d)
	case string:
		return stringNode(t), nil
	case json.Number:
		// No tag: the writer must not judge how the number is written.
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
	case bool:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"}
		if t {
			n.Value = "true"
		}
		return n, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

func readMapping(d *json.Decoder) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if !d.More() {
		n.Style = yaml.FlowStyle
	}
	for d.More() {
		key, err := readNode(d)
		if err != nil {
			return nil, err
		}
		value, err := readNode(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, key, value)
	}
	_, err := d.Token()
	headFirst(n)
	return n, err
}

func readSequence(d *json.Decoder) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if !d.More() {
		n.Style = yaml.FlowStyle
	}
	for d.More() {
		item, err := readNode(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	_, err := d.Token()
	return n, err
}

// stringNode leaves the style to the writer, but quotes text that hides
// something (in quotes it can be escaped) and words that the writer forgets mean
// something else to a YAML 1.1 reader, which kubectl has.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "<<":
		n.Style = yaml.DoubleQuotedStyle
	}
	if hasUnsafe(s, true) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// headFirst moves apiVersion, kind and metadata of an API object to the front.
func headFirst(n *yaml.Node) {
	head := []string{"apiVersion", "kind", "metadata"}
	at := func(key string) int {
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return i
			}
		}
		return -1
	}
	if at(head[0]) < 0 || at(head[1]) < 0 {
		return
	}
	for _, key := range slices.Backward(head) {
		if i := at(key); i > 0 {
			pair := []*yaml.Node{n.Content[i], n.Content[i+1]}
			n.Content = slices.Concat(pair, slices.Delete(n.Content, i, i+2))
		}
	}
}
