package script

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// TestComingFrom: every command in the last column of the tables of docs/coming-from.md parses and has valid flags.
func TestComingFrom(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "coming-from.md"))
	if err != nil {
		t.Fatal(err)
	}
	code, commands := regexp.MustCompile("`(hyperpod [^`]+)`"), 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 2 {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			commands++
			words, err := shellwords.Split(m[1])
			if err != nil {
				t.Fatal(err)
			}
			args := words[1:]
			for i, a := range args {
				switch {
				case i > 0 && args[i-1] == "--region":
					args[i] = "us-west-2"
				case placeholder.MatchString(a) || len(a) == 1:
					args[i] = strings.ToLower(a)
				}
			}
			if fault := validate(t, args); fault != "" {
				t.Errorf("%s\n  fails: %s", m[1], fault)
			}
		}
	}
	if commands < 70 {
		t.Errorf("%d commands", commands)
	}
}
