package output

import (
	"encoding/json"
	"testing"
	"time"
)

type inner struct {
	List []string
	Gone []string `json:",omitempty"`
	None []string `json:",omitzero"`
	Map  map[string][]inner
	Raw  json.RawMessage
	Time time.Time
	Any  any
	Next *inner
}

// TestLists: a list is never null, however deep; objects of an API stay as they are.
func TestLists(t *testing.T) {
	original := inner{Map: map[string][]inner{"a": {{}}}, Any: &struct{ List []int }{}, Next: &inner{Any: map[string]any{"items": []any(nil), "x": nil}}}
	data, err := compactJSON(original)
	if err != nil {
		t.Fatal(err)
	}
	const zero = `"Raw":null,"Time":"0001-01-01T00:00:00Z"`
	want := `{"List":[],"Map":{"a":[{"List":[],"Map":null,` + zero + `,"Any":null,"Next":null}]},` + zero + `,"Any":{"List":[]},` +
		`"Next":{"List":[],"Map":null,` + zero + `,"Any":{"items":null,"x":null},"Next":null}}`
	if string(data) != want {
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
	if original.List != nil {
		t.Error("the document itself was changed")
	}
	if data, _ := compactJSON([]string(nil)); string(data) != "[]" {
		t.Errorf("a nil list: %s", data)
	}
	rows := []row{{"a"}}
	if out := withLists(rows).([]row); &out[0] != &rows[0] {
		t.Error("a document without lists is copied")
	}
}

type row struct{ Name string }
