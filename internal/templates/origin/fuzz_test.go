package origin

import "testing"

// FuzzParse: a record comes from an annotation of a job. Whatever it says, looking for values in a text ends, and
// what is found has a type.
func FuzzParse(f *testing.F) {
	f.Add(`{"fields":{"spec.a[0].b":"--lr=${LR} $X"},"types":{"LR":"number","X":"string"}}`, "spec.a[0].b", "--lr=1 y")
	f.Add(`{"fields":{"a":"${A}${A}"},"types":{"A":"list"}}`, "a", "xx")
	f.Fuzz(func(t *testing.T, record, path, text string) {
		r := Parse(record)
		for _, p := range append(r.Paths(), path) {
			values, ok := r.Values(p, text)
			if !ok {
				continue
			}
			for name := range values {
				if r.Types[name] == "" {
					t.Errorf("%q has no type", name)
				}
			}
		}
	})
}
