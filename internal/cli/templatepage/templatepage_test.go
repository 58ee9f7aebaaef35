package templatepage

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates"
)

const hostile = `description: "two\nlines \e[31mred"
parameters:
  A: {type: string, default: "\e[2J", help: "\a bell"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
data: {a: $A}
`

// A template is anybody's text: none of it reaches the terminal as a command, and
// the table keeps its own colours.
func TestText(t *testing.T) {
	tm, err := templates.Parse("t", "configmap/t\x1b[0m in x", []byte(hostile))
	if err != nil {
		t.Fatal(err)
	}
	stdio, _ := output.Test()
	for _, color := range []bool{false, true} {
		stdio.Color, stdio.Width = color, 80
		text, err := Text(stdio, tm)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"\x1b[31m", "\x1b[2J", "\x1b[0m in", "\a"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q reaches the terminal:\n%q", bad, text)
			}
		}
		if got := strings.Contains(text, "\x1b["); got != color {
			t.Errorf("colour %v: escapes %v in\n%q", color, got, text)
		}
		if strings.Contains(text, "TYPE") {
			t.Errorf("80 columns have no room for the types:\n%s", text)
		}
	}
	d := Document(tm)
	if d.Name != "t" || len(d.Parameters) != 1 || d.Parameters[0].Default != "\x1b[2J" || d.Kind != "ConfigMap" {
		t.Errorf("document %+v", d)
	}
}
