package output

import (
	"strings"
	"testing"
)

func TestAppendLog(t *testing.T) {
	for _, c := range []struct {
		text, colored, plain string
	}{
		{"plain\ttext", "plain\ttext", "plain\ttext"},
		{"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", "red"},
		{"\x1b[1;38;5;208mx\x1b[m", "\x1b[1;38;5;208mx\x1b[m", "x"},
		{"\x1b[38;2;8;8;8mrgb", "\x1b[38;2;8;8;8mrgb", "rgb"},
		{"\x1b[8mhidden", `\x1b[8mhidden`, `\x1b[8mhidden`},
		{"\x1b[2J\x1b[H", `\x1b[2J\x1b[H`, `\x1b[2J\x1b[H`},
		{"\x1b]0;title\a", `\x1b]0;title\x07`, `\x1b]0;title\x07`},
		{"\x1b]8;;http://evil\x1b\\link", `\x1b]8;;http://evil\x1b\link`, `\x1b]8;;http://evil\x1b\link`},
		{"\x1bP+q\x9b31m", `\x1bP+q\x9b31m`, `\x1bP+q\x9b31m`},
		{"a\x00b\xffc", `a\x00b\xffc`, `a\x00b\xffc`},
		{"\u202egnp.exe", `\u202egnp.exe`, `\u202egnp.exe`},
		{"größer 日本", "größer 日本", "größer 日本"},
		{"\x1b[" + strings.Repeat("1;", 40) + "m", `\x1b[` + strings.Repeat("1;", 40) + "m", `\x1b[` + strings.Repeat("1;", 40) + "m"},
	} {
		for _, color := range []bool{true, false} {
			want := c.plain
			if color {
				want = c.colored
			}
			got, rest := AppendLog(nil, []byte(c.text), color, false)
			if string(got) != want || rest != nil {
				t.Errorf("%q, color %v: %q, rest %q", c.text, color, got, rest)
			}
			// In two parts it must come out the same, wherever it is cut.
			for i := range len(c.text) {
				first, rest := AppendLog(nil, []byte(c.text[:i]), color, true)
				both, _ := AppendLog(first, append(rest[:len(rest):len(rest)], c.text[i:]...), color, false)
				if string(both) != want {
					t.Errorf("%q cut at %d, color %v: %q", c.text, i, color, both)
				}
			}
		}
	}
}

// FuzzAppendLog: nothing but colors reaches a terminal.
func FuzzAppendLog(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b[0m\x1b[2J"))
	f.Fuzz(func(t *testing.T, text []byte) {
		out, _ := AppendLog(nil, text, false, false)
		for _, r := range string(out) {
			if r != '\t' && unsafeRune(r) {
				t.Fatalf("%q becomes %q", text, out)
			}
		}
	})
}
