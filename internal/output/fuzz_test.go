package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// FuzzFormat: no template makes printing fail otherwise than with an error, and none lets a
// control character reach a terminal.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{"jsonpath={.jobs[*].Name}", "jsonpath={range .jobs[*]}{.Name}{\"\\n\"}{end}", "jsonpath={.jobs[?(@.Name=='a')].n}", "jsonpath={.jobs[-1:]}", "jsonpath={",
		"custom-columns=A:.Name,B:.jobs[0]", "custom-columns=A:{.Name", "custom-columns=:,", "jsonpath={.jobs[0:9:0]}"} {
		f.Add(s)
	}
	document := map[string]any{"jobs": []any{map[string]any{"Name": "a\x1b[31m", "n": 1.5}, map[string]any{"Name": "b\u202e", "deep": map[string]any{"x": nil}}}}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.Contains(strings.ToLower(value), "-file") {
			return // it names a file
		}
		format, err := ParseFormat(value, false)
		if err != nil {
			return
		}
		var out bytes.Buffer
		s := &IO{Out: &out, Err: &bytes.Buffer{}, OutTTY: true}
		if Print(s, format, document, func() Table { return Table{} }, func() []string { return nil }) == nil && s.Flush() == nil && strings.ContainsAny(out.String(), "\x1b\u202e\u009b") {
			t.Errorf("%q printed %q", value, out.String())
		}
	})
}

// FuzzYAML: a document reads the same from YAML as from JSON.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",null,true,{}],"b":"1e3","c":"no","d":" ","e":"a: b\n- c"}`, `[]`, `"\u2028"`, `{"":0.1,"~":"~"}`, `"0x1F"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var document any
		if json.Unmarshal([]byte(text), &document) != nil || strings.Contains(text, "-0") { // YAML has no negative zero
			return
		}
		data, err := encodeYAML(document)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var again any
		if err := yaml.Unmarshal(data, &again); err != nil {
			t.Fatalf("%s is not valid YAML: %v", data, err)
		}
		want, _ := json.Marshal(document)
		got, _ := json.Marshal(again)
		if !bytes.Equal(got, want) {
			t.Errorf("%s\nwant %s\nYAML %s", got, want, data)
		}
	})
}
