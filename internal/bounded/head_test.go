package bounded

import (
	"io"
	"strings"
	"testing"
)

// TestHead: a Head keeps the beginning, whatever way is used to write, and reports every byte as written.
func TestHead(t *testing.T) {
	h := NewHead(5)
	for _, text := range []string{"abc", "", "defg", "h"} {
		if n, err := io.WriteString(h, text); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if full := NewHead(5); full.Over() {
		t.Error("nothing is too much")
	} else if _, err := io.WriteString(full, "abcde"); err != nil || full.Over() {
		t.Errorf("all fits: %v", err)
	}
	if n, err := io.Copy(h, strings.NewReader("ijk")); n != 3 || err != nil {
		t.Errorf("copied %d, %v", n, err)
	}
	if h.String() != "abcde" || h.Len() != 5 || !h.Over() {
		t.Errorf("kept %q", h.String())
	}
}
