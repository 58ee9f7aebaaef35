package script

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

var (
	inline      = regexp.MustCompile("`hyperpod ([^`]+)`")
	topicIndent = regexp.MustCompile(`(?m)^  (hyperpod .*?)(   .*)?$`)
	// form is a line of the reference that shows which arguments a command takes.
	form = regexp.MustCompile(`\[(flags|command|ARGS\.\.\.)\]$`)
	// beyond is where a line of a shell leaves a command.
	beyond = regexp.MustCompile(` (\||&&?|2?>|<)( |$).*`)
)

// TestCommandsOfPages: every command on every page parses and has valid flags. Words in capitals stand for values. A text can
// mention a command without the arguments that it needs. The help topics are pages, too.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	root, commands := filepath.Join("..", ".."), 0
	var pages []string
	for _, dir := range []string{"docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") && entry.Name() != "style.md" { // which shows bad ones, too
				pages = append(pages, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]string{}
	for _, path := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	home := t.TempDir()
	for _, topic := range []string{"agents", "environment", "exit-codes", "offline", "output", "templates"} {
		text, err := run(t, home, "help", topic)
		if err != nil {
			t.Fatal(err)
		}
		texts["help "+topic] = topicIndent.ReplaceAllString(text, "    $1")
	}
	for path, text := range texts {
		check := func(line, incomplete string) {
			commands++
			words, err := shellwords.Split(beyond.ReplaceAllString(line, ""))
			if err != nil {
				t.Errorf("%s: %s: %v", path, line, err)
				return
			}
			if fault := validate(t, valued(words)); fault != "" && (incomplete == "" || !strings.Contains(fault, incomplete)) {
				t.Errorf("%s: hyperpod %s\n  fails: %s", path, line, fault)
			}
		}
		for _, line := range commandLines(text) {
			if !form.MatchString(line) {
				check(line, "")
			}
		}
		for line := range strings.Lines(text) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
			if filepath.Base(path) == "coming-from.md" && len(cells) == 2 {
				line = cells[1] // the first column has commands of other programs
			}
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				check(m[1], "required")
			}
		}
	}
	if commands < 300 {
		t.Errorf("%d commands", commands)
	}
}

// valued gives the words of a command line that stand for values a form that values can have.
func valued(args []string) []string {
	for i, a := range args {
		switch {
		case i > 0 && args[i-1] == "--region":
			args[i] = "us-west-2"
		case placeholder.MatchString(a) || len(a) == 1:
			args[i] = strings.ToLower(a)
		}
	}
	return args
}
