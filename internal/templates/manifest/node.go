package manifest

// NodeKind is what a Node is.
type NodeKind int

// The kinds of nodes.
const (
	ScalarNode NodeKind = iota
	MapNode
	ListNode
)

// Node is a value of a parsed document with the line it came from. Values that
// were filled in keep their text, so that a field of another type can take it.
type Node struct {
	Kind NodeKind
	// Its position in the file, from 1; 0 if it does not come from a file.
	Line, Column int

	Value  any    // scalar: string, int64, float64, bool or nil
	Quoted bool   // scalar written with quotes or as a block
	Filled bool   // scalar that a parameter filled in
	Text   string // scalar: its text in the file, or as a parameter filled it in

	Fields []Field
	Items  []*Node

	// Faulty: a fault was reported here, so the value gets no further faults.
	Faulty bool
	// Twice: the value's key is given again. What is absent from the value may be in the other one.
	Twice bool
}

// Spoil marks a value as faulty and replaces it with an empty value of the expected kind, so that it causes no
// further faults.
func (n *Node) Spoil(kind NodeKind) {
	*n = Node{Kind: kind, Line: n.Line, Column: n.Column, Faulty: true}
}

// Field is a key of a map and its value; Line and Column are the key's.
type Field struct {
	Key          string
	Line, Column int
	Value        *Node
}

// Get returns the value of a key of a map, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return n.Fields[i].Value
		}
	}
	return nil
}

// IsFaulty reports whether the node exists and is Faulty.
func (n *Node) IsFaulty() bool { return n != nil && n.Faulty }

// Put sets the value of a key of a map. An existing key keeps its place.
func (n *Node) Put(key, value string) {
	if old := n.Get(key); old != nil {
		*old = Node{Line: old.Line, Column: old.Column, Value: value, Text: value}
		return
	}
	n.Fields = append(n.Fields, Field{Key: key, Line: n.Line, Column: n.Column, Value: &Node{Line: n.Line, Column: n.Column, Value: value, Text: value}})
}

// Str returns the scalar's value if it is a string.
func (n *Node) Str() string {
	if n == nil {
		return ""
	}
	s, _ := n.Value.(string)
	return s
}

// Plain returns the tree as JSON values.
func (n *Node) Plain() any {
	switch n.Kind {
	case MapNode:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			m[f.Key] = f.Value.Plain()
		}
		return m
	case ListNode:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = item.Plain()
		}
		return l
	}
	return n.Value
}

// AsWritten is Plain, but scalars keep the text of the file.
func (n *Node) AsWritten() any {
	switch n.Kind {
	case MapNode:
		return n.Plain()
	case ListNode:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = item.AsWritten()
		}
		return l
	}
	return keepText(n.Value, n.Text)
}

// FromPlain returns the tree of a JSON value, without lines.
func FromPlain(v any) *Node {
	switch v := v.(type) {
	case map[string]any:
		n := &Node{Kind: MapNode}
		for _, k := range SortedKeys(v) {
			n.Fields = append(n.Fields, Field{Key: k, Value: FromPlain(v[k])})
		}
		return n
	case []any:
		n := &Node{Kind: ListNode}
		for _, item := range v {
			n.Items = append(n.Items, FromPlain(item))
		}
		return n
	case Written:
		return &Node{Value: v.Value, Filled: true, Text: v.Text}
	}
	return &Node{Value: v}
}

// Describe describes a value with its type for messages. With hide it leaves out the value itself, which may be
// secret.
func (n *Node) Describe(hide bool) string {
	switch n.Kind {
	case MapNode:
		return "a map"
	case ListNode:
		return "a list"
	}
	what, value := "the number", TextOf(n.Value)
	switch v := n.Value.(type) {
	case nil:
		return "empty"
	case string:
		what, value = "the text", QuoteText(v)
	case bool:
		what = "the truth value"
	}
	if hide {
		return what
	}
	return what + " " + value
}
