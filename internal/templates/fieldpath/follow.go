package fieldpath

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// OfServer reads a path as the API server and webhooks write it: spec.items[0].annotations[example.com/key]. Keys in
// brackets have no quotes, so a number there is an index or a key; Follow decides by the value.
func OfServer(text string) (steps []Step) {
	for rest := text; rest != ""; {
		var part string
		switch {
		case rest[0] == '.':
			rest = rest[1:]
			continue
		case rest[0] == '[':
			part, rest, _ = bracket(rest)
			part, _ = unquote(part)
			i, err := strconv.Atoi(part)
			steps = append(steps, Step{Key: part, Index: i, List: err == nil && i >= 0})
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		part, rest = rest[:end], rest[end:]
		steps = append(steps, Step{Key: part})
	}
	return steps
}

// Way is the part of a path that exists in a tree.
type Way struct {
	// End is the value at the path; nil if the path leads further than the tree.
	End *manifest.Node
	// Nearest is the value at the path, or the last one on the way to it.
	Nearest *manifest.Node
	// Position is where the last field on the way is: its key, or its item of a list.
	manifest.Position
	// Field is the last part of the path.
	Field string
	// Faulty reports that something on the way has a fault.
	Faulty bool
}

// Follow follows a path through a tree as far as it exists.
func Follow(n *manifest.Node, steps []Step) Way {
	w := Way{Nearest: n, Faulty: n.Faulty, Position: manifest.Position{Line: n.Line, Column: n.Column}}
	if len(steps) == 0 {
		return w
	}
	w.Field = steps[len(steps)-1].Key
	for _, s := range steps {
		at := slices.IndexFunc(n.Fields, func(f manifest.Field) bool { return f.Key == s.Key })
		switch {
		case s.List && n.Kind == manifest.ListNode && s.Index < len(n.Items):
			n = n.Items[s.Index]
			w.Position = manifest.Position{Line: n.Line, Column: n.Column}
		case at >= 0 && (!s.List || s.Key != ""):
			w.Position = manifest.Position{Line: n.Fields[at].Line, Column: n.Fields[at].Column}
			n = n.Fields[at].Value
		default:
			return w
		}
		w.Nearest, w.Faulty = n, w.Faulty || n.Faulty
	}
	w.End = n
	return w
}
