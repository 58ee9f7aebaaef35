package fieldpath

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

func TestAPathLeadsToItsPlaceInATree(t *testing.T) {
	docs, faults := manifest.ParseAll([]byte("metadata:\n  annotations:\n    example.com/a: x\n    0: y\nspec:\n  items:\n  - name: n\n"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, c := range []struct {
		path         string
		line, column int
		end          bool
	}{
		{"metadata.annotations[example.com/a]", 3, 5, true},
		{`metadata.annotations["example.com/a"]`, 3, 5, true},
		{"metadata.annotations[0]", 4, 5, true},
		{"metadata.annotations[example.com/b]", 2, 3, false},
		{"spec.items[0].name", 7, 5, true},
		{"spec.items[1].name", 6, 3, false},
		{"spec.items.name", 6, 3, false},
		{"spec.items[", 6, 3, false},
		{"", 1, 1, false},
	} {
		w := Follow(docs[0], OfServer(c.path))
		if w.Line != c.line || w.Column != c.column || (w.End != nil) != c.end {
			t.Errorf("%s: %d:%d %v, want %d:%d %v", c.path, w.Line, w.Column, w.End != nil, c.line, c.column, c.end)
		}
	}
}

// FuzzOfServer: a path of a server is read whatever it is.
func FuzzOfServer(f *testing.F) {
	for _, s := range []string{"a.b[0].c[x.y/z]", "[", "[]", "a..b", `["`, "a[-1]"} {
		f.Add(s)
	}
	docs, _ := manifest.ParseAll([]byte("a: {b: [1]}\n"))
	f.Fuzz(func(_ *testing.T, text string) { Follow(docs[0], OfServer(text)) })
}
