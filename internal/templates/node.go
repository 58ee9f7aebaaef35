package templates

type nodeKind int

const (
	scalarNode nodeKind = iota
	mapNode
	listNode
)

// node is a value of a parsed document with the line it came from. Values that
// were filled in keep their text, so that a field of another type can take it.
type node struct {
	kind nodeKind
	// Where it came from, from 1; 0 when that is no file.
	line, column int

	value  any    // scalar: string, int64, float64, bool or nil
	quoted bool   // scalar written with quotes or as a block
	filled bool   // scalar that a parameter filled in
	text   string // scalar: its text in the file, or as a parameter filled it in

	fields []field
	items  []*node
}

type field struct {
	key          string
	line, column int
	value        *node
}

// get returns the value of a key of a map, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.fields {
		if n.fields[i].key == key {
			return n.fields[i].value
		}
	}
	return nil
}

// str returns the scalar's value when it is a string.
func (n *node) str() string {
	if n == nil {
		return ""
	}
	s, _ := n.value.(string)
	return s
}

// plain turns the tree into JSON values.
func (n *node) plain() any {
	switch n.kind {
	case mapNode:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.key] = f.value.plain()
		}
		return m
	case listNode:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.plain()
		}
		return l
	}
	return n.value
}

// said is plain, and scalars keep how they are written.
func (n *node) said() any {
	switch n.kind {
	case mapNode:
		return n.plain()
	case listNode:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.said()
		}
		return l
	}
	return keepText(n.value, n.text)
}

// fromPlain is the reverse of plain, without lines.
func fromPlain(v any) *node {
	switch v := v.(type) {
	case map[string]any:
		n := &node{kind: mapNode}
		for _, k := range sortedKeys(v) {
			n.fields = append(n.fields, field{key: k, value: fromPlain(v[k])})
		}
		return n
	case []any:
		n := &node{kind: listNode}
		for _, item := range v {
			n.items = append(n.items, fromPlain(item))
		}
		return n
	case written:
		return &node{value: v.value, filled: true, text: v.text}
	}
	return &node{value: v}
}

// describe names a value's type the way people write it. With hide the value
// itself is left out, as it may be secret.
func (n *node) describe(hide bool) string {
	switch n.kind {
	case mapNode:
		return "a map"
	case listNode:
		return "a list"
	}
	what, value := "the number", textOf(n.value)
	switch v := n.value.(type) {
	case nil:
		return "empty"
	case string:
		what, value = "the text", quoteText(v)
	case bool:
		what = "the truth value"
	}
	if hide {
		return what
	}
	return what + " " + value
}
