package output

import (
	"encoding/json"
	"strings"
	"testing"
)

// Written piece by piece, JSON stays what it is, without characters that act on a terminal.
func TestJSONOut(t *testing.T) {
	const text = "{\"a\":\"\u009b31m \u202e evil \U000e0041 \u00e9\u4e16\U0001F600\"}\n"
	for size := 1; size <= len(text); size++ {
		streams, b := Test()
		w := streams.JSONOut()
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write([]byte(rest[:min(size, len(rest))])); n != min(size, len(rest)) || err != nil {
				t.Fatal(n, err)
			}
		}
		got := b.Out.String()
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unsafeRune(r) }) || !strings.Contains(got, "\u00e9\u4e16\U0001F600") {
			t.Errorf("in pieces of %d: %q", size, got)
		}
		var want, have any
		if json.Unmarshal([]byte(text), &want) != nil || json.Unmarshal([]byte(got), &have) != nil || want.(map[string]any)["a"] != have.(map[string]any)["a"] {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}
