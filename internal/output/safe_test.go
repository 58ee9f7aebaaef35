package output

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"":            "",
		"plain ~text": "plain ~text",
		"画像 é 👩\u200d💻 فارسی\u200cها": "画像 é 👩\u200d💻 فارسی\u200cها",
		"\x1b[31mred":               `\x1b[31mred`,
		"\x1b]8;;http://x\x07":      `\x1b]8;;http://x\x07`,
		"a\nb\r\nc\td":              `a\nb\r\nc\td`,
		"\x00\x7f":                  `\x00\x7f`,
		"\u009b31m\u0085":           `\x9b31m\x85`,
		"\x9b31m":                   `\x9b31m`,
		"\xff\xfea":                 `\xff\xfea`,
		"user\u202egnp.exe":         `user\u202egnp.exe`,
		"\u2066x\u2069\u200b\ufeff": `\u2066x\u2069\u200b\ufeff`,
		"\u2028\u00ad\u061c":        `\u2028\u00ad\u061c`,
		"\U000e0041":                `\U000e0041`,
		"\ufffd is a character":     "\ufffd is a character",
		"cut \xe7\x94":              `cut \xe7\x94`,
	} {
		if got := Safe(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := SafeLines("a\n\tb\r\x1b"); got != "a\n\tb\\r\\x1b" {
		t.Errorf("lines: %q", got)
	}
}

func FuzzSafe(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e")
	f.Fuzz(func(t *testing.T, in string) {
		for _, lines := range []bool{false, true} {
			out := makeSafe(in, lines)
			if hasUnsafe(out, lines) || !utf8.ValidString(out) {
				t.Errorf("%q became %q", in, out)
			}
			if makeSafe(out, lines) != out {
				t.Errorf("not stable: %q", in)
			}
			if !lines && strings.ContainsAny(out, "\n\r\t") {
				t.Errorf("more than a line: %q", out)
			}
		}
	})
}
