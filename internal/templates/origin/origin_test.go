package origin

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

func TestValuesAreReadFromTheFields(t *testing.T) {
	for name, c := range map[string]struct {
		template, text string
		want           map[string]string // nil: the field has another form
	}{
		"alone":                   {"${lr}", "0.5", map[string]string{"lr": "0.5"}},
		"inside":                  {"--lr=${lr} -x", "--lr=1e-4 -x", map[string]string{"lr": "1e-4"}},
		"several":                 {"$lr,${seed}", "3,4", map[string]string{"lr": "3", "seed": "4"}},
		"twice":                   {"${lr} ${lr}", "3 3", map[string]string{"lr": "3"}},
		"twice, other values":     {"${lr} ${lr}", "3 4", nil},
		"empty":                   {"a${lr}b", "ab", map[string]string{"lr": ""}},
		"signs of expressions":    {"(.*)${lr}[0]", "(.*)7[0]", map[string]string{"lr": "7"}},
		"lines":                   {"a\n${lr}\nb", "a\n1\n2\nb", map[string]string{"lr": "1\n2"}},
		"a $ that is text":        {"$$HOME/${lr}", "$HOME/9", map[string]string{"lr": "9"}},
		"a variable of the shell": {"$HOME/${lr}", "$HOME/9", map[string]string{"lr": "9"}},
		"changed":                 {"--lr=${lr}", "--rate=0.5", nil},
		"no parameter":            {"--lr=1", "--lr=1", nil},
	} {
		r := Record{Types: map[string]string{"lr": "number", "seed": "int"}, Fields: map[string]string{"spec.args[0]": c.template}}
		got, ok := r.Values("spec.args[0]", c.text)
		if ok != (c.want != nil) || ok && !maps.Equal(got, c.want) {
			t.Errorf("%s: %v %v, want %v", name, got, ok, c.want)
		}
	}
}

func TestOf(t *testing.T) {
	tmpl, err := parse.Text("t", "t.yaml", []byte(`parameters:
  lr: {type: number, default: 1}
  words: {type: list, default: [a, b]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: x}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: a, image: "${IMAGE}", args: ["${words}", "--lr=${lr}", "$HOME"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	finished := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"image": "i", "args": []any{"added", "a", "b", "--lr=3", "$HOME"}}}}}}}
	r := Of(tmpl, tmpl.Docs[0], map[string]any{"lr": 3, "words": []any{"a", "b"}, "IMAGE": "i"}, finished)
	want := Record{Types: map[string]string{"lr": "number"}, Fields: map[string]string{"spec.template.spec.containers[0].args[3]": "--lr=${lr}"}}
	if !maps.Equal(r.Types, want.Types) || !maps.Equal(r.Fields, want.Fields) {
		t.Errorf("%+v, want %+v", r, want)
	}
	if back := Parse(r.String()); !maps.Equal(back.Fields, r.Fields) || !maps.Equal(back.Types, r.Types) {
		t.Errorf("%+v after a round trip", back)
	}
	// A field that a flag replaced, and one that two items have, are left out.
	inner := finished["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	for _, args := range [][]any{{"x"}, {"--lr=3", "x", "--lr=3"}} {
		inner["args"] = args
		if r := Of(tmpl, tmpl.Docs[0], map[string]any{"lr": 3, "words": []any{"a", "b"}}, finished); r.String() != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestHostileRecords(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "{", `{"types":3}`, `{"fields":{"[":"${a}"},"types":{"a":"string"}}`, strings.Repeat("[", 1000)} {
		r := Parse(text)
		for _, p := range r.Paths() {
			r.Values(p, "x")
		}
	}
	long := Record{Types: map[string]string{"a": "string"}, Fields: map[string]string{"a": strings.Repeat("x", mostBytes)}}
	if long.String() != "" {
		t.Error("a record longer than the limit is written")
	}
}

// A record with many placeholders costs no more than its length.
func TestARecordWithManyPlaceholders(t *testing.T) {
	r := Record{Types: map[string]string{"a": "string"}, Fields: map[string]string{"x": strings.Repeat("${a}", 1000)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.Values("x", strings.Repeat("y", 1000))
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 16 {
		t.Errorf("%d MiB were allocated", used)
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		parts []string
		text  string
		want  []string
		ok    bool
	}{
		{[]string{"a"}, "a", nil, true},
		{[]string{"a"}, "ab", nil, false},
		{[]string{"--lr=", ""}, "--lr=3", []string{"3"}, true},
		{[]string{"--lr=", ""}, "--rl=3", nil, false},
		{[]string{"", "-", "-", "x"}, "1-2--3-x", []string{"1", "2", "-3-"}, true},
		{[]string{"", "", "b"}, "ab", []string{"", "a"}, true},
		{[]string{"ab", "b"}, "ab", nil, false}, // no part is used twice
	} {
		got, ok := between(c.parts, c.text)
		if ok != c.ok || ok && !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %q, %v", c.parts, c.text, got, ok)
		}
	}
}
