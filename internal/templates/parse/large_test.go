package parse

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// A small template with a long value does not become a text without end.
func TestFilledValuesAreLimited(t *testing.T) {
	at := manifest.Location{}
	text := strings.Repeat("${A}", 30_000)
	node := &manifest.Node{Value: text}
	f := &Filler{Values: map[string]any{"A": strings.Repeat("x", 100_000)}}
	for range 3 {
		if got := f.Fill(node, at).Str(); len(got) > mostFilled+len(text) {
			t.Errorf("%d bytes", len(got))
		}
	}
	if len(f.Faults) != 1 || !strings.Contains(f.Faults[0].Error(), "larger than 16 MiB together") {
		t.Errorf("%v", f.Faults)
	}
}
