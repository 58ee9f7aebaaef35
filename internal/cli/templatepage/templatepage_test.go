package templatepage

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
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

// A default of many lines, or a very long one, is shortened on the page; the document
// has it in full.
func TestLongDefaults(t *testing.T) {
	tm, err := parse.Text("t", "t.yaml", []byte("parameters:\n  SCRIPT: {default: \"set -e\\nrun\\n\"}\n  LONG: {default: "+strings.Repeat("x", 5000)+"}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: $SCRIPT$LONG}\n"))
	if err != nil {
		t.Fatal(err)
	}
	stdio, _ := output.Test()
	text, err := Text(stdio, tm)
	if err != nil || !strings.Contains(text, "set -e … (2 lines)") || len(text) > 1500 {
		t.Errorf("%v\n%s", err, text)
	}
	if d := Document(tm); d.Parameters[0].Default != "set -e\nrun\n" || len(d.Parameters[1].Default.(string)) != 5000 {
		t.Errorf("document %+v", d.Parameters)
	}
}

// A template is anybody's text: none of it reaches the terminal as a command, and
// the table keeps its own colors.
func TestText(t *testing.T) {
	tm, err := parse.Text("t", "configmap/t\x1b[0m in x", []byte(hostile))
	if err != nil {
		t.Fatal(err)
	}
	stdio, _ := output.Test()
	for _, color := range []bool{false, true} {
		stdio.Color, stdio.Width, stdio.OutTTY = color, 80, true
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
			t.Errorf("color %v: escapes %v in\n%q", color, got, text)
		}
		if strings.Contains(text, "TYPE") {
			t.Errorf("80 columns have no room for the types:\n%s", text)
		}
	}
	stdio.Color, stdio.Width, stdio.OutTTY = false, 0, false
	long, err := parse.Text("t", "t.yaml", []byte(strings.Replace(hostile, "parameters:\n", "parameters:\n  LONG: {type: string, default: "+strings.Repeat("word ", 70)+"}\n  V: {default: 1.10}\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for width, show := range map[int]func(*output.IO, *parse.Template) (string, error){80: Help, 100: Text} {
		text, err := show(stdio, long)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); len(line) > width || strings.HasSuffix(line, " ") {
				t.Errorf("a line in a pipe is %d columns wide, want at most %d and no blanks at its end: %q", len(line), width, line)
			}
		}
		if strings.Count(text, "word") != 70 {
			t.Errorf("the default is cut:\n%s", text)
		}
		if !strings.Contains(text, "1.10") {
			t.Errorf("a default is not shown as it is written:\n%s", text)
		}
		if strings.Contains(text, "TYPE") != (width == 100) {
			t.Errorf("types at %d columns:\n%s", width, text)
		}
	}
	d := Document(tm)
	if d.Name != "t" || len(d.Parameters) != 1 || d.Parameters[0].Default != "\x1b[2J" || d.Kind != "ConfigMap" {
		t.Errorf("document %+v", d)
	}
}
