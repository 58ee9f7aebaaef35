package output

import (
	"strings"
	"testing"
	"time"
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

func TestAge(t *testing.T) {
	h := time.Hour
	for d, want := range map[time.Duration]string{
		-5 * time.Minute: "0s", 0: "0s", 999 * time.Millisecond: "0s", 45 * time.Second: "45s", time.Minute: "1m", 5*time.Minute + 30*time.Second: "5m30s",
		5*time.Minute + 999*time.Millisecond: "5m", 20*time.Minute + 59*time.Second: "20m", 60*time.Minute - 1: "59m", h: "1h", 92 * time.Minute: "1h32m",
		3*h + 12*time.Minute: "3h12m", 10 * h: "10h", 24*h - 1: "23h", 24 * h: "1d", 52 * h: "2d4h", 240 * h: "10d", 45 * 24 * h: "45d",
		364 * 24 * h: "364d", 365 * 24 * h: "1y", 385 * 24 * h: "1y20d",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if got := Since(now, time.Time{}); got != "-" {
		t.Errorf("zero time: %s", got)
	}
	if got := Since(now, now.Add(-time.Minute)); got != "1m" {
		t.Errorf("a minute: %s", got)
	}
}
