package output

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	s, b := Test()
	l := NewLines(s)
	type row struct {
		Name string
		N    int
	}
	update := func(want string, rows ...Line) {
		t.Helper()
		b.Out.Reset()
		if err := l.Update(rows); err != nil {
			t.Fatal(err)
		}
		if got := b.Out.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	update("")
	update(`{"Type":"ADDED","Name":"a<b>","N":1}`+"\n", Line{"a", row{"a<b>", 1}})
	update("", Line{"a", row{"a<b>", 1}})
	update(`{"Type":"MODIFIED","Name":"a<b>","N":2}`+"\n"+`{"Type":"ADDED","Name":"\u202eb","N":0}`+"\n", Line{"a", row{"a<b>", 2}}, Line{"b", row{"\u202eb", 0}})
	update(`{"Type":"DELETED","Name":"a<b>","N":2}`+"\n", Line{"b", row{"\u202eb", 0}})
}

// TestKeys: keys distinguish rows, whatever their order and texts.
func TestKeys(t *testing.T) {
	s, b := Test()
	l := NewLiveTable(s, false, 1)
	for _, step := range []struct {
		keys string
		rows [][]Cell
		want string
	}{
		{"x/a x/b y/a", [][]Cell{T("1", "a"), T("2", "b"), T("3", "a")}, "POS  NAME\n  1  a\n  2  b\n  3  a\n"},
		{"x/b x/a y/a", [][]Cell{T("1", "b"), T("2", "a"), T("3", "a")}, "  1  b\n  2  a\n"},
		{"x/b y/a", [][]Cell{T("1", "b"), T("3", "a")}, "  2  a  gone\n"},
	} {
		b.Out.Reset()
		table := Table{Columns: []Column{{Title: "POS", Right: true}, {Title: "NAME"}}, Rows: step.rows, Keys: strings.Fields(step.keys)}
		if err := l.Update(table); err != nil {
			t.Fatal(err)
		}
		if got := b.Out.String(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}
