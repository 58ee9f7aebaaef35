package output

import "testing"

// Characters that act on a terminal never reach it, neither in lines of JSON nor in
// sentences.
func TestLinesAreSafe(t *testing.T) {
	s, b := Test()
	if err := s.PrintJSONLine(map[string]string{"Name": "a\u009b2J\u202eb<"}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.Out.String(), `{"Name":"a\u009b2J\u202eb<"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for tty, want := range map[bool]string{true: `a\x9b2J` + "\n", false: "a\u009b2J\n"} {
		s, b := Test()
		s.OutTTY = tty
		if err := s.PrintLine("a\u009b2J"); err != nil || b.Out.String() != want {
			t.Errorf("terminal %v: got %q, want %q, %v", tty, b.Out.String(), want, err)
		}
	}
}
