package output

import (
	"slices"
	"testing"
)

func TestSplitOutside(t *testing.T) {
	for in, want := range map[string][]string{
		"a,b":                               {"a", "b"},
		"":                                  {""},
		"A:.x[0,1],B:.y":                    {"A:.x[0,1]", "B:.y"},
		`A:.x[?(@.n=="a,b")].v,B:.y`:        {`A:.x[?(@.n=="a,b")].v`, "B:.y"},
		`A:{.x['a,b','c']},B:.y`:            {`A:{.x['a,b','c']}`, "B:.y"},
		"A:.x],B:.y":                        {"A:.x]", "B:.y"},
		`A:.metadata.labels.a\.b/c,B:.kind`: {`A:.metadata.labels.a\.b/c`, "B:.kind"},
	} {
		if got := splitOutside(in, ','); !slices.Equal(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
}

type listed struct{ A, B []map[string]int }

func (l listed) List() any { return l.B }

// Which rows custom-columns prints.
func TestRowsOfDocuments(t *testing.T) {
	one := []map[string]int{{"n": 1}, {"n": 2}}
	for name, tt := range map[string]struct {
		document any
		want     string
	}{
		"list":                  {one, "N\n1\n2\n"},
		"items":                 {map[string]any{"kind": "List", "items": one, "other": one}, "N\n1\n2\n"},
		"only list":             {map[string]any{"jobs": one, "n": 9}, "N\n1\n2\n"},
		"two lists, and itself": {map[string]any{"a": one, "b": one, "n": 9}, "N\n9\n"},
		"two lists, and says":   {listed{B: one}, "N\n1\n2\n"},
		"object with a list":    {map[string]any{"kind": "Pod", "containers": one, "n": 9}, "N\n9\n"},
		"objects":               {Objects{map[string]any{"n": 1}, map[string]any{"n": 2}}, "N\n1\n2\n"},
		"several values":        {map[string]any{"kind": "Pod", "n": []int{1, 2}}, "N\n[1 2]\n"},
		"nothing":               {[]any{}, "N\n"},
		"large number":          {map[string]any{"n": 12345678901234567}, "N\n12345678901234567\n"},
	} {
		f, err := ParseFormat("custom-columns=N:.n", false)
		if err != nil {
			t.Fatal(err)
		}
		s, b := Test()
		if err := Print(s, f, tt.document, nil, nil); err != nil || b.Out.String() != tt.want {
			t.Errorf("%s: %q %v", name, b.Out, err)
		}
	}
	f, err := ParseFormat("custom-columns=N:.c[*].n", false)
	if err != nil {
		t.Fatal(err)
	}
	s, b := Test()
	if err := Print(s, f, map[string]any{"kind": "Pod", "c": one}, nil, nil); err != nil || b.Out.String() != "N\n1,2\n" {
		t.Errorf("several: %q %v", b.Out, err)
	}
}

// Each column as kubectl 1.35 prints it for such an object.
func TestColumnsLikeKubectl(t *testing.T) {
	object := map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "default"}}
	for spec, want := range map[string]string{
		"A:":                    "A\n<none>\n",
		"A: ":                   "A\n<none>\n",
		" A:":                   " A\n<none>\n",
		":":                     "\n<none>\n",
		":.metadata.name":       "\ndefault\n",
		"A:,B:.metadata.name":   "A        B\n<none>   default\n",
		"A:kind, B:{.kind}":     "A      B\nPod   Pod\n",
		"A:{kind}":              "A\nPod\n",
		" A : .metadata.name ":  " A \n<none>\n",
		"A:.metadata.name ":     "A\ndefault\n",
		"A:{.metadata['name']}": "A\ndefault\n",
	} {
		f, err := ParseFormat("custom-columns="+spec, false)
		if err != nil {
			t.Errorf("%q: %v", spec, err)
			continue
		}
		s, b := Test()
		if err := Print(s, f, object, nil, nil); err != nil || b.Out.String() != want {
			t.Errorf("%q: %q, want %q (%v)", spec, b.Out, want, err)
		}
	}
	for _, spec := range []string{"A", "A:.kind,", `A:" "`} {
		if _, err := ParseFormat("custom-columns="+spec, false); err == nil {
			t.Errorf("%q is accepted", spec)
		}
	}
}
