package output

import "testing"

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

// TestKeyBy: rows are told apart by named columns, wherever they stand.
func TestKeyBy(t *testing.T) {
	s, b := Test()
	l := NewLiveTable(s, false, 1)
	l.KeyBy("NAME", "ABSENT")
	table := func(rows ...[]Cell) Table {
		return Table{Columns: []Column{{Title: "POS", Right: true}, {Title: "NAME"}}, Rows: rows}
	}
	for _, step := range []struct {
		rows [][]Cell
		want string
	}{
		{[][]Cell{T("1", "a"), T("2", "b")}, "POS  NAME\n  1  a\n  2  b\n"},
		{[][]Cell{T("1", "b"), T("2", "a")}, "  1  b\n  2  a\n"},
		{[][]Cell{T("1", "b")}, "  2  a  gone\n"},
	} {
		b.Out.Reset()
		if err := l.Update(table(step.rows...)); err != nil {
			t.Fatal(err)
		}
		if got := b.Out.String(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}
