package store

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMember(t *testing.T) {
	for raw, want := range map[string]string{
		`{"metadata":{"name":"a"}}`:                                      `{"name":"a"}`,
		` { "apiVersion" : "v1" , "metadata" : [1, {"b":"]"}] , "c":1}`:  `[1, {"b":"]"}]`,
		`{"a":"\"metadata\":1","b":"x\\","metadata":"q\""}`:              `"q\""`,
		`{"a":{"metadata":1},"n":-1.5e3,"t":true,"metadata":null,"z":0}`: `null`,
		`{"a":1}`:         ``,
		`{}`:              ``,
		`[1]`:             ``,
		`{"a":`:           ``,
		`{"a":"`:          ``,
		`{"metadata":{"a`: ``,
		``:                ``,
	} {
		if got := string(member([]byte(raw), "metadata")); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// FuzzMember: encoding/json is the judge. It takes the last of several members of
// one name, so only objects whose names differ are compared.
func FuzzMember(f *testing.F) {
	f.Add(`[{"b":"}\\\""}]`, `{"x":1}`)
	f.Add(`"\\"`, `-1e5`)
	f.Fuzz(func(t *testing.T, before, want string) {
		if !json.Valid([]byte(before)) || !json.Valid([]byte(want)) {
			return
		}
		got := member([]byte(`{"a":`+before+`,"metadata":`+want+`}`), "metadata")
		if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
