package fieldpath

import (
	"encoding/json"
	"testing"
)

// FuzzParse: what is set at a path is found there, and nothing else can happen than an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"spec.a.b=1", "a[0].b=x", `metadata.labels."a.b/c"=y`, "a[-1]=z", "a[99999999999]=1", "=", "a..b=", "a[0][1]=[1,{}]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ParseAssignment(text); err != nil {
			return
		}
		path := text
		steps, err := Parse(path)
		if err != nil {
			return
		}
		var root map[string]any
		if err := json.Unmarshal([]byte(`{"spec":{"a":{"b":[1]}},"a":[{"b":2},3]}`), &root); err != nil {
			t.Fatal(err)
		}
		if Set(root, path, "v") != nil {
			return
		}
		if got, ok := Lookup(root, steps); !ok || got != "v" {
			t.Errorf("%q: %v %v in %v", path, got, ok, root)
		}
	})
}
