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
	stdio.Color, stdio.Width, stdio.OutTTY = false, 0, false
	long, err := templates.Parse("t", "t.yaml", []byte(strings.Replace(hostile, "parameters:\n", "parameters:\n  LONG: {type: string, default: "+strings.Repeat("word ", 100)+"}\n  V: {default: 1.10}\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	help, err := Help(stdio, long)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(help) {
		if len(line) > 81 {
			t.Errorf("help in a pipe is %d columns wide: %s", len(line), line)
		}
	}
	if !strings.Contains(help, "1.10") {
		t.Errorf("a default is not shown as it is written:\n%s", help)
	}
	d := Document(tm)
	if d.Name != "t" || len(d.Parameters) != 1 || d.Parameters[0].Default != "\x1b[2J" || d.Kind != "ConfigMap" {
		t.Errorf("document %+v", d)
	}
}
