package manifest

import "fmt"

// Position is where a text starts in a file: line and column from 1, 0 if not known.
type Position struct{ Line, Column int }

// String is "line 3:7", as validate-template has it after the file; the column is left out
// where it is not known.
func (p Position) String() string {
	if p.Column == 0 {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d:%d", p.Line, p.Column)
}

// Tree is a value of a YAML document with its position, for readers of other files than manifests. The limits of
// manifests apply: no tabs, duplicate keys, tags or endless aliases. The zero Tree is a missing value.
type Tree struct{ node *Node }

// Entry is one key of a map, in the file's order.
type Entry struct {
	Key   string
	At    Position
	Value Tree
}

// ParseTree reads the one YAML document of a file; source names it in errors.
func ParseTree(source string, data []byte) (Tree, error) {
	docs, faults := ParseAll(data)
	if len(faults) > 0 {
		return Tree{}, Broken(source, faults...)
	}
	if len(docs) != 1 {
		return Tree{}, Broken(source, Faultf(0, "%d YAML documents found: must be 1", len(docs)))
	}
	return Tree{docs[0]}, nil
}

// At returns where the value starts, the zero Position for a missing value.
func (t Tree) At() Position {
	if t.node == nil {
		return Position{}
	}
	return Position{t.node.Line, t.node.Column}
}

// IsNull reports whether the value is empty or missing.
func (t Tree) IsNull() bool { return t.node == nil || t.node.Kind == ScalarNode && t.node.Value == nil }

// IsMap reports whether the value is a map.
func (t Tree) IsMap() bool { return t.node != nil && t.node.Kind == MapNode }

// IsList reports whether the value is a list.
func (t Tree) IsList() bool { return t.node != nil && t.node.Kind == ListNode }

// Get returns the value of a map's key, the zero Tree if the map does not have it.
func (t Tree) Get(key string) Tree { return Tree{t.node.Get(key)} }

// Entries returns the keys of a map in the order of the file.
func (t Tree) Entries() []Entry {
	if t.node == nil {
		return nil
	}
	var out []Entry
	for _, f := range t.node.Fields {
		out = append(out, Entry{f.Key, Position{f.Line, f.Column}, Tree{f.Value}})
	}
	return out
}

// Items returns the values of a list.
func (t Tree) Items() []Tree {
	if t.node == nil {
		return nil
	}
	var out []Tree
	for _, n := range t.node.Items {
		out = append(out, Tree{n})
	}
	return out
}

// Text returns a scalar as it is written in the file: 1e-4 stays 1e-4, True stays True. ok is false for maps,
// lists and empty values.
func (t Tree) Text() (text string, ok bool) {
	if t.IsNull() || t.node.Kind != ScalarNode {
		return "", false
	}
	if s, isText := t.node.Value.(string); isText {
		return s, true
	}
	return t.node.Text, true
}

// Int returns a whole number, written with or without quotes.
func (t Tree) Int() (int, bool) {
	if t.node == nil {
		return 0, false
	}
	return Count(t.node.Value)
}

// Bool returns a boolean, written with or without quotes.
func (t Tree) Bool() (value, ok bool) {
	if t.node == nil {
		return false, false
	}
	switch v := t.node.Value.(type) {
	case bool:
		return v, true
	case string:
		b, isBool := Resolve(v).(bool)
		return b, isBool
	}
	return false, false
}

// Describe describes the value for messages: "the number 3", "a list".
func (t Tree) Describe() string {
	if t.node == nil {
		return "missing"
	}
	return t.node.Describe(false)
}
