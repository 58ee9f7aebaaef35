package structural

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func schema(t *testing.T, text string) *Schema {
	t.Helper()
	var d struct {
		Schema
		Shared map[string]*Schema
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Shared {
		s.Link(d.Shared)
	}
	return d.Link(d.Shared)
}

func TestCheck(t *testing.T) {
	judges := Judges{
		"size(self.a) > 0": func(v, _ any) (bool, string) {
			m, _ := v.(map[string]any)
			return m["a"] != "", map[bool]string{true: "a"}[m["a"] == nil]
		},
		"self == oldSelf": func(v, old any) (bool, string) { return v == old, "" },
	}
	for _, c := range []struct {
		name, schema, value, old string
		want                     string
	}{
		{"a value that fits has no faults", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, "", ""},
		{"an absent field is missing", `{"required":["a"]}`, `{}`, "", "[a] Missing"},
		{"null is missing where its type is not known", `{"required":["a"]}`, `{"a":null}`, "", "[a] Missing"},
		{"null has a wrong type where its type is known", `{"required":["a"],"properties":{"a":{"type":"string"}}}`, `{"a":null}`, "", "[a] WrongType"},
		{"a value of a wrong type is not looked into", `{"properties":{"a":{"type":"string","items":{"required":["b"]}}}}`, `{"a":[{}]}`, "", "[a] WrongType"},
		{"an int-or-string is either", `{"additionalProperties":{"x-kubernetes-int-or-string":true}}`, `{"a":1,"b":"1","c":true}`, "", "[c] WrongType"},
		{"a number can be whole", `{"type":"number"}`, `1`, "", ""},
		{"the length of a text is in characters", `{"maxLength":2,"minLength":2}`, `"éé"`, "", ""},
		{"a text has a length, a pattern and allowed values", `{"items":{"minLength":2,"maxLength":3,"pattern":"^a","enum":["abc","aa"]}}`, `["abcd","a","bb","abc"]`, "",
			"[0] TooLong [0] NotSupported [1] TooShort [1] NotSupported [2] NoMatch [2] NotSupported"},
		{"a pattern that Go cannot read matches all", `{"pattern":"(?=a)"}`, `"b"`, "", ""},
		{"a number has limits", `{"items":{"minimum":1,"maximum":2}}`, `[0,1,2,3]`, "", "[0] Below [3] Above"},
		{"lists and maps have sizes", `{"properties":{"a":{"maxItems":1},"b":{"minItems":1}},"maxProperties":1}`, `{"a":[1,2],"b":[]}`, "", "[] TooManyEntries [a] TooMany [b] TooFew"},
		{"the items of a set differ", `{"x-kubernetes-list-type":"set"}`, `["a","b","a"]`, "", "[2] Duplicate"},
		{"the items of a map differ in its keys", `{"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["p","q"],"items":{"properties":{"q":{"default":"x"}}}}`,
			`[{"p":1},{"p":1,"q":"y"},{"p":1,"q":"x"}]`, "", "[2] Duplicate"},
		{"the items of other lists need not differ", `{}`, `["a","a"]`, "", ""},
		{"a shared schema takes the place of a reference", `{"properties":{"a":{"ref":"s"}},"shared":{"s":{"items":{"ref":"t"}},"t":{"required":["b"]}}}`, `{"a":[{}]}`, "", "[a 0 b] Missing"},
		{"a rule is broken, or reads an absent field", `{"items":{"x-kubernetes-validations":[{"rule":"size(self.a) > 0"},{"rule":"not known"}]}}`, `[{"a":"x"},{"a":""},{},null]`, "",
			"[1] Broken [2] Broken without a"},
		{"a rule about a change needs the old value", `{"properties":{"a":{"x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}`, `{"a":"x"}`, "", ""},
		{"a rule about a change compares", `{"properties":{"a":{"x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}`, `{"a":"x"}`, `{"a":"y"}`, "[a] Broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v, old any
			if err := json.Unmarshal([]byte(c.value), &v); err != nil {
				t.Fatal(err)
			}
			if c.old != "" {
				if err := json.Unmarshal([]byte(c.old), &old); err != nil {
					t.Fatal(err)
				}
			}
			s := schema(t, c.schema)
			var have []string
			for _, f := range append(append(s.Values(v), s.Duplicates(v)...), s.Broken(judges, v, old)...) {
				text := fmt.Sprintf("%v %s", f.Path, names[f.Code])
				if f.Lacks != "" {
					text += " without " + f.Lacks
				}
				have = append(have, text)
			}
			if have := strings.Join(have, " "); have != c.want {
				t.Errorf("have %q\nwant %q", have, c.want)
			}
		})
	}
}

var names = map[Code]string{WrongType: "WrongType", Missing: "Missing", NotSupported: "NotSupported", TooLong: "TooLong", TooShort: "TooShort", NoMatch: "NoMatch",
	Below: "Below", Above: "Above", TooMany: "TooMany", TooFew: "TooFew", TooManyEntries: "TooManyEntries", Duplicate: "Duplicate", Broken: "Broken"}
