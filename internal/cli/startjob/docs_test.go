package startjob

import (
	"os"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// Every line of docs/templates.md that starts a template works unchanged, and
// every embedded template has such a line.
func TestLinesOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	started := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		rest, found := strings.CutPrefix(line, "    hyperpod start-job ")
		if !found || strings.Contains(line, "--recipe") {
			continue
		}
		words, err := shellwords.Split(rest)
		if err != nil {
			t.Fatal(err)
		}
		o, err := parsed(t, words...)
		if err != nil {
			t.Errorf("%s%s", line, errs.Text(err, true))
			continue
		}
		name := o.Template
		if name == "" {
			name = o.Name
		}
		tm, err := catalogue.Find(name, catalogue.Dirs{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := o.values()
		if err == nil {
			_, err = render.Objects(tm, v)
		}
		if err != nil {
			t.Errorf("%s%s", line, errs.Text(err, true))
		}
		started[name] = true
	}
	for _, info := range catalogue.Names(catalogue.Dirs{}) {
		if !started[info.Name] {
			t.Errorf("docs/templates.md starts no %s", info.Name)
		}
		if !strings.Contains(string(page), "| `"+info.Name+"` |") {
			t.Errorf("docs/templates.md does not list %s", info.Name)
		}
	}
}
