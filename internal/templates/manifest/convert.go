package manifest

import (
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// converter builds our tree from the parser's, expanding aliases and merge keys
// within bounds. What is wrong with a value is noted, and its node is Faulty.
type converter struct {
	before int // lines before the text
	lines  []string
	nodes  int
	faults []error
	// foreign are the places of Helm's and Jinja's braces.
	foreign []*LineError
}

func (c *converter) faultf(y *yaml.Node, format string, args ...any) {
	c.faults = append(c.faults, Faultf(c.before+y.Line, format, args...).Col(y.Column))
}

// found returns everything that is wrong with the values.
func (c *converter) found() []error {
	out := c.faults
	for _, f := range c.foreign {
		out = append(out, f)
	}
	return out
}

// node returns an empty node at the place of the parser's.
func (c *converter) node(kind NodeKind, y *yaml.Node) *Node {
	return &Node{Kind: kind, Line: c.before + y.Line, Column: y.Column}
}

// convert returns the tree; the error is a bound that it goes beyond.
func (c *converter) convert(y *yaml.Node, depth int) (*Node, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, Faultf(c.before+y.Line, "more than %d values after expanding aliases", maxNodes).Col(y.Column)
	}
	if depth > maxDepth {
		return nil, Faultf(c.before+y.Line, "nested deeper than %d levels, or an alias contains itself", maxDepth).Col(y.Column)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return c.convert(y.Alias, depth+1)
	case yaml.MappingNode:
		return c.mapping(y, depth)
	case yaml.SequenceNode:
		n := c.node(ListNode, y)
		if t := y.ShortTag(); t != "!!seq" {
			c.faultf(y, "tag %q is not supported", t)
			n.Faulty = true
			return n, nil
		}
		for _, item := range y.Content {
			v, err := c.convert(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, v)
		}
		return n, nil
	case yaml.ScalarNode:
		return c.scalar(y), nil
	}
	c.faultf(y, "not understood")
	n := c.node(ScalarNode, y)
	n.Faulty = true
	return n, nil
}

func (c *converter) mapping(y *yaml.Node, depth int) (*Node, error) {
	n := c.node(MapNode, y)
	if t := y.ShortTag(); t != "!!map" {
		c.faultf(y, "tag %q is not supported", t)
		n.Faulty = true
		return n, nil
	}
	seen := make(map[string]int, len(y.Content)/2)
	var merged []Field
	noKey := false
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			noKey = true
			if k.Line > 0 && k.Line <= len(c.lines) && Foreign().MatchString(c.lines[k.Line-1]) {
				c.foreign = append(c.foreign, foreignAt(c.before+k.Line, c.lines[k.Line-1]))
			} else {
				c.faultf(k, "a map or list cannot be a key")
			}
			continue
		}
		value, err := c.convert(v, depth+1)
		if err != nil {
			return nil, err
		}
		if k.ShortTag() == "!!merge" {
			merged = append(merged, c.mergeable(value)...)
			continue
		}
		if first, dup := seen[k.Value]; dup {
			c.faultf(k, "the key %q is given twice (first in line %d)", Clip(k.Value), first)
			n.Get(k.Value).Twice = true
			continue
		}
		seen[k.Value] = c.before + k.Line
		n.Fields = append(n.Fields, Field{k.Value, c.before + k.Line, k.Column, value})
	}
	n.Faulty = noKey && len(n.Fields)+len(merged) == 0
	for _, f := range merged { // a map's own keys win over merged ones
		if _, own := seen[f.Key]; !own {
			seen[f.Key] = f.Line
			n.Fields = append(n.Fields, f)
		}
	}
	return n, nil
}

// mergeable returns the fields of the value of a merge key: a map, or a list of maps whose first wins.
func (c *converter) mergeable(v *Node) []Field {
	fault := func(n *Node, text string) {
		c.faults = append(c.faults, Faultf(n.Line, "%s", text).Col(n.Column))
	}
	switch {
	case v.Kind == MapNode, v.Faulty:
		return v.Fields
	case v.Kind == ListNode:
		var out []Field
		for _, item := range v.Items {
			if item.Kind != MapNode {
				fault(item, "<< accepts maps only")
				continue
			}
			out = append(out, item.Fields...)
		}
		return out
	}
	fault(v, "<< requires a map")
	return nil
}

func (c *converter) scalar(y *yaml.Node) *Node {
	n := c.node(ScalarNode, y)
	n.Text, n.Quoted = y.Value, y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch tag := y.ShortTag(); tag {
	case "!!str", "!!timestamp": // a date stays the text that it is
		n.Value = y.Value
	case "!!null":
	case "!!bool":
		n.Value = strings.EqualFold(y.Value, "true")
	case "!!int", "!!float":
		v, err := number(y)
		if err != nil {
			c.faultf(y, "%q is not a valid JSON number", Clip(y.Value))
			n.Faulty = true
		}
		n.Value = v
	default:
		c.faultf(y, "tag %q is not supported", tag)
		n.Faulty = true
	}
	return n
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
