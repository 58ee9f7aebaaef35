package output

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// scalars are texts that YAML could take for something else.
var scalars = []string{"", " ", "yes", "no", "on", "Off", "y", "n", "null", "~", "true", "True", "1", "1.5", "1e3", "0x1F", "0o17", "017", "1_000", "12:30:45",
	"2026-01-02", "2026-01-02T03:04:05Z", ".inf", ".nan", "=", "<<", "- a", "a: b", "a:", "#c", "a #c", "*x", "&x", "!x", "%x", "@x", "`x", "{", "[", "|", ">", "'", `"`, `\`,
	"?", "-", "---", "...", " lead", "trail ", "two\nlines", "two\nlines\n", "end\n\n", "\nfirst", "  indented\nthen not", "tab\there", "cr\rlf\r\n", "\x00", "\x1b[31m", "\x7f", "\u0085", "\u009b",
	"\u00ad", "\u2028", "\u202e", "\ufeff", "\U000e0041", "é", "画像", "👩‍💻", strings.Repeat("word ", 60), "\t", "a\n\tb", "a \nb", "#!/bin/sh\nset -e\necho \"$X\"\n"}

// What is written as YAML reads back as the same value, with the YAML 1.1
// reader that kubectl has.
func TestYAMLRoundTrip(t *testing.T) {
	document := map[string]any{"numbers": []any{0, -1, int64(math.MaxInt64), 1.5, 1e21, 1e-9, true, false, nil}, "empty": map[string]any{}, "": []any{[]any{}, []any{map[string]any{"x": nil}}}}
	for _, s := range scalars {
		document["key "+s] = s
		document[s+" key"] = []any{s, map[string]any{s: s}}
	}
	for _, tty := range []bool{false, true} {
		s, b := Test()
		s.OutTTY = tty
		if err := Print(s, Format{Name: YAML}, document, nil, nil); err != nil {
			t.Fatal(err)
		}
		back, err := yaml.YAMLToJSONStrict(b.Out.Bytes())
		if err != nil {
			t.Fatalf("cannot be read: %v\n%s", err, b.Out)
		}
		want, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		var x, y any
		if json.Unmarshal(back, &x) != nil || json.Unmarshal(want, &y) != nil {
			t.Fatal("no JSON")
		}
		if !reflect.DeepEqual(x, y) {
			for k, v := range y.(map[string]any) {
				if other := x.(map[string]any)[k]; !reflect.DeepEqual(v, other) {
					t.Errorf("tty=%v %q: wrote %#v, read %#v", tty, k, v, other)
				}
			}
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, s := range scalars {
		data, err := jsonOf(map[string]any{s: s})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if err := json.Unmarshal(data, &back); err != nil || back[s] != s {
			t.Errorf("%q: %v %s", s, err, data)
		}
		if hasUnsafe(string(data), true) || bytes.Count(data, []byte("\n")) != 3 {
			t.Errorf("%q: %q", s, data)
		}
	}
}

func TestYAMLOrder(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": 1, "kind": "Pod", "apiVersion": "v1", "a": 1}}, "data": 1, "kind": "Job", "apiVersion": "v1", "metadata": map[string]any{"name": "x"}}
	want := "apiVersion: v1\nkind: Job\nmetadata:\n  name: x\ndata: 1\nspec:\n  template:\n    apiVersion: v1\n    kind: Pod\n    metadata: 1\n    a: 1\n"
	got, err := encodeYAML(object)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	got, err = encodeYAML(Objects{object, map[string]any{"kind": "B", "apiVersion": "v1"}})
	if err != nil || string(got) != want+"---\napiVersion: v1\nkind: B\n" {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = encodeYAML(struct{ Zeta, Alpha int }{1, 2}); err != nil || string(got) != "Zeta: 1\nAlpha: 2\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestObjects(t *testing.T) {
	got, err := jsonOf(Objects{map[string]any{"a": "<"}})
	if want := "{\n \"apiVersion\": \"v1\",\n \"kind\": \"List\",\n \"items\": [\n  {\n   \"a\": \"<\"\n  }\n ]\n}\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = jsonOf(Objects(nil)); err != nil || !strings.Contains(string(got), `"items": []`) {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err = encodeYAML(Objects{}); err != nil || len(got) != 0 {
		t.Errorf("%v %q", err, got)
	}
}
