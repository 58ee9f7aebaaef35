package templates

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// The YAML parser's errors about a broken text are reported in our words, with a line.
func TestBrokenYAML(t *testing.T) {
	theirs := regexp.MustCompile(`did not find|could not find|found |while (parsing|scanning)|yaml: |cannot start any token|mapping values|unknown anchor|node content|indicator`)
	for text, want := range map[string]string{
		"kind: @v1\n":                          "line 1:1: not valid YAML: put text that starts with @",
		"kind: `v1`\n":                         "line 1:1: not valid YAML: put text that starts with @, `",
		"a: 1\nkind: |9x\n  Pod\n":             "line 2:1: not valid YAML: extra text on the line",
		"a: 1\nmetadata: name: x\n":            "line 2:1: not valid YAML: unexpected colon",
		"a: 1\nb: \x01\n":                      "line 2:1: not valid YAML: a control character",
		"a:\n- name: x\n name: y\n":            "check the indentation",
		"a: \"\\q\"\n":                         "line 1:1: not valid YAML: unknown escape",
		"a: \"\\uD800\"\n":                     "an escape is not a valid character",
		"a: 1\nb: {name: x\n":                  "line 2:1: not valid YAML: a { is not closed",
		"a: 1\nb: [x, y\n":                     "line 2:1: not valid YAML: a [ is not closed",
		"a: 1\n  b: {}\n":                      "unexpected colon",
		"a: \"v1\nb: 2\n":                      "line 1:1: not valid YAML: a quote is not closed",
		"a: 1\nb: 'v1\nc: 2\nd: 3\n":           "line 2:1: not valid YAML: a quote is not closed",
		"a: 1\nb: *nope\n":                     "line 2:4: not valid YAML: alias *nope has no anchor",
		"%FOO\na: v1\n":                        "a line that starts with %",
		"%YAML 2.0\n---\na: v1\n":              "must name version 1.1",
		"? \n: a\n? [\n":                       "not valid YAML",
		"a: 'x' y\n":                           "line 1:1: not valid YAML",
		"a: !<x\n":                             "not valid YAML: a tag is not valid",
		"a: &\n":                               "an anchor or alias has no name",
		"a: b\nc\n":                            "a key has no colon",
		"a: " + strings.Repeat("[", 20000):     "not valid YAML",
		"a:\n  - b\n  c: d\n":                  "line",
		"{\"apiVersion\": \"v1\" \"kind\": 1}": "line 1:1: not valid YAML: a { is not closed, or a comma is missing",
	} {
		_, err := parse.Text("t", "file", []byte(text))
		got := errs.Text(err, false)
		if len(text) > 60 {
			text = text[:60]
		}
		if !strings.Contains(got, want) || theirs.MatchString(got) {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
}

// A manifest of megabytes costs as much as its size, not the square of it.
func TestLargeManifest(t *testing.T) {
	cost := func(items int) float64 {
		text := strings.Replace(jobHead, "image: i\n", "image: i\n        args: ["+strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaa, ", items)+"z]\n", 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tm, err := parse.Text("t", "file", []byte(text))
		if err == nil {
			_, err = render.Objects(tm, values.Values{})
		}
		if err != nil {
			t.Fatal(errs.Text(err, true))
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	cost(10)
	if small, large := cost(2000), cost(20_000); large > 20*small {
		t.Errorf("ten times the items cost %.0f times the memory", large/small)
	}
}

// Numbers that the field's type cannot hold are refused before the server does.
func TestNumbersOutOfRange(t *testing.T) {
	for field, ok := range map[string]bool{"backoffLimit: 2147483647": true, "backoffLimit: 2147483648": false, "activeDeadlineSeconds: 3000000000": true} {
		_, err := parse.Text("t", "t.yaml", fmt.Appendf(nil, "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec: {runPolicy: {%s}}\n", field))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "must be a whole number up to 2147483647") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A value with a newline or a quote in it is what it is wherever it is put, and never
// more than one value; a key is one line.
func TestHostileValues(t *testing.T) {
	const text = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n" +
		"plain: $V\nquoted: \"$V\"\nsingle: '$V'\ninside: \"a $V b\"\nblock: |\n  x: ${V}\n  y\nflow: {a: ${V}, b: [${V}, 1]}\nlist: [1, $V]\nitem: [x $V]\nenv: [{name: A, value: $V}]\n"
	tm := mustParse(t, text)
	withKey := mustParse(t, text+"keys:\n  k-${V}: 1\n  other: 2\n")
	for value, key := range map[string]bool{
		"it's": true, `say "hi"`: true, `back\slash`: true, "a: b": true, "{x": true, "}": true, "]": true, "# no comment": true, "*a": true, "<<": true,
		"x\ninjected: true": false, "\n- item": false, "a\r\nb": false, "tab\tb": false, "---\nkind: Pod": false, "\"\ninjected: true\n\"": false, "'\n": false,
	} {
		v := values.Values{Params: map[string]any{"V": value}}
		o := mustRender(t, tm, v).Objects[0]
		for path, want := range map[string]any{"plain": value, "quoted": value, "single": value, "inside": "a " + value + " b", "block": "x: " + value + "\ny\n",
			"flow": map[string]any{"a": value, "b": []any{value, int64(1)}}, "list": []any{int64(1), value}, "item": []any{"x " + value}, "env[0].value": value, "injected": nil} {
			if got := at(t, o, path); !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %s is %#v, want %#v", value, path, got, want)
			}
		}
		r, err := render.Objects(withKey, v)
		switch {
		case !key && (err == nil || !strings.Contains(err.Error(), "which is not a valid key") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%q as a key: %v", value, err)
		case key && err != nil:
			t.Errorf("%q as a key: %v", value, err)
		case key && !reflect.DeepEqual(r.Objects[0]["keys"], map[string]any{"k-" + value: int64(1), "other": int64(2)}):
			t.Errorf("%q as a key: %v", value, r.Objects[0]["keys"])
		}
	}
}
