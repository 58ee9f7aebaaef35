package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Marshal writes a document as YAML, in the order of its fields.
func Marshal(d *Document) ([]byte, error) {
	n, err := nodeOf(d)
	if err != nil {
		return nil, err
	}
	return encode(n)
}

// Rewrite writes a document over the text of another one: comments, order and quoting of
// what is still there stay.
func Rewrite(text []byte, d *Document) ([]byte, error) {
	n, err := nodeOf(d)
	if err != nil {
		return nil, err
	}
	var old yaml.Node
	if err := yaml.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	if len(old.Content) == 0 {
		return encode(n)
	}
	merge(old.Content[0], n)
	return encode(&old)
}

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// nodeOf turns a document into nodes with its keys in order: JSON keeps the order of
// fields, and YAML reads JSON.
func nodeOf(d *Document) (*yaml.Node, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("cannot write the document: %w", err)
	}
	n := doc.Content[0]
	block(n, 0)
	return n, nil
}

// block lays JSON out as people write YAML: short rows of scalars on one line.
func block(n *yaml.Node, depth int) {
	n.Style = 0
	for _, c := range n.Content {
		block(c, depth+1)
	}
	if n.Kind != yaml.SequenceNode {
		return
	}
	for _, c := range n.Content {
		if c.Kind == yaml.MappingNode && len(c.Content) <= 8 && !slices.ContainsFunc(c.Content, func(v *yaml.Node) bool { return v.Kind != yaml.ScalarNode }) {
			c.Style = yaml.FlowStyle
		}
	}
}

// merge makes a node mean what another one means and keeps what it can.
func merge(old, n *yaml.Node) {
	switch {
	case old.Kind == yaml.AliasNode, old.Kind != n.Kind:
		replace(old, n)
	case n.Kind == yaml.ScalarNode:
		if old.Value != n.Value || old.ShortTag() != n.ShortTag() {
			old.Value, old.Tag = n.Value, n.Tag
			if n.ShortTag() != "!!str" {
				old.Style = 0
			}
		}
	case n.Kind == yaml.MappingNode:
		mergeMap(old, n)
	case n.Kind == yaml.SequenceNode:
		mergeList(old, n)
	}
}

// replace puts a node in the place of another one, whose comments stay.
func replace(old, n *yaml.Node) {
	head, line, foot := old.HeadComment, old.LineComment, old.FootComment
	*old = *n
	old.HeadComment, old.LineComment, old.FootComment = head, line, foot
}

func mergeMap(old, n *yaml.Node) {
	var out []*yaml.Node
	for i := 0; i+1 < len(old.Content); i += 2 {
		if v := valueOf(n, old.Content[i].Value); v != nil {
			merge(old.Content[i+1], v)
			out = append(out, old.Content[i], old.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if valueOf(old, n.Content[i].Value) == nil {
			out = append(out, n.Content[i], n.Content[i+1])
		}
	}
	old.Content = out
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// mergeList matches the elements of lists of maps by the key that names them.
func mergeList(old, n *yaml.Node) {
	byKey := map[string]*yaml.Node{}
	for _, o := range old.Content {
		if k := keyOf(o); k != "" {
			byKey[k] = o
		}
	}
	out := make([]*yaml.Node, 0, len(n.Content))
	for i, v := range n.Content {
		o := byKey[keyOf(v)]
		if keyOf(v) == "" && i < len(old.Content) && keyOf(old.Content[i]) == "" {
			o = old.Content[i]
		}
		if o == nil {
			out = append(out, v)
			continue
		}
		merge(o, v)
		out = append(out, o)
	}
	old.Content = out
}

// keyOf returns what names an element of a list: its team, instance type or name.
func keyOf(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	name := ""
	for _, key := range []string{"team", "instanceType", "namespace", "name"} {
		if v := valueOf(n, key); v != nil {
			name += key + "=" + v.Value + " "
			if key == "team" || key == "instanceType" {
				break
			}
		}
	}
	return name
}
