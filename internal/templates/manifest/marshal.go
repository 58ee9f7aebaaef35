package manifest

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Marshal writes objects as YAML documents, always in the same order: identifying keys first (apiVersion, kind,
// metadata, name, a container's image, command and arguments), then the others by name.
func Marshal(objects []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		var b bytes.Buffer
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		enc.CompactSeqIndent()
		n, err := ToYAML(o)
		if err != nil {
			return nil, err
		}
		if err := enc.Encode(n); err != nil {
			return nil, err
		}
		if err := enc.Close(); err != nil {
			return nil, err
		}
		out.Write(b.Bytes())
	}
	return out.Bytes(), nil
}

var firstKeys = []string{"apiVersion", "kind", "metadata", "name", "namespace", "image", "command", "args"}

// ToYAML returns the tree of a value for the writer.
func ToYAML(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		keys := SortedKeys(v)
		slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
		for _, k := range keys {
			kn, err := ToYAML(k)
			if err != nil {
				return nil, err
			}
			vn, err := ToYAML(v[k])
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, kn, vn)
		}
		if len(keys) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n, nil
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			in, err := ToYAML(item)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, in)
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n, nil
	case Written:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.Text}, nil
	case nil, string, bool, int64, float64:
		n := &yaml.Node{}
		if err := n.Encode(v); err != nil {
			return nil, err
		}
		return n, nil
	}
	return nil, fmt.Errorf("%T cannot be written as YAML", v)
}

func rank(key string) int {
	if i := slices.Index(firstKeys, key); i >= 0 {
		return i
	}
	return len(firstKeys)
}
