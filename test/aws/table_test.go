package aws

import (
	"fmt"
	"slices"
	"testing"
)

func TestTable(t *testing.T) {
	table := NewTable[int]()
	r, failure := table.Add("a", 1)
	if failure != nil || r.Version != 1 {
		t.Fatal(failure)
	}
	if _, failure := table.Add("a", 1); failure == nil || failure.Code != "ResourceInUse" {
		t.Errorf("%v", failure)
	}
	change := func(r *Record[int]) *Error { r.Value++; return nil }
	one, two := 1, 2
	for _, tt := range []struct {
		key    string
		target *int
		want   string
	}{{"a", &one, ""}, {"a", &one, "ConflictException"}, {"a", &two, ""}, {"a", nil, ""}, {"b", nil, "ResourceNotFound"}} {
		code := ""
		if failure := table.Change(tt.key, tt.target, change); failure != nil {
			code = failure.Code
		}
		if code != tt.want {
			t.Errorf("%+v: %q", tt, code)
		}
	}
	if r.Value != 4 || r.Version != 4 {
		t.Errorf("%+v", r)
	}
	r.Begin("Deleting", "")
	if failure := table.Change("a", nil, change); failure == nil || failure.Code != "ConflictException" {
		t.Errorf("a record that is being deleted was changed: %v", failure)
	}
	if table.Seen(r); table.Get("a") != nil {
		t.Error("the record is still there")
	}
}

func TestPage(t *testing.T) {
	var list, got []string
	for i := range 25 {
		list = append(list, fmt.Sprint(i))
	}
	pages, token := 0, ""
	for pages < 10 {
		page, next, failure := Page(list, token, 10)
		if failure != nil {
			t.Fatal(failure)
		}
		got, token = append(got, page...), next
		if pages++; next == "" {
			break
		}
	}
	if pages != 3 || !slices.Equal(got, list) {
		t.Errorf("%d pages, %v", pages, got)
	}
	if _, _, failure := Page(list, "x", 10); failure == nil {
		t.Error("a wrong token is taken")
	}
}
